package sandboxtest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
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
	seen := 0
	for _, process := range processesOf(t, b.spec) {
		pid, name, _ := strings.Cut(process, " ")
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || !strings.Contains(string(status), "\nUid:\t"+strconv.Itoa(uid)+"\t") {
			continue // it has ended, or is an engine's or a runtime's own
		}
		raw, err := os.ReadFile("/proc/" + pid + "/oom_score_adj")
		weight, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 for none
		if err != nil || weight < host.VictimAlive {
			t.Errorf("%s has the weight %d, %v", name, weight, err)
		}
		seen++
	}
	if seen == 0 {
		t.Error("the sandbox has no process of its user")
	}
}
