package computer

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"choiros/internal/choir"
)

// TestTheSandboxesOfAComputerShareNothingOnTheHost acts on the host as each
// sandbox's user: each reaches what is its own, and nothing of the other.
func TestTheSandboxesOfAComputerShareNothingOnTheHost(t *testing.T) {
	if os.Geteuid() != 0 {
		newLab(t).stop()
		t.Skip("only root gives sandboxes users of their own")
	}
	l := newLab(t)
	l.write("secret.txt", "of the Associate\n")
	if l.cfg.HostUID == l.cfg.DirectorUID {
		t.Fatal("the test gave both the same user")
	}
	dir := filepath.Join(l.cfg.Data, string(l.cfg.Computer))
	for _, c := range []struct {
		argv []string
		role choir.Role // whose it is; the control plane is no user of these
	}{
		{[]string{"ls", filepath.Join(dir, "associate", "workspace")}, choir.RoleAssociate},
		{[]string{"cat", filepath.Join(dir, "associate", "workspace", "secret.txt")}, choir.RoleAssociate},
		{[]string{"ls", filepath.Join(dir, "associate", "doors")}, choir.RoleControl}, // neither's
		{[]string{"ls", filepath.Join(dir, "director", "doors")}, choir.RoleControl},
	} {
		for role, uid := range map[choir.Role]int{choir.RoleAssociate: l.cfg.HostUID, choir.RoleDirector: l.cfg.DirectorUID} {
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
			out, err := cmd.CombinedOutput()
			if (err == nil) != (role == c.role) {
				t.Errorf("%q as the %s's user: %v %s", c.argv, role, err, out)
			}
		}
	}
	for role, uid := range map[choir.Role]int{choir.RoleAssociate: l.cfg.HostUID, choir.RoleDirector: l.cfg.DirectorUID} {
		if got := must(l.seats[role].guest(l.within()))(t); got == nil || l.seats[role].spec().UID != uid {
			t.Errorf("the %s's sandbox has user %d, not %d", role, l.seats[role].spec().UID, uid)
		}
	}
}
