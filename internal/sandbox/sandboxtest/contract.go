package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// contract checks the guarantees that every driver gives its callers, whether it isolates
// or not.
func (s suite) contract(t *testing.T) {
	t.Run("commands end with their exit codes", s.part(s.exitCodes))
	t.Run("commands have three streams", s.part(s.streams))
	t.Run("a terminal is both input and output", s.part(s.terminal))
	t.Run("a command that is ended says by what", s.part(s.signals))
	t.Run("both sides see the same files", s.part(s.files))
	t.Run("a workspace is carried to the next sandbox", s.part(s.carried))
	t.Run("mounts", s.part(s.mounts))
	t.Run("launches of the role are counted", s.part(s.launches))
	t.Run("a stream says who opened it", s.part(s.streamsAreKnown))
	t.Run("a second driver takes a sandbox up", s.part(s.takenUp))
	t.Run("the handle of an ended sandbox is not the next one's", s.part(s.oldHandle))
	t.Run("not known is not gone", s.part(s.unknown))
	t.Run("an orphan ends by itself", s.part(s.orphan))
	t.Run("refused specs leave nothing", s.part(s.refusedSpecs))
	t.Run("a cancelled create leaves nothing", s.part(s.cancelledCreate))
	t.Run("usage is of what lives", s.part(s.usage))
}

// play returns the command line of the probe with these arguments.
func play(args ...string) []string {
	return append([]string{sandbox.GuestInside + "/" + probeName}, args...)
}

func (s suite) exitCodes(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	for code, text := range map[int]string{0: "0", 7: "7", 255: "255"} {
		if out := b.run(t, play(probed.Say, "", "", text)...); out.Exit.Code != code || out.Exit.Signal != "" {
			t.Errorf("exit %d ended as %+v", code, out.Exit)
		}
	}
	client := b.client
	_, err := client.Run(timeout(t), guest.ExecSpec{Argv: []string{"no-such-program"}}, nil, 1)
	wantCode(t, err, choir.CodeNotFound)
	_, err = client.Run(timeout(t), guest.ExecSpec{Argv: play(probed.Say, "", "", "0"), Cwd: sandbox.WorkspaceInside + "/none"}, nil, 1)
	wantCode(t, err, choir.CodeNotFound)
}

func wantCode(t *testing.T, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Errorf("got %v, wanted code %s", err, code)
	}
}

func (s suite) streams(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	if out := b.run(t, play(probed.Say, "out", "err", "0")...); string(out.Stdout) != "out" || string(out.Stderr) != "err" {
		t.Errorf("it said %q and %q", out.Stdout, out.Stderr)
	}
	in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: play(probed.Cat)}, in, 2<<20)
	if err != nil || !bytes.Equal(out.Stdout, in) || len(out.Stderr) > 0 {
		t.Errorf("of %d bytes %d came back: %q, %v", len(in), len(out.Stdout), out.Stderr, err)
	}
}

