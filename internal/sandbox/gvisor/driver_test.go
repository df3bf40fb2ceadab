package gvisor_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/sandboxtest"
)

// TestNoRunsc checks that a machine without it is told so, with the command, and that
// there is no unconfined way.
func TestNoRunsc(t *testing.T) {
	d := gvisor.New(gvisor.Config{StateDir: t.TempDir(), Runsc: "/nonexistent/runsc"})
	defer d.Close()
	report := d.Probe(t.Context())
	if report.Usable || report.Checks[0].Name != "runsc" || !strings.Contains(report.Checks[0].Remedy, "go install gvisor.dev/gvisor/runsc@"+gvisor.Pinned) {
		t.Errorf("%+v", report)
	}
	_, err := d.Create(t.Context(), sandbox.Spec{})
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "go install") {
		t.Errorf("create: %v", err)
	}
}

// TestARunscThatFails puts a program in place that is no runsc, and one whose sandboxes do
// not start.
func TestARunscThatFails(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("gVisor's sandboxes need a control plane that is root")
	}
	for script, want := range map[string]string{
		"exit 0": "runsc",
		"[ \"$1\" = --version ] && echo runsc version x && exit 0; echo no systrap here >&2; exit 1": "no systrap here",
	} {
		dir := sandboxtest.DataDir(t)
		runsc := filepath.Join(dir, "runsc")
		if err := os.WriteFile(runsc, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		d := gvisor.New(gvisor.Config{StateDir: filepath.Join(dir, "state"), Runsc: runsc})
		defer d.Close()
		report, said := d.Probe(t.Context()), ""
		for _, c := range report.Checks {
			if c.Required && !c.OK {
				said += c.Name + " " + c.Detail + " " + c.Remedy
			}
		}
		if report.Usable || !strings.Contains(said, want) {
			t.Errorf("%q: %+v", script, report)
		}
		_, err := d.Create(t.Context(), sandboxtest.SpecIn(t, dir, sandboxtest.InitDir(t), choir.RoleAssociate))
		if choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%q: create: %v", script, err)
		}
	}
}

