package local_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// TestHostSide looks at a sandbox's first process from outside.
func TestHostSide(t *testing.T) {
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	uid := os.Geteuid()
	if uid == 0 {
		uid = spec.UID
	}
	status := statusOf(t, local.InitPID(b))
	ids := strings.TrimSuffix(strings.Repeat(strconv.Itoa(uid)+"\t", 4), "\t")
	for _, want := range []string{"Uid:\t" + ids, "Gid:\t" + ids, "Groups:\t", "Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"} {
		if !strings.Contains(status, want) {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
}

// TestLandlock tries what the mounts alone would allow.
func TestLandlock(t *testing.T) {
	if !local.HasLandlock() {
		t.Skip("this kernel lacks the version of Landlock that is needed")
	}
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	b, err := d.Create(t.Context(), sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	if !strings.Contains(b.Level().Name, "landlock") {
		t.Errorf("the level is %q", b.Level().Name)
	}
	const script = "mkdir -p a b && echo 1 >a/f && mv a/f b/f && cat b/f && echo 2 >/tmp/f && echo 3 >/dev/null; echo x >/proc/self/comm"
	out, err := guest.NewClient(b.Dial).Run(t.Context(), guest.ExecSpec{Argv: []string{"sh", "-c", script}}, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Stdout) != "1\n" || out.Exit.Code == 0 || !strings.Contains(string(out.Stderr), "Permission denied") {
		t.Errorf("got %+v: %s%s", out.Exit, out.Stdout, out.Stderr)
	}
}

func statusOf(t *testing.T, pid int) string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestNoBubblewrap checks that a machine without it is told so, and that there
// is no unconfined way.
func TestNoBubblewrap(t *testing.T) {
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t), Bwrap: "/nonexistent/bwrap"})
	defer d.Close()
	report := d.Probe(t.Context())
	if report.Usable || len(report.Checks) == 0 || !strings.Contains(report.Checks[0].Remedy, "apt-get install -y bubblewrap") {
		t.Errorf("%+v", report)
	}
	_, err := d.Create(t.Context(), sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate))
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("create: %v", err)
	}
}

// TestNoUserNamespaces puts a bubblewrap in place that fails as it does where
// the kernel forbids user namespaces.
func TestNoUserNamespaces(t *testing.T) {
	dir := sandboxtest.DataDir(t)
	bwrap := filepath.Join(dir, "bwrap")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.8.0 && exit 0\n" +
		"echo 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
	if err := os.WriteFile(bwrap, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	d := local.New(local.Config{StateDir: filepath.Join(dir, "state"), Bwrap: bwrap})
	defer d.Close()
	report := d.Probe(t.Context())
	if report.Usable || !strings.Contains(report.Checks[1].Remedy, "sysctl -w") || !strings.Contains(report.Checks[1].Detail, "No permissions") {
		t.Errorf("%+v", report)
	}
	spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
	_, err := d.Create(t.Context(), spec)
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "No permissions") {
		t.Errorf("create: %v", err)
	}
}

// TestRefusedSpecs checks that a bad spec is named and leaves nothing.
func TestRefusedSpecs(t *testing.T) {
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		path   string
	}{
		"no computer": {func(s *sandbox.Spec) { s.Computer = "../x" }, "spec.computer"},
		"writable doors": {func(s *sandbox.Spec) {
			if err := os.Chmod(s.Doors, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "spec.doors"},
		"doors that are a link": {func(s *sandbox.Spec) {
			link := s.Doors + "-link"
			if err := os.Symlink(s.Doors, link); err != nil {
				t.Fatal(err)
			}
			s.Doors = link
		}, "spec.doors"},
		"no guest":    {func(s *sandbox.Spec) { s.Guest = "/nonexistent" }, "choir-init"},
		"run as root": {func(s *sandbox.Spec) { s.UID = 0 }, "spec.uid"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "spec.uid" && os.Geteuid() != 0 {
				t.Skip("an ordinary user cannot ask for root")
			}
			spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
			c.change(&spec)
			_, err := d.Create(t.Context(), spec)
			if choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestLongPath checks a data folder whose doors do not fit into a socket
// address.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(sandboxtest.DataDir(t), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	d := local.New(local.Config{StateDir: filepath.Join(dir, "state")})
	defer d.Close()
	b, err := d.Create(t.Context(), sandboxtest.SpecIn(t, dir, sandboxtest.ProbeDir(t), choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseLeavesSandboxes checks that the end of a driver is not the end of its
// sandboxes, and that a closed one says so instead of waiting for ever.
func TestCloseLeavesSandboxes(t *testing.T) {
	cfg := local.Config{StateDir: sandboxtest.DataDir(t)}
	spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
	first := local.New(cfg)
	b, err := first.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	handle := b.Handle()
	for range 2 {
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	second := local.New(cfg)
	defer second.Close()
	found, err := second.Recover(t.Context(), handle)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	if err := b.Destroy(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("destroy through the closed driver: %v", err)
	}
	if _, err := first.Create(t.Context(), spec); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("create with the closed driver: %v", err)
	}
}

// TestAFolderBelowAClosedOne makes sandboxes whose folders lie where their host
// user cannot walk to, as below what mktemp -d makes for root.
func TestAFolderBelowAClosedOne(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's sandboxes run as that user")
	}
	shut := filepath.Join(sandboxtest.DataDir(t), "shut")
	data := filepath.Join(shut, "a", "data")
	if err := os.MkdirAll(data, 0o711); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(shut, "secret"): "s", filepath.Join(shut, "a", "secret"): "s"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := filepath.Join(shut, "tools")
	if err := os.MkdirAll(filepath.Join(tool, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tool, "bin", "cargo"), []byte("#!/bin/sh\necho cargo of the test\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(shut, "a"), shut} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(data, "sandbox")
	d := local.New(local.Config{StateDir: state, Modules: filepath.Join(state, "modules"), Toolchains: []string{tool}})
	defer d.Close()
	if r := d.Probe(t.Context()); !r.Usable {
		t.Errorf("the driver says %+v", r.Checks)
	}
	for _, role := range []choir.Role{choir.RoleAssociate, choir.RoleDirector} {
		spec := sandboxtest.SpecIn(t, data, sandboxtest.ProbeDir(t), role)
		b, err := d.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Destroy(t.Context())
		if got := shell(t, b, "cat "+shut+"/secret "+shut+"/a/secret 2>/dev/null || echo hidden"); got != "hidden\n" {
			t.Errorf("what is closed is seen: %q", got)
		}
		if role == choir.RoleDirector {
			continue
		}
		if got := shell(t, b, "cargo; echo x >/workspace/f; ls -d /node_modules"); got != "cargo of the test\n/node_modules\n" {
			t.Errorf("inside: %q", got)
		}
		if raw, err := os.ReadFile(filepath.Join(spec.WorkspaceFolder(), "f")); err != nil || string(raw) != "x\n" {
			t.Errorf("the workspace on the host: %q, %v", raw, err)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), shut) {
		t.Errorf("the host has a mount of it (%v):\n%s", err, mounts)
	}
	if info, err := os.Stat(shut); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the closed folder is %v, %v", info.Mode(), err)
	}
	for _, c := range d.Tools(t.Context()) {
		if c.Name == sandbox.ToolCargo && !strings.Contains(c.Detail, "cargo of the test") {
			t.Errorf("%+v", c)
		}
	}
}
