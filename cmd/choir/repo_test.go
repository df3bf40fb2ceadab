package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// TestProjectsComeAndGo brings friendly and hostile folders in and takes work
// out again. Nothing of a project may run on the host.
func TestProjectsComeAndGo(t *testing.T) {
	o := openOffice(t)
	t.Run("hostile", o.hostile)
	t.Run("odd", o.odd)
	t.Run("refused", o.repoRefused)
	t.Run("large", o.large)
	t.Run("export", o.export)
}

// hostile is a repository in which everything that git can be made to run
// touches a canary on the host.
func (o *office) hostile(t *testing.T) {
	o = o.in(t)
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.Mkdir(canary, 0o777); err != nil {
		t.Fatal(err)
	}
	dir := files{"a.txt": "a\n", ".gitattributes": "*.txt filter=evil diff=evil\n"}.repo(t, "hostile")
	touch := func(what string) string { return fmt.Sprintf("\"sh -c 'touch %s/%s; cat'\"", canary, what) }
	gitIn(t, dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "--author=A <a@a>", "-m", "second")
	hooks := files{}
	for _, name := range []string{"pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-applypatch", "post-rewrite"} {
		hooks[".git/hooks/"+name+"!"] = "#!/bin/sh\ntouch " + canary + "/" + name + "\n"
	}
	hooks[".gitmodules"] = "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c 'touch " + canary + "/submodule'\n"
	hooks.writeTo(t, dir)
	config, err := os.OpenFile(filepath.Join(dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"[core]\n\tfsmonitor = " + touch("fsmonitor"), "\tsshCommand = " + touch("ssh"), "\tpager = " + touch("pager"), "\teditor = " + touch("editor"),
		"[filter \"evil\"]\n\tclean = " + touch("clean"), "\tsmudge = " + touch("smudge"), "\trequired = true",
		"[diff \"evil\"]\n\ttextconv = " + touch("textconv"), "\tcommand = " + touch("diff"), "[gpg]\n\tprogram = " + touch("gpg"), "[commit]\n\tgpgSign = false",
	} {
		fmt.Fprintln(config, line)
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	was := exact(t, dir)
	o.must("repo", "add", dir)
	sameTree(t, was, exact(t, dir))
	sameTree(t, was, exact(t, o.at("hostile")))
	o.ends(t, shellTask("edit_repo", "hostile", "echo b >> a.txt", noVerify), 0, choir.StatusOK, "")
	o.must("checkpoint", "--repo", "hostile")
	o.must("repo", "list")
	o.must("repo", "export", "hostile", "-o", filepath.Join(t.TempDir(), "out.bundle"))
	ran, err := os.ReadDir(canary)
	if err != nil || len(ran) > 0 {
		t.Errorf("ran on the host: %v, %v", ran, err)
	}
}

// odd are things a folder can hold that are no ordinary files.
func (o *office) odd(t *testing.T) {
	o = o.in(t)
	dir := files{"run.sh!": "#!/bin/sh\n", "new\nline": "x\n", "latin\xe9": "x\n", "sub/file": "x\n"}.write(t, "odd")
	for _, link := range [][2]string{{"/etc/passwd", "absolute"}, {"../../../../../etc/passwd", "relative"}, {"nowhere", "broken"}, {"run.sh", "inside"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := exact(t, dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	r := o.run("repo", "add", dir)
	if r.code != 0 || !strings.Contains(r.errOut, "left out fifo") || !strings.Contains(r.errOut, "left out socket") {
		t.Fatalf("exit code %d: %s", r.code, r.errOut)
	}
	is := exact(t, o.at("odd"))
	// The folder's own time moved when the fifo was made.
	delete(kept, ".")
	delete(is, ".")
	sameTree(t, kept, is)
	was := exact(t, o.workspace())
	o.ends(t, shellTask("edit_repo", "odd", "rm -rf * ; exit 1", ""), 1, choir.StatusFailed, choir.ResultCommandFailed)
	sameTree(t, was, exact(t, o.workspace()))
	o.must("repo", "add", files{}.empty(t, "bare"))
	if found, err := os.ReadDir(o.at("bare")); err != nil || len(found) > 0 {
		t.Errorf("an empty folder became %v, %v", found, err)
	}
}

func (f files) empty(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// repoRefused are projects that cannot come in; each says why and leaves
// nothing.
func (o *office) repoRefused(t *testing.T) {
	o = o.in(t)
	dir := files{"a.txt": "a\n"}.repo(t, "twice")
	o.must("repo", "add", dir)
	was := exact(t, o.workspace())
	for _, c := range []struct {
		name   string
		args   []string
		exit   int
		code   choir.Code
		reason string
	}{
		{"an address", []string{"https://example.com/x.git"}, 4, choir.CodeRefused, "egress policy is none"},
		{"an address of ssh", []string{"git@example.com:x.git"}, 2, choir.CodeInvalid, "is not the address of a repository"},
		{"a name that is taken", []string{dir}, 1, choir.CodeConflict, "there already"},
		{"a name that cannot be", []string{dir, "--name", "../up"}, 2, choir.CodeInvalid, "name"},
		{"no such folder", []string{filepath.Join(dir, "none")}, 1, choir.CodeNotFound, "is not a folder"},
		{"a file", []string{filepath.Join(dir, "a.txt")}, 1, choir.CodeNotFound, "is not a folder"},
		{"an address without its scheme", []string{"github.com/x/y"}, 1, choir.CodeNotFound, "choir repo add https://github.com/x/y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o.in(t).refuses(t, c.exit, c.code, c.reason, append([]string{"repo", "add"}, c.args...)...)
		})
	}
	sameTree(t, was, exact(t, o.workspace()))
}

// refuses runs a command that must fail: with this exit code, a problem of this
// code on standard output, and words on standard error.
func (m *machine) refuses(t *testing.T, exit int, code choir.Code, reason string, args ...string) api.Problem {
	t.Helper()
	r := m.run(append(args, "--json")...)
	var p api.Problem
	if err := json.Unmarshal([]byte(r.out), &p); err != nil {
		t.Errorf("choir %v: no problem document: %v: %s", args, err, r.out)
	}
	if r.code != exit || p.Code != code || !strings.Contains(p.Detail+p.Field+p.Remedy, reason) || !strings.Contains(r.errOut, "choir: ") {
		t.Errorf("choir %v: exit code %d, want %d; %q, want %q; want %q in\n%s%s", args, r.code, exit, p.Code, code, reason, r.out, r.errOut)
	}
	return p
}

// large is a file of a gibibyte: it streams, so that memory stays bounded.
func (o *office) large(t *testing.T) {
	o = o.in(t)
	size, bound := int64(64<<20), 192<<10
	if soaking() {
		size = 1 << 30
	}
	dir := files{}.empty(t, "large")
	f, err := os.Create(filepath.Join(dir, "large"))
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	before := o.peakMemory(t)
	o.must("repo", "add", dir)
	if info, err := os.Stat(filepath.Join(o.at("large"), "large")); err != nil || info.Size() != size {
		t.Fatalf("%v, %v", info, err)
	}
	after := o.peakMemory(t)
	t.Logf("%d MiB in; the control plane's peak memory went from %d to %d KiB", size>>20, before, after)
	if after-before > bound && after > before*2 {
		t.Errorf("memory grew by %d KiB", after-before)
	}
	o.ends(t, shellTask("run", "large", "rm -rf .", ""), 1, choir.StatusFailed, choir.ResultCommandFailed)
}

// peakMemory is the most the control plane had resident, in KiB.
func (o *office) peakMemory(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// export takes the work out in both forms, into the clone it came from.
func (o *office) export(t *testing.T) {
	o = o.in(t)
	source := files{"a.txt": "a\n", "bin": "\x00\x01"}.repo(t, "work")
	o.must("repo", "add", source)
	o.refuses(t, 1, choir.CodeNotFound, "no work to export", "repo", "export", "work", "-o", filepath.Join(t.TempDir(), "none"))
	o.refuses(t, 1, choir.CodeNotFound, "no project", "repo", "export", "nowhere", "-o", filepath.Join(t.TempDir(), "none"))
	o.ends(t, shellTask("edit_repo", "work", `echo b >> a.txt; printf '\000\002' > bin; chmod +x a.txt`, noVerify), 0, choir.StatusOK, "")
	o.ends(t, shellTask("edit_repo", "work", "git mv a.txt b.txt", noVerify), 0, choir.StatusOK, "")
	want := o.gitAt("work", "rev-parse", "HEAD^{tree}")
	bundle, patch := filepath.Join(t.TempDir(), "w.bundle"), filepath.Join(t.TempDir(), "w.patch")
	o.must("repo", "export", "work", "-o", bundle)
	o.must("repo", "export", "work", "--format", "patch", "-o", patch)
	o.refuses(t, 2, choir.CodeInvalid, "bundle or patch", "repo", "export", "work", "--format", "zip", "-o", filepath.Join(t.TempDir(), "none"))
	patched := filepath.Join(t.TempDir(), "patched")
	gitIn(t, source, "clone", "-q", source, patched)
	gitIn(t, source, "pull", "-q", "--ff-only", bundle, "HEAD")
	gitIn(t, patched, "-c", "user.name=x", "-c", "user.email=x@x", "am", "-q", patch)
	for _, dir := range []string{source, patched} {
		if got := gitIn(t, dir, "rev-parse", "HEAD^{tree}"); got != want {
			t.Errorf("%s has tree %s, want %s", dir, got, want)
		}
	}
}
