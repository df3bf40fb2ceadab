package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// TestOrdinaryUser runs the whole suite again as a user without privilege, for
// whom rlimits take the place of cgroups.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; TestLocal is this test then")
	}
	uid := 500_000 + os.Getpid()%100_000
	dir := sandboxtest.DataDir(t)
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, uid, uid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sandboxtest.CopySelf(t, dir), "-test.run", "^(TestLocal|TestRlimitLevel|TestToolchains|TestFilter|TestHostSide|TestLandlock|TestRefusedSpecs|TestLongPath|TestCloseLeavesSandboxes)$", "-test.v")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home,
		sandboxtest.ProbeVariable + "=" + sandboxtest.ProbeDir(t),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	text, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "--- PASS: TestLocal/limits/fork_bomb") || !strings.Contains(string(text), "--- PASS: TestToolchains") {
		t.Errorf("%v\n%s", err, text)
	}
	t.Logf("as user %d: %d passed, %d skipped", uid, strings.Count(string(text), "--- PASS"), strings.Count(string(text), "--- SKIP"))
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// TestRlimitLevel checks what the level says where cgroups cannot be used, and
// that limits which are required are then refused.
func TestRlimitLevel(t *testing.T) {
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t), WithoutCgroups: true})
	defer d.Close()
	report := d.Probe(t.Context())
	if !report.Usable || !strings.Contains(report.Level.Limits, "rlimits") || len(report.Level.Missing) < 3 {
		t.Errorf("%+v", report)
	}
	spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
	spec.RequireLimits = true
	_, err := d.Create(t.Context(), spec)
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "run choir as root") {
		t.Errorf("required limits: %v", err)
	}
	spec.RequireLimits = false
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	if b.Level().Limits != report.Level.Limits {
		t.Errorf("the sandbox says %q, the report %q", b.Level().Limits, report.Level.Limits)
	}
	if u, err := b.Usage(t.Context()); err != nil || u.Processes < 1 || u.MemoryBytes == 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestWithoutCgroups runs the suite as root with rlimits only.
func TestWithoutCgroups(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
		return local.New(local.Config{StateDir: s.StateDir, Orphan: s.Orphan, WithoutCgroups: true})
	})
}
