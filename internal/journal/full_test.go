package journal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// smallDisk mounts a real ext4 of 4 MiB on a loop device: smaller ones have no
// room for their own journal.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	for _, step := range [][]string{
		{"truncate", "-s", "4M", image},
		{"mkfs.ext4", "-q", "-m", "0", image},
		{"mount", "-o", "loop", image, dir},
	} {
		if msg, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s is not possible here: %v: %s", step[0], err, msg)
		}
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskRefusesAppendsAndLeavesNothingHalfWritten(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	dir := filepath.Join(disk, "journal")
	j, err := Open(dir, Config{SegmentBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	text := strings.Repeat("x", 10_000)
	acked := 0
	for ; acked < 1000; acked++ {
		if err = j.Append(sealing(text)); err != nil {
			break
		}
	}
	if choir.CodeOf(err) != choir.CodeNoSpace || !choir.CodeOf(err).Retry() {
		t.Fatalf("after %d appends: %v, wanted no_space", acked, err)
	}
	if acked < 50 {
		t.Errorf("only %d appends fitted", acked)
	}
	if got := records(t, j, 1); len(got) != acked {
		t.Errorf("%d events are read, %d were acknowledged", len(got), acked)
	}
	if damage, err := j.Verify(context.Background(), nil); err != nil || len(damage) > 0 {
		t.Errorf("%v %v", damage, err)
	}

	// Space comes back and so do appends, in the same chain.
	oldest := segments(t, dir)[0]
	saved, err := os.ReadFile(oldest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(oldest); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(sealing("fits again")); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if seq, _ := j.Head(); seq != uint64(acked+1) {
		t.Errorf("head is %d after %d acknowledgements", seq, acked+1)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	copyTo := t.TempDir()
	if err := os.CopyFS(copyTo, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copyTo, filepath.Base(oldest)), saved, 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, copyTo, Config{})
	if got := records(t, again, 1); len(got) != acked+1 {
		t.Errorf("%d events after reopening, %d were acknowledged", len(got), acked+1)
	}
}
