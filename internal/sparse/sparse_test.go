package sparse

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestWhatIsWrittenIsRead writes runs of zeros and of content in pieces of any
// length and reads the same back, with and without holes.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var content []byte
		for _, run := range rapid.SliceOfN(rapid.IntRange(0, 3*block), 0, 12).Draw(rt, "runs") {
			fill := byte(rapid.IntRange(0, 1).Draw(rt, "fill"))
			content = append(content, bytes.Repeat([]byte{fill}, run)...)
		}
		path := filepath.Join(dir, "f")
		f, err := os.Create(path)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		w := NewWriter(int(f.Fd()))
		for rest := content; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			if got, err := w.Write(rest[:n]); err != nil || got != n {
				rt.Fatalf("%d %v", got, err)
			}
			rest = rest[n:]
		}
		if err := w.Finish(); err != nil {
			rt.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(whole, content) {
			rt.Fatalf("%v: %d bytes are not the %d written", err, len(whole), len(content))
		}
		if got, err := io.ReadAll(NewReader(int(f.Fd()), int64(len(content)))); err != nil || !bytes.Equal(got, content) {
			rt.Fatalf("%v: %d bytes read of %d", err, len(got), len(content))
		}
	})
}

// TestAFileThatBecameShorterEnds reads a file whose end, a hole, was cut off.
func TestAFileThatBecameShorterEnds(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err == nil {
		_, err = f.Write([]byte("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(NewReader(int(f.Fd()), 1<<20))
	if err != nil || len(got) >= 1<<20 || got[0] != 'x' {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := NewReader(-1, 1).Read(make([]byte, 1)); !errors.Is(err, unix.EBADF) {
		t.Errorf("got %v", err)
	}
}
