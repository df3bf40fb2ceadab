package fake_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
)

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t *testing.T, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Errorf("got %v, wanted code %s", err, code)
	}
}

// made is a sandbox with a workspace on a new machine.
func made(t *testing.T, cfg fake.Config) (*fake.Machine, *fake.Driver, sandbox.Spec, sandbox.Sandbox) {
	t.Helper()
	m := fake.NewMachine(t, cfg)
	d, spec := m.Driver(), sandboxtest.SpecIn(t, sandboxtest.DataDir(t), t.TempDir(), choir.RoleAssociate)
	b, err := d.Create(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m, d, spec, b
}

// TestFaultsAreThoseThatWereAskedFor has each call fail as the test says, once.
func TestFaultsAreThoseThatWereAskedFor(t *testing.T) {
	t.Parallel()
	m, d, spec, b := made(t, fake.Config{})
	ctx := within(t)
	unknown := choir.E("x", choir.CodeTimeout, "slow")
	m.FailRecover(2, unknown)
	for range 2 {
		_, err := d.Recover(ctx, b.Handle())
		wantCode(t, err, choir.CodeTimeout)
	}
	if _, err := d.Recover(ctx, b.Handle()); err != nil {
		t.Errorf("behind the faults: %v", err)
	}
	if m.Living(spec.WorkspaceFolder()) != 1 {
		t.Error("a sandbox of which nothing is known has ended")
	}
	m.LoseAtRecover(1)
	_, err := d.Recover(ctx, b.Handle())
	wantCode(t, err, choir.CodeNotFound)
	select {
	case <-b.Done():
	default:
		t.Error("a sandbox that was lost lives")
	}
	m.FailCreate(1, choir.E("x", choir.CodeBusy, "no room"))
	_, err = d.Create(ctx, spec)
	wantCode(t, err, choir.CodeBusy)
	if m.Made() != 1 || m.Living(spec.WorkspaceFolder()) != 0 {
		t.Errorf("%d were made, %d live", m.Made(), m.Living(spec.WorkspaceFolder()))
	}
	for range 2 {
		if _, err := d.Create(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if m.Most(spec.WorkspaceFolder()) != 2 || m.Made() != 3 {
		t.Errorf("of %d at most %d lived at once", m.Made(), m.Most(spec.WorkspaceFolder()))
	}
}

// TestABrokenControlConnectionLeavesTheSandbox drops what is open, and ends one of
// two control planes.
func TestABrokenControlConnectionLeavesTheSandbox(t *testing.T) {
	t.Parallel()
	m, d, _, b := made(t, fake.Config{})
	ctx := within(t)
	attach := func(s sandbox.Sandbox) *guest.Attachment {
		t.Helper()
		a, err := guest.NewClient(s.Dial).Attach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	first := attach(b)
	m.DropControl()
	<-first.Done()
	again := attach(b)
	other, err := m.Driver().Recover(ctx, b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	stays := attach(other)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	<-again.Done()
	if stays.Err() != nil {
		t.Errorf("the other control plane is cut off too: %v", stays.Err())
	}
	_, err = b.Dial(ctx)
	wantCode(t, err, choir.CodeUnavailable)
	wantCode(t, b.Destroy(ctx), choir.CodeUnavailable)
	if err := other.Destroy(ctx); err != nil {
		t.Error(err)
	}
}

// TestNothingIsRunOnTheHost asks for programs, signals, ports and folders that are
// the host's.
func TestNothingIsRunOnTheHost(t *testing.T) {
	t.Parallel()
	ran := make(chan string, 1)
	_, _, spec, b := made(t, fake.Config{Programs: map[string]fake.Program{"hold": func(ctx context.Context, p *fake.Process) int {
		ran <- p.Dir + " " + p.Path("x") + p.Path("/etc/passwd") + p.Path("../../x")
		<-ctx.Done()
		return 0
	}}})
	ctx, client := within(t), guest.NewClient(b.Dial)
	mark := filepath.Join(t.TempDir(), "mark")
	for _, argv := range [][]string{{"sh", "-c", "echo > " + mark}, {"/bin/sh", "-c", "echo > " + mark}, {"touch", mark}} {
		_, err := client.Run(ctx, guest.ExecSpec{Argv: argv}, nil, 1)
		wantCode(t, err, choir.CodeNotFound)
		if err == nil || !strings.Contains(err.Error(), "unsupported") {
			t.Errorf("%q: %v", argv, err)
		}
	}
	_, err := client.StartRole(ctx, guest.RoleSpec{Name: "choir-associate", Credentials: []byte(`{}`)})
	wantCode(t, err, choir.CodeNotFound)
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("a program ran: %v", err)
	}
	_, err = client.DialPort(ctx, 22)
	wantCode(t, err, choir.CodeUnavailable)
	_, err = client.Exec(ctx, guest.ExecSpec{Argv: []string{"hold"}, Cwd: "/tmp"})
	wantCode(t, err, choir.CodeNotFound)
	p, err := client.Exec(ctx, guest.ExecSpec{Argv: []string{"hold"}, Cwd: sandbox.WorkspaceInside})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-ran; got != spec.WorkspaceFolder()+" "+filepath.Join(spec.WorkspaceFolder(), "x") {
		t.Errorf("the program is in and may reach %q", got)
	}
	if err := p.Signal("SIGSTOP"); err != nil {
		t.Fatal(err)
	}
	_, err = p.Wait(io.Discard, io.Discard)
	wantCode(t, err, choir.CodeUnavailable)
}
