package microvm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
)

// replay is a connection that says the given bytes.
type replay struct {
	net.Conn
	r io.Reader
}

func (r replay) Read(p []byte) (int, error) { return r.r.Read(p) }

func streamOf(said []byte) *stream {
	return &stream{in: bufio.NewReader(replay{r: bytes.NewReader(said)})}
}

func piece(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

func TestAStreamIsItsPieces(t *testing.T) {
	t.Parallel()
	said := append(append(append(piece("one "), piece(strings.Repeat("x", machine.MostBytes))...), piece("end")...), piece("")...)
	got, err := io.ReadAll(streamOf(append(said, "of another stream"...)))
	if want := "one " + strings.Repeat("x", machine.MostBytes) + "end"; string(got) != want || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestAMachineThatLiesEndsItsStream: lengths without end, pieces cut short, and floods in
// the place of a mark are errors of that stream, not memory or time.
func TestAMachineThatLiesEndsItsStream(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][]byte{
		"a gigabyte piece": {0x40, 0, 0, 0, 'x'}, "cut in the head": {0, 0}, "cut in the piece": piece("whole")[:6],
	} {
		if _, err := io.ReadAll(streamOf(said)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	flood := bufio.NewReader(io.LimitReader(zeros{}, 2*mostPassed))
	if err := passOver(flood, bytes.Repeat([]byte{1}, machine.MarkBytes)); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("a flood: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAMarkIsFoundBehindWhatWasLeft(t *testing.T) {
	t.Parallel()
	mark := []byte("0123456789abcdef")
	in := bufio.NewReader(strings.NewReader("left 0123456789abcde 0123456789abcdef" + "rest"))
	if err := passOver(in, mark); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(in); string(rest) != "rest" {
		t.Errorf("behind the mark is %q", rest)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(append(piece("a"), piece("")...))
	f.Fuzz(func(t *testing.T, said []byte) {
		got, _ := io.ReadAll(streamOf(said))
		if len(got) > len(said) {
			t.Errorf("%d bytes of %d", len(got), len(said))
		}
	})
}

func TestHandles(t *testing.T) {
	t.Parallel()
	s := state{Boot: "b", PID: 7, Start: 9, Doors: "/d", Limits: "rlimits", Facts: facts{Emulated: true, Kernel: "6.1.0"}, Most: 1 << 30}
	got, err := decodeHandle(encodeHandle(s))
	if err != nil || got.PID != 7 || got.Facts != s.Facts {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheLevelSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	weak := strings.Join(facts{Emulated: true, Kernel: "6.1.0-1", Host: "rlimits", Nameless: true}.level().Missing, " ")
	for _, want := range []string{"Landlock", "emulated", "cgroup", "user of the control plane", "choir image build"} {
		if !strings.Contains(weak, want) {
			t.Errorf("%q is not in %q", want, weak)
		}
	}
	bare := facts{Kernel: "6.12.1", Root: true, Host: "cgroup v2", VMM: VMMFirecracker}
	if l := bare.level(); len(l.Missing) != 1 || !strings.Contains(l.Missing[0], "without its jailer") || !strings.Contains(l.Limits, "Firecracker itself") {
		t.Errorf("%+v", l)
	}
	bare.Jailed = true
	if l := bare.level(); len(l.Missing) > 0 || !strings.Contains(l.Name, "Firecracker and KVM, in a jail") {
		t.Errorf("%+v", l)
	}
	if best := (facts{Kernel: "6.12.1", Root: true, Host: "cgroup v2"}).level(); len(best.Missing) > 0 || best.Tasks != "landlock" {
		t.Errorf("%+v", best)
	}
}
