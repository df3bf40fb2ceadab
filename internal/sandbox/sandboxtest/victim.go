package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// endsFirst checks that the kernel, when it has no more memory, ends the processes of a sandbox
// before the control plane, whose weight is 0, and that no program inside changes that, when the
// control plane is root's.
func (s suite) endsFirst(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	uid, of := b.spec.UID, "self 1"
	if os.Geteuid() != 0 {
		uid, of = os.Geteuid(), ""
	}
	b.run(t, "/bin/sh", "-c", "for of in "+of+"; do for weight in -1000 0; do echo $weight > /proc/$of/oom_score_adj; done; done 2>/dev/null; setsid sleep 600 >/dev/null 2>&1 </dev/null &")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := timeout(t); ; {
		seen, wrong := victims(t, b.spec, uid)
		switch {
		case seen > 0 && len(wrong) == 0:
			return
		case deadline.Err() != nil:
			t.Fatalf("%d processes of its user, with other weights: %q", seen, wrong)
		}
		// Without root, processes of a sandbox that another test is making count too, and get their weight late.
		select {
		case <-tick.C:
		case <-deadline.Done():
		}
	}
}

// victims counts the processes of a user in a sandbox, and describes each that does not end before the control
// plane.
func victims(t *testing.T, spec sandbox.Spec, uid int) (seen int, wrong []string) {
	for _, process := range processesOf(t, spec) {
		pid, name, _ := strings.Cut(process, " ")
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || !strings.Contains(string(status), "\nUid:\t"+strconv.Itoa(uid)+"\t") {
			continue // it has ended, or is an engine's or a runtime's own
		}
		raw, err := os.ReadFile("/proc/" + pid + "/oom_score_adj")
		weight, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 for none
		if errors.Is(err, os.ErrNotExist) {
			continue // it has ended meanwhile
		}
		if err != nil || weight < host.VictimAlive {
			wrong = append(wrong, fmt.Sprintf("%s has the weight %d, %v", name, weight, err))
		}
		seen++
	}
	return seen, wrong
}
