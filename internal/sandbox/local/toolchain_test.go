package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"

	"golang.org/x/sys/unix"
)

// homeToolchain is a toolchain below the home folder, in a folder that nobody
// else may enter and that has a secret in it beside the toolchain.
func homeToolchain(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	closed, err := os.MkdirTemp(home, ".choir-toolchain-")
	if err != nil {
		t.Skipf("this home folder cannot be written: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(closed) })
	for path, text := range map[string]string{
		"secret": "secret", "tools/1/bin/cargo": "#!/bin/sh\necho cargo of the test\n", "tools/1/lib/data": "data",
	} {
		path = filepath.Join(closed, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(closed, "tools", "1")
}

// spec is a sandbox that needs no compiler to be made, for an ordinary user.
func spec(t *testing.T, role choir.Role) sandbox.Spec {
	t.Helper()
	return sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), role)
}

func shell(t *testing.T, b sandbox.Sandbox, script string) string {
	t.Helper()
	out, err := guest.NewClient(b.Dial).Run(t.Context(), guest.ExecSpec{Argv: []string{"sh", "-c", script}}, nil, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Stdout) + string(out.Stderr)
}

// TestToolchains shows a toolchain to the Associate and nothing around it, and
// leaves no mount on the host.
func TestToolchains(t *testing.T) {
	tool := homeToolchain(t)
	state := sandboxtest.DataDir(t)
	d := local.New(local.Config{StateDir: state, Toolchains: []string{tool}})
	defer d.Close()
	b, err := d.Create(t.Context(), spec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	for script, want := range map[string]string{
		"cargo; command -v cargo":                          "cargo of the test\n" + tool + "/bin/cargo\n",
		"cat " + tool + "/lib/data":                        "data",
		"ls -A " + filepath.Dir(filepath.Dir(tool)):        "tools\n",
		"touch " + tool + "/x 2>/dev/null || echo refused": "refused\n",
	} {
		if got := shell(t, b, script); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if !strings.HasPrefix(tool, "/tmp/") { // which is the sandbox's own
		if got := shell(t, b, "touch "+tool+"/../x 2>/dev/null || echo refused"); got != "refused\n" {
			t.Errorf("a folder above the toolchain: %q", got)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), state) || strings.Contains(string(mounts), tool) {
		t.Errorf("the host has a mount of it (%v):\n%s", err, mounts)
	}
	director, err := d.Create(t.Context(), spec(t, choir.RoleDirector))
	if err != nil {
		t.Fatal(err)
	}
	defer director.Destroy(t.Context())
	if got := shell(t, director, "ls -d "+tool+" 2>/dev/null || echo none"); got != "none\n" {
		t.Errorf("the Director sees %q", got)
	}
	for _, c := range d.Tools(t.Context()) {
		if c.Name == sandbox.ToolCargo && (!c.OK || !strings.Contains(c.Detail, "cargo of the test")) {
			t.Errorf("%+v", c)
		}
	}
}

// TestOtherToolchainsNeedANewSandbox restarts the control plane with a changed
// configuration: the Associate would go on without it.
func TestOtherToolchainsNeedANewSandbox(t *testing.T) {
	tool := homeToolchain(t)
	state := sandboxtest.DataDir(t)
	d := local.New(local.Config{StateDir: state})
	associate, err := d.Create(t.Context(), spec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	director, err := d.Create(t.Context(), spec(t, choir.RoleDirector))
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	d = local.New(local.Config{StateDir: state, Toolchains: []string{tool}})
	defer d.Close()
	if _, err := d.Recover(t.Context(), associate.Handle()); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the Associate without the toolchain: %v", err)
	}
	again, err := d.Recover(t.Context(), director.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWhatIsMountedBelowAToolchainStaysOutside shows toolchains, one in a folder
// that only root may enter and one that everybody may, each with a file system
// mounted in it.
func TestWhatIsMountedBelowAToolchainStaysOutside(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems on the host")
	}
	top := sandboxtest.DataDir(t)
	var tools []string
	for name, mode := range map[string]os.FileMode{"closed": 0o700, "open": 0o755} {
		tool := filepath.Join(top, name, "tools")
		below := filepath.Join(tool, "below")
		if err := os.MkdirAll(below, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tool, "own"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("choir-test", below, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("this machine lets root mount nothing: %v", err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(below, 0); err != nil {
				t.Error(err)
			}
		})
		if err := os.WriteFile(filepath.Join(below, "secret"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(top, name), mode); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool)
	}
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t), Toolchains: tools})
	defer d.Close()
	b, err := d.Create(t.Context(), spec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	for _, tool := range tools {
		if got := shell(t, b, "ls "+tool+"; ls "+tool+"/below"); got != "below\nown\n" {
			t.Errorf("%s shows %q", tool, got)
		}
	}
}