// TestWhatAKilledControlPlaneLeftIsRemoved checks that a new driver removes the folder of a
// sandbox that never was, and leaves one that lives.
func TestWhatAKilledControlPlaneLeftIsRemoved(t *testing.T) {
	state, runsc := sandboxtest.DataDir(t), sandboxtest.Runsc(t)
	first := gvisor.New(gvisor.Config{StateDir: state, Runsc: runsc})
	b, err := first.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	left := filepath.Join(state, "boxes", "00000000-left")
	if err := os.MkdirAll(filepath.Join(left, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	second := gvisor.New(gvisor.Config{StateDir: state, Runsc: runsc})
	defer second.Close()
	found, err := second.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was left is there: %v", err)
	}
	if _, err := guest.NewClient(found.Dial).Hello(t.Context()); err != nil {
		t.Error(err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(filepath.Join(state, "boxes")); err != nil || len(entries) > 0 {
		t.Errorf("after its end the driver has %v, %v", entries, err)
	}
}

// TestASandboxThatTookTooMuchMemorySaysSo has a program take more memory than its sandbox may have,
// which the kernel of the host ends as a whole.
func TestASandboxThatTookTooMuchMemorySaysSo(t *testing.T) {
	d := gvisor.New(gvisor.Config{StateDir: sandboxtest.DataDir(t), Runsc: sandboxtest.Runsc(t)})
	defer d.Close()
	for _, tooMuch := range []bool{true, false} {
		spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
		spec.Limits.MemoryBytes = 128 << 20
		b, err := d.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(b.Level().Limits, "sentry") {
			b.Destroy(context.Background())
			t.Skip("no cgroups here, so that memory is not limited")
		}
		bound := b.(sandbox.MemoryBound)
		if bound.RanOutOfMemory() {
			t.Error("it says so while it runs")
		}
		if tooMuch {
			// It ends with its sandbox, so that there is no answer.
			_, _ = guest.NewClient(b.Dial).Run(t.Context(), guest.ExecSpec{Argv: []string{"python3", "-c", "x = b'x' * (1 << 30)"}}, nil, 1<<10)
			<-b.Done()
		}
		if err := b.Destroy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := bound.RanOutOfMemory(); got != tooMuch {
			t.Errorf("after its end it says %v, want %v", got, tooMuch)
		}
	}
}

// TestTheSentryPausesTooBeforeItStandsStill checks that the programs of a paused sandbox are stopped
// for the sentry as well, which kills those that it takes for stuck.
func TestTheSentryPausesTooBeforeItStandsStill(t *testing.T) {
	runsc := sandboxtest.Runsc(t)
	d := gvisor.New(gvisor.Config{StateDir: sandboxtest.DataDir(t), Runsc: runsc})
	defer d.Close()
	b, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(context.Background())
	var at struct{ Name, Folder, Limits string }
	if err := json.Unmarshal(b.Handle().State, &at); err != nil {
		t.Fatal(err)
	}
	if at.Limits == host.LimitsRlimits {
		t.Skip("no cgroups here, so that nothing can be paused")
	}
	status := func() string {
		out, err := exec.Command(runsc, "--root="+filepath.Join(at.Folder, "state"), "state", at.Name).Output()
		var said struct{ Status string }
		if err == nil {
			err = json.Unmarshal(out, &said)
		}
		if err != nil {
			t.Error(err)
		}
		return said.Status
	}
	p := b.(sandbox.Pauser)
	for range 2 {
		if err := p.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := status(); now != "paused" {
			t.Errorf("while it is paused, runsc says %q", now)
		}
		if err := p.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := status(); now != "running" {
			t.Errorf("once it goes on, runsc says %q", now)
		}
	}
}

// wrapRunsc writes a program that does as runsc does until a file is there, and from then on answers
// with a script. It returns the paths of both.
func wrapRunsc(t *testing.T, script string) (runsc, switched string) {
	t.Helper()
	dir := sandboxtest.DataDir(t)
	runsc, switched = filepath.Join(dir, "runsc"), filepath.Join(dir, "switched")
	whole := "#!/bin/sh\nreal=" + sandboxtest.Runsc(t) + "\nif [ -e " + switched + " ]; then\n" + script + "\nfi\nexec \"$real\" \"$@\"\n"
	if err := os.WriteFile(runsc, []byte(whole), 0o755); err != nil {
		t.Fatal(err)
	}
	return runsc, switched
}

// TestASandboxThatRunscCannotResumeEnds has runsc fail to resume a paused sandbox: it is destroyed by
// its own driver, and found gone by another one.
func TestASandboxThatRunscCannotResumeEnds(t *testing.T) {
	runsc, switched := wrapRunsc(t, `case "$2" in resume) exit 1 ;; state) echo '{"status":"paused"}'; exit ;; esac`)
	state := sandboxtest.DataDir(t)
	for _, recovered := range []bool{false, true} {
		d := gvisor.New(gvisor.Config{StateDir: state, Runsc: runsc})
		defer d.Close()
		b, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleAssociate))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(b.Level().Limits, "sentry") {
			b.Destroy(context.Background())
			t.Skip("no cgroups here, so that nothing can be paused")
		}
		if err := b.(sandbox.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(switched, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.(sandbox.Pauser).Resume(t.Context()); err == nil {
			t.Error("it could be resumed")
		}
		if recovered {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			other := gvisor.New(gvisor.Config{StateDir: state, Runsc: runsc})
			defer other.Close()
			if _, err := other.Recover(t.Context(), b.Handle()); sandbox.VerdictOf(err) != sandbox.Gone {
				t.Errorf("another driver finds it %s: %v", sandbox.VerdictOf(err), err)
			}
		} else if err := b.Destroy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(filepath.Join(state, "boxes")); err != nil || len(left) > 0 {
			t.Errorf("after its end the driver has %v, %v", left, err)
		}
		if err := os.Remove(switched); err != nil {
			t.Fatal(err)
		}
	}
}
