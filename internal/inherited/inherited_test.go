package inherited

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asStarted makes this test binary do what its value says at its start, and then
// show what it and a program that it starts have open.
const asStarted = "CHOIR_INHERITED_TEST"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(asStarted) {
	case "":
		os.Exit(m.Run())
	case "close":
		err = Close(3)
	case "keep":
		err = KeepFromChildren()
	case "walk":
		err = each(Standard, func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC)
			return err
		})
	}
	show(err)
}

func show(err error) {
	self, err2 := os.ReadDir("/proc/self/fd")
	child := exec.Command("/bin/ls", "-l", "/proc/self/fd")
	out, err3 := child.CombinedOutput()
	for _, e := range self {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name()) // the listing's own is closed
		fmt.Println("self", e.Name(), target)
	}
	fmt.Printf("%s\n%v %v %v\n", out, err, err2, err3)
	os.Exit(0)
}

// TestInheritedFilesStop gives a process two open files and looks at what it and
// its own child have of them.
func TestInheritedFilesStop(t *testing.T) {
	for _, c := range []struct {
		how               string
		self, self4, next bool // whether 3 and 4 are open in the process, and 4 in its child
	}{
		{"nothing", true, true, true}, // the control
		{"close", true, false, false},
		{"keep", true, true, false},
		{"walk", true, true, false},
	} {
		t.Run(c.how, func(t *testing.T) {
			var handed []*os.File
			for range 2 {
				f, err := os.Open(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				handed = append(handed, f)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.ExtraFiles = append(os.Environ(), asStarted+"="+c.how), handed
			raw, err := cmd.CombinedOutput()
			out := string(raw)
			if err != nil || !strings.HasSuffix(out, "<nil> <nil> <nil>\n") {
				t.Fatalf("%v\n%s", err, out)
			}
			for text, want := range map[string]bool{
				"self 3 " + handed[0].Name(): c.self, "self 4 " + handed[1].Name(): c.self4, "4 -> " + handed[1].Name(): c.next,
			} {
				if strings.Contains(out, text) != want {
					t.Errorf("%q is there: %v, want %v\n%s", text, !want, want, out)
				}
			}
		})
	}
}
