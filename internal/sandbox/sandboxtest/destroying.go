package sandboxtest

import (
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// killedWhileDestroying kills control planes while they destroy a sandbox, each at another moment,
// and checks that the next one finds the rest of it and leaves nothing.
func (s suite) killedWhileDestroying(t *testing.T) {
	for _, at := range []struct {
		name string
		when func(begun, left int) bool
	}{
		{"at once", func(int, int) bool { return true }},
		{"after the first process", func(begun, left int) bool { return left < begun || left == 0 }},
		{"after the last process", func(_, left int) bool { return left == 0 }},
	} {
		t.Run(at.name, func(t *testing.T) {
			o := s.newOrders(t, 0)
			o.Destroy = true
			child, out := startChild(t, o)
			h := readHandle(t, out)
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			deadline := timeout(t)
			for begun := 0; ; {
				left := len(processesOf(t, o.Spec))
				if begun = max(begun, left); at.when(begun, left) {
					break
				}
				select {
				case <-tick.C:
				case <-deadline.Done():
					child.Process.Kill()
					child.Wait() // it was killed
					t.Fatalf("still there: %v", processesOf(t, o.Spec))
				}
			}
			child.Process.Kill()
			child.Wait() // it was killed
			s.recoverRest(t, o, h)
			nothingLeft(t, o.Spec)
		})
	}
}

// recoverRest takes up what a killed control plane left of a sandbox, and destroys it.
func (s suite) recoverRest(t *testing.T, o orders, h sandbox.Handle) {
	d := s.newDriver(t, o.Setup)
	defer closeDriver(t, d)
	b, err := d.Recover(timeout(t), h)
	if err == nil {
		destroy(t, b)
		ended(t, b)
		return
	}
	wantVerdict(t, sandbox.Gone, err)
	t.Logf("nothing of it could be taken up: %s", choir.CodeOf(err))
}
