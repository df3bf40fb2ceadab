package computer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// specs are the users for whom a driver was asked to make sandboxes.
type specs struct {
	mu    sync.Mutex // guards users
	users map[choir.Role]int
}

// of notes what a driver is asked for.
func (s *specs) of(d sandbox.Driver) sandbox.Driver { return noting{d, s} }

func (s *specs) user(role choir.Role) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[role]
}

type noting struct {
	sandbox.Driver
	specs *specs
}

func (n noting) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	n.specs.mu.Lock()
	if n.specs.users == nil {
		n.specs.users = map[choir.Role]int{}
	}
	n.specs.users[spec.Role] = spec.UID
	n.specs.mu.Unlock()
	return n.Driver.Create(ctx, spec)
}

// TestTheSandboxesOfAComputerShareNothingOnTheHost acts on the host as each
// sandbox's user: each reaches what is its own, and nothing of the other.
func TestTheSandboxesOfAComputerShareNothingOnTheHost(t *testing.T) {
	if os.Geteuid() != 0 {
		newLab(t).stop()
		t.Skip("only root gives sandboxes users of their own")
	}
	var specs specs
	l := newLab(t, func(c *labConfig) { c.wrap = specs.of })
	l.write("secret.txt", "of the Associate\n")
	if l.cfg.HostUID == l.cfg.DirectorUID {
		t.Fatal("the test gave both the same user")
	}
	dir := filepath.Join(l.cfg.Data, string(l.cfg.Computer))
	if err := os.Chmod(filepath.Join(dir, "associate", "workspace"), 0o777); err != nil { // as programs in it may
		t.Fatal(err)
	}
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
		if _, running := l.Roles().Level(role); !running || specs.user(role) != uid {
			t.Errorf("the %s's sandbox runs: %v, as user %d, not %d", role, running, specs.user(role), uid)
		}
	}
}
