package sandboxtest

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// shortage is a thing that a control plane and its sandboxes have in common, and that can be
// used up.
type shortage string

// The shortages.
const (
	noFiles     shortage = "file descriptors"
	noProcesses shortage = "process ids"
	noDisk      shortage = "room on the disk"
)

// short returns the case that makes sandboxes in another process, which has little of something.
func (s suite) short(of shortage) func(*testing.T) {
	return func(t *testing.T) {
		o := s.newOrders(t, 0)
		o.Short, o.Quick = of, testing.Short()
		switch of {
		case noProcesses:
			o.makeGroup(t)
		case noDisk:
			if os.Geteuid() != 0 {
				t.Skip("only root can mount a small file system")
			}
		}
		child, out := startChild(t, o)
		said, _ := io.ReadAll(out) // Wait tells the rest
		if err := child.Wait(); err != nil || !strings.Contains(string(said), "were refused") {
			t.Errorf("%v\n%s", err, said)
		}
		for line := range strings.Lines(string(said)) {
			if strings.Contains(line, "were refused") {
				t.Log(strings.TrimSpace(line))
			}
		}
		nothingLeft(t, o.Spec)
	}
}

// limit limits the thing for this process to what is in use now and a number more, until
// lift is called.
type limit func(t *testing.T, spare int) (lift func())

// ration describes how one thing is made short.
type ration struct {
	limit  limit
	reason choir.Reason // of the refusals
	most   int          // more than the creation of a sandbox needs at once
}

// createShort creates a sandbox with nothing of something to spare, with one, and so on, until
// it is made. Each creation before must be refused with the reason, and leave nothing.
func createShort(t *testing.T, newDriver Maker, o orders) {
	o.Setup.Apart = o.Short == noDisk
	if o.Short == noDisk {
		createOnSmallDisk(t, newDriver, o)
		return
	}
	d := newDriver(t, o.Setup)
	defer closeDriver(t, d)
	b, err := d.Create(timeout(t), o.Spec) // sets the driver up
	if err != nil {
		t.Fatal(err)
	}
	destroy(t, b)
	r := ration{limitFiles, choir.ReasonHostNoFiles, 40}
	if o.Short == noProcesses {
		makeThreads()
		r = ration{o.limitProcesses, choir.ReasonHostNoProcesses, 400}
	}
	refused, spare := createWith(t, d, o, r)
	t.Logf("%d creations were refused, and one with %d %s to spare was not", refused, spare, o.Short)
	if refused == 0 {
		t.Error("the limit had no effect")
	}
}

// createWith creates a sandbox with more and more to spare until it is made, and destroys it. It
// returns how many creations were refused, and with how much to spare one was not.
func createWith(t *testing.T, d sandbox.Driver, o orders, r ration) (refused, spare int) {
	for ; spare <= r.most; spare += step(spare, o.Quick) {
		lift := r.limit(t, spare)
		b, err := d.Create(timeout(t), o.Spec)
		lift()
		if err == nil {
			destroy(t, b)
			nothingLeft(t, o.Spec)
			return refused, spare
		}
		refused++
		if reason, _ := choir.ReasonOf(err); reason != r.reason {
			t.Errorf("with %d to spare: reason %q: %v", spare, reason, err)
		}
		nothingLeft(t, o.Spec)
		nothingUnfinished(t, o)
	}
	t.Fatalf("no sandbox was made with %d to spare", r.most)
	return
}

// step returns by how much the next amount that is tried is larger.
func step(spare int, quick bool) int {
	const each = 64 // then a few are enough
	switch {
	case quick:
		return max(1, spare)
	case spare >= each:
		return spare / 4
	}
	return 1
}

// limitFiles limits the file descriptors.
func limitFiles(t *testing.T, spare int) (lift func()) {
	var whole syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &whole); err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(len(open) - 1 + spare), Max: whole.Max} // without the listing's own
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &whole); err != nil {
			t.Fatal(err)
		}
	}
}