// terminal checks that a line written to a terminal is echoed and then repeated by the
// program.
func (s suite) terminal(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	p, err := b.client.Exec(timeout(t), guest.ExecSpec{Argv: play(probed.Cat), TTY: &guest.Size{Rows: 24, Cols: 80}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Resize(guest.Size{Rows: 30, Cols: 100}); err != nil {
		t.Error(err)
	}
	if _, err := p.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	if err := p.CloseStdin(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if exit, err := p.Wait(&out, nil); err != nil || exit.Code != 0 || strings.Count(out.String(), "line\r\n") != 2 {
		t.Errorf("%q, %+v, %v", out.String(), exit, err)
	}
}

// waiting starts a command that waits until it is ended, and returns it running.
func (b inside) waiting(t *testing.T) *guest.Process {
	t.Helper()
	p, err := b.client.Exec(timeout(t), guest.ExecSpec{Argv: play(probed.Wait)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func (s suite) signals(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	for want, end := range map[string]func(*guest.Process) error{
		"SIGTERM": func(p *guest.Process) error { return p.Signal("SIGTERM") },
		"SIGINT":  func(p *guest.Process) error { return p.Signal("SIGINT") },
		"SIGKILL": (*guest.Process).Kill,
	} {
		p := b.waiting(t)
		if err := end(p); err != nil {
			t.Error(err)
		}
		if exit, err := p.Wait(nil, nil); err != nil || exit.Signal != want || exit.Code != -1 || exit.TimedOut {
			t.Errorf("%s: %+v, %v", want, exit, err)
		}
	}
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: play(probed.Wait), TimeoutMS: 50}, nil, 1<<10)
	if err != nil || !out.Exit.TimedOut || out.Exit.Signal != "SIGKILL" {
		t.Errorf("over its time: %+v, %v", out.Exit, err)
	}
}

// files checks that files written by the client and by a program are visible to the other
// side and on the host.
func (s suite) files(t *testing.T) {
	b, ctx := s.create(t, choir.RoleAssociate, nil), timeout(t)
	client := b.client
	if _, err := client.WriteFile(ctx, "by-client", 0, strings.NewReader("client")); err != nil {
		t.Fatal(err)
	}
	b.run(t, play(probed.Put, "by-program", "program")...)
	for name, want := range map[string]string{"by-client": "client", "by-program": "program"} {
		if folder := b.spec.WorkspaceFolder(); folder != "" {
			if got, err := os.ReadFile(filepath.Join(folder, name)); string(got) != want || err != nil {
				t.Errorf("%s is %q on the host: %v", name, got, err)
			}
		}
		r, err := client.ReadFile(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != want || err != nil {
			t.Errorf("%s is %q for the client: %v", name, got, err)
		}
		r.Close()
	}
	_, err := client.Stat(ctx, "../doors")
	wantCode(t, err, choir.CodeInvalid)
	without := s.create(t, choir.RoleDirector, nil)
	_, err = without.client.Stat(ctx, "x")
	wantCode(t, err, choir.CodeUnavailable)
}

// launches checks that two starts of the role have launch numbers 1 and 2, and that a
// second role is refused.
func (s suite) launches(t *testing.T) {
	b, ctx := s.create(t, choir.RoleAssociate, nil), timeout(t)
	client := b.client
	a, err := client.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for launch := 1; launch <= 2; launch++ {
		pid, err := client.StartRole(ctx, associate)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := client.Hello(ctx); err != nil || info.RolePID != pid || info.Role != associate.Name {
			t.Errorf("role %d: init says %+v, %v", pid, info, err)
		}
		_, err = client.StartRole(ctx, associate)
		wantCode(t, err, choir.CodeBusy)
		if err := client.SendCredentials(ctx, json.RawMessage(`{}`)); err != nil {
			t.Error(err)
		}
		if err := client.StopRole(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-a.Notices():
			if n.Kind != guest.NoticeRoleExited || n.Launch != launch || n.PID != pid || n.Exit == nil {
				t.Errorf("launch %d: the notice is %+v", launch, n)
			}
		case <-ctx.Done():
			t.Fatal("nobody told that the role has exited")
		}
	}
	wantCode(t, client.SendCredentials(ctx, json.RawMessage(`{}`)), choir.CodeNotFound)
}

// streamsAreKnown checks that streams of a role and of a tool to the same door are told
// apart, also after a restart of the role.
func (s suite) streamsAreKnown(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	d := b.stand(t)
	if _, err := d.client.StartRole(timeout(t), associate); err != nil {
		t.Fatal(err)
	}
	d.heard(t, "role")
	if out := b.run(t, play(probed.Ask)...); string(out.Stdout) != string(guest.CallerTool)+"\n" {
		t.Errorf("a tool is taken for %q: %s", out.Stdout, out.Stderr)
	}
	if err := d.client.StopRole(timeout(t)); err != nil { // the stand starts the next one
		t.Fatal(err)
	}
	d.heard(t, "role")
}

// takenUp checks that a second driver recovers a sandbox after the driver that made it
// was closed.
func (s suite) takenUp(t *testing.T) {
	setup := Setup{StateDir: DataDir(t)}
	spec, ctx := s.spec(t, choir.RoleAssociate), timeout(t)
	first := s.newDriver(t, setup)
	made, err := first.Create(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := connect(t, first, made, spec).client.StartRole(ctx, associate)
	if err != nil {
		t.Error(err)
	}
	closeDriver(t, first)
	second := s.newDriver(t, setup)
	defer closeDriver(t, second)
	found, err := second.Recover(ctx, made.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := connect(t, second, found, spec).client.Hello(ctx); err != nil || info.RolePID != pid {
		t.Errorf("the role was %d, init says %+v, %v", pid, info, err)
	}
	destroy(t, found)
	ended(t, found)
	nothingLeft(t, spec)
}

// oldHandle recovers a sandbox that has ended, as by a note that stayed, while the next one of the same
// computer and role runs, which goes on.
func (s suite) oldHandle(t *testing.T) {
	d := s.newDriver(t, Setup{StateDir: DataDir(t)})
	defer closeDriver(t, d)
	spec := s.spec(t, choir.RoleAssociate)
	first, err := d.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	destroy(t, first)
	next, err := d.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Recover(timeout(t), first.Handle())
	wantVerdict(t, sandbox.Gone, err)
	destroy(t, first)
	if _, err := connect(t, d, next, spec).client.Hello(timeout(t)); err != nil {
		t.Errorf("the next sandbox cannot be reached: %v", err)
	}
	destroy(t, next)
	nothingLeft(t, spec)
}

// orphan checks that a sandbox to which no control plane attaches ends by itself.
func (s suite) orphan(t *testing.T) {
	d := s.newDriver(t, Setup{StateDir: DataDir(t), Orphan: 200 * time.Millisecond})
	defer closeDriver(t, d)
	spec := s.spec(t, choir.RoleAssociate)
	b, err := d.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, b)
	_, err = d.Recover(timeout(t), b.Handle())
	wantVerdict(t, sandbox.Gone, err)
	nothingLeft(t, spec)
}

func (s suite) refusedSpecs(t *testing.T) {
	for field, change := range map[string]func(*sandbox.Spec){
		"computer":  func(spec *sandbox.Spec) { spec.Computer = "../x" },
		"workspace": func(spec *sandbox.Spec) { spec.Mounts[0].Folder = "workspace" },
		"target":    func(spec *sandbox.Spec) { spec.Mounts[0].Target = "/etc" },
		"transport": func(spec *sandbox.Spec) { spec.Mounts[0].Transport = "pigeon" },
		"guest":     func(spec *sandbox.Spec) { spec.Guest = "guest" },
	} {
		spec := s.spec(t, choir.RoleAssociate)
		whole := spec
		change(&spec)
		b, err := s.driver.Create(timeout(t), spec)
		wantCode(t, err, choir.CodeInvalid)
		if err == nil {
			t.Errorf("it was made with a %s that cannot be", field)
			destroy(t, b)
		}
		nothingLeft(t, whole)
	}
}

func (s suite) cancelledCreate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec := s.spec(t, choir.RoleAssociate)
	if b, err := s.driver.Create(ctx, spec); err == nil {
		t.Error("it was made")
		destroy(t, b)
	}
	nothingLeft(t, spec)
}

func (s suite) usage(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	b.waiting(t)
	if u, err := b.Usage(timeout(t)); err != nil || u.Processes < 2 {
		t.Errorf("init and a command use %+v, %v", u, err)
	}
	destroy(t, b)
	_, err := b.Usage(timeout(t))
	wantCode(t, err, choir.CodeNotFound)
}
