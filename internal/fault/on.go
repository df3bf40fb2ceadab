//go:build faultpoints

package fault

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Held is the name that a thread standing at a point has.
const Held = "fault-held"

// plan names an act, its point, and the passing of the point at which it happens.
type plan struct {
	act   string
	point string
	nth   int
	trace *os.File
}

var (
	mu      sync.Mutex // guards the rest
	current plan
	passed  int
)

// Follow takes up a plan; an empty one does nothing:
//
//	kill POINT N     this process kills itself
//	stop POINT N     this process stops, with all its threads
//	hold POINT N     only the goroutine stands still, in a thread called Held
//	trace FILE       every point is written down as it is passed
func Follow(text string) error {
	words := strings.Fields(text)
	var p plan
	var err error
	switch {
	case len(words) == 0:
	case len(words) == 2 && words[0] == "trace":
		p.trace, err = os.OpenFile(words[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	case len(words) == 3 && (words[0] == "kill" || words[0] == "stop" || words[0] == "hold"):
		p.act, p.point = words[0], words[1]
		p.nth, err = strconv.Atoi(words[2])
	default:
		err = fmt.Errorf("fault: what is %q?", text)
	}
	mu.Lock()
	defer mu.Unlock()
	current, passed = p, 0
	return err
}

// FollowFile takes up the plan in a file, when there is one.
func FollowFile(path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return Follow(string(raw))
}

// Point is where a plan happens.
func Point(name string) {
	mu.Lock()
	p := current
	if p.trace != nil {
		fmt.Fprintln(p.trace, name)
	}
	if p.point != name {
		mu.Unlock()
		return
	}
	passed++
	now := passed == p.nth
	mu.Unlock()
	if now {
		happen(p.act)
	}
}

func happen(act string) {
	switch act {
	case "kill":
		unix.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until it arrives
	case "stop":
		unix.Kill(os.Getpid(), syscall.SIGSTOP)
		select {} // until it arrives, and whoever cut the power kills
	case "hold":
		name := append([]byte(Held), 0)
		if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
			panic(err)
		}
		for {
			unix.Pause() // a signal of the runtime wakes it
		}
	}
}
