// Package tools tests the scripts of this folder.
package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a folder of stub programs that is the whole PATH of a script.
type machine struct{ dir string }

func newMachine(t *testing.T, uid string) machine {
	t.Helper()
	m := machine{t.TempDir()}
	for _, real := range []string{"sh", "sed", "dirname", "tail", "cat", "chmod"} {
		path, err := exec.LookPath(real)
		if err != nil {
			t.Skipf("%s is not on this machine", real)
		}
		if err := os.Symlink(path, filepath.Join(m.dir, real)); err != nil {
			t.Fatal(err)
		}
	}
	for name, says := range map[string]string{
		"go": "go1.26.0", "id": uid, "git": "", "bwrap": "", "node": "v20.20.2", "npm": "", "strace": "", "sqlite3": "", "xz": "", "qemu-system-x86_64": "", "sqfstar": "", "cpio": "", "ip": "", "gcc": "", "chromium": "", "make": "", "python3": "",
	} {
		m.stub(t, name, "echo "+says)
	}
	if err := os.Symlink(m.dir, filepath.Join(m.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m machine) stub(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte("#!"+m.dir+"/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (m machine) lose(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (m machine) prereqs(t *testing.T, browsers ...string) (said string, ok bool) {
	t.Helper()
	cmd := exec.Command(filepath.Join(m.dir, "sh"), append([]string{"prereqs.sh"}, browsers...)...)
	cmd.Env = []string{"PATH=" + m.dir, "CHOIR_USR=" + m.dir}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestPrereqsSayNothingWhenAllIsThere(t *testing.T) {
	if said, ok := newMachine(t, "1000").prereqs(t); !ok || said != "" {
		t.Errorf("%t: %s", ok, said)
	}
}

func TestPrereqsNameTheCommandForAnOrdinaryUser(t *testing.T) {
	m := newMachine(t, "1000")
	m.stub(t, "apt-get", "echo must not run; exit 1")
	m.lose(t, "bwrap", "chromium")
	said, ok := m.prereqs(t)
	if ok || !strings.Contains(said, "apt-get install -y --no-install-recommends bubblewrap chromium'") || strings.Contains(said, "must not run") {
		t.Errorf("%t: %s", ok, said)
	}
}

func TestPrereqsWantOtherBrowsersOnlyWhenAsked(t *testing.T) {
	m := newMachine(t, "1000")
	m.stub(t, "apt-get", "echo must not run; exit 1")
	said, ok := m.prereqs(t, "firefox", "headless-shell", "webkit")
	if ok || !strings.Contains(said, "apt-get install -y --no-install-recommends firefox-esr chromium-headless-shell webkit2gtk-driver xvfb'") {
		t.Errorf("%t: %s", ok, said)
	}
	m.stub(t, "firefox", "")
	if said, ok := m.prereqs(t, "firefox"); !ok || said != "" {
		t.Errorf("%t: %s", ok, said)
	}
}

// TestPrereqsLookWhereSandboxesLook has a python3 on the PATH of this person only.
func TestPrereqsLookWhereSandboxesLook(t *testing.T) {
	m := newMachine(t, "1000")
	if err := os.Remove(filepath.Join(m.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	if said, ok := m.prereqs(t); ok || !strings.Contains(said, "apt-get install -y --no-install-recommends make python3'") {
		t.Errorf("%t: %s", ok, said)
	}
}

func TestPrereqsInstallAsRoot(t *testing.T) {
	m := newMachine(t, "0")
	m.lose(t, "strace")
	m.stub(t, "apt-get", `if [ "$1" = install ]; then cat /dev/null > `+m.dir+`/strace; chmod +x `+m.dir+`/strace; fi`)
	for range 2 {
		if said, ok := m.prereqs(t); !ok {
			t.Errorf("failed: %s", said)
		}
		// The second time there is nothing left to do.
		m.stub(t, "apt-get", "echo must not run; exit 1")
	}
}

func TestPrereqsSayWhyAnInstallationFailed(t *testing.T) {
	m := newMachine(t, "0")
	m.lose(t, "sqlite3")
	m.stub(t, "apt-get", "echo no network; exit 1")
	if said, ok := m.prereqs(t); ok || !strings.Contains(said, "no network") || !strings.Contains(said, "this failed: apt-get update") {
		t.Errorf("%t: %s", ok, said)
	}
	m.stub(t, "apt-get", "exit 0")
	if said, ok := m.prereqs(t); ok || !strings.Contains(said, "still missing after the installation: sqlite3") {
		t.Errorf("%t: %s", ok, said)
	}
}

func TestPrereqsRefuseAnOldNodeAndAMissingGo(t *testing.T) {
	m := newMachine(t, "0")
	m.stub(t, "node", "echo v18.20.4")
	if said, ok := m.prereqs(t); ok || !strings.Contains(said, "Node 20 or newer is needed, this is v18.20.4") {
		t.Errorf("%t: %s", ok, said)
	}
	m.lose(t, "go")
	if said, ok := m.prereqs(t); ok || !strings.Contains(said, "or newer is missing") {
		t.Errorf("%t: %s", ok, said)
	}
}
