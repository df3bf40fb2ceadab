package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/sandbox/sandboxtest"
)

// asOrdinary names the tests that hold as well for a person's own choir on a
// laptop, which has no host users to give to its sandboxes.
const asOrdinary = "^(TestNothingThatChoirInheritsReachesATask|TestTheControlPlaneLimitsItsMemory)$"

// TestOrdinaryUser runs them again as a user without privilege.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; the tests run as an ordinary user already")
	}
	newMachine(t, "") // skips where nothing can be isolated
	uid := 400_000 + os.Getpid()%100_000
	home := sandboxtest.DataDir(t)
	if err := os.Chown(home, uid, uid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sandboxtest.CopySelf(t, home), "-test.run", asOrdinary, "-test.v")
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	out, err := cmd.CombinedOutput()
	text := string(out)
	passed, skipped := strings.Count(text, "--- PASS"), strings.Count(text, "--- SKIP")
	if err != nil || passed < 3 || skipped > 0 {
		t.Errorf("%v\n%s", err, text)
	}
	t.Logf("as user %d: %d passed, %d skipped", uid, passed, skipped)
}
