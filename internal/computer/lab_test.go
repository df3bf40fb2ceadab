package computer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer/dispatch"
	"choiros/internal/computer/workspace"
	"choiros/internal/diskquota"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
	"choiros/internal/snapshot"
)

// hold keeps a task's command running until the test makes the file "go".
const hold = "while [ ! -e /tmp/go ]; do sleep 0.02; done"

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// labConfig says which computer of which data folder a test opens; a process of
// its own reads it.
type labConfig struct {
	Data, Guest    string
	User, Computer choir.ID
	HostUID        int // of the Associate's sandbox
	DirectorUID    int
	AutoCheckpoint dispatch.AutoCheckpoint
	KeepCalls      time.Duration
	CacheLimit     int64
	Hold           snapshot.Limits
	Disk           *diskquota.Project `json:"-"`
	Start, Scan    time.Duration
	Collect        time.Duration
	Boot           string
	Source         []byte
	Identity       time.Duration
	Egress         func(*Computer) http.Handler `json:"-"` // refuseAll without one
	// wrap stands before the driver; nil for none.
	wrap func(sandbox.Driver) sandbox.Driver
	// ground is in the place of bubblewrap and the disk; see newFakeLab.
	ground *fakeGround
}

// lab is a real computer: bus, log, driver and both sandboxes.
type lab struct {
	*Computer
	t    *testing.T
	cfg  labConfig
	wait time.Duration // patience, but for large trees
	rest func()        // ends Serve in order; once for each wake
	stop func()        // ends it in order; once
}

func newLab(t *testing.T, change ...func(*labConfig)) *lab {
	t.Helper()
	return openLab(t, newLabConfig(t, change...))
}

// newLabConfig describes a new computer in a data folder of its own.
func newLabConfig(t *testing.T, change ...func(*labConfig)) labConfig {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	if r := local.New(local.Config{StateDir: t.TempDir()}).Probe(t.Context()); !r.Usable {
		t.Skipf("this machine cannot isolate: %+v", r.Checks)
	}
	spec := sandboxtest.NewSpec(t, choir.RoleDirector)
	cfg := labConfig{Data: sandboxtest.DataDir(t), Guest: sandboxtest.GuestDir(t), User: newTestID(t), Computer: newTestID(t), HostUID: spec.UID, DirectorUID: sandboxtest.NewSpec(t, choir.RoleDirector).UID}
	for _, c := range change {
		c(&cfg)
	}
	return cfg
}

func newTestID(t testing.TB) choir.ID {
	t.Helper()
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// openLab opens and serves the computer, and stops it with the test.
func openLab(t *testing.T, cfg labConfig) *lab {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c, bus, err := cfg.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{Computer: c, t: t, cfg: cfg}
	l.wake()
	l.stop = func() {
		l.stop = func() {}
		l.rest()
		cancel()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		bus.Close()
	}
	t.Cleanup(func() { l.stop() })
	return l
}

// wake serves the computer until rest.
func (l *lab) wake() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	l.rest = func() {
		l.rest = func() {}
		cancel()
		if err := <-served; err != nil {
			l.t.Error(err)
		}
	}
}

func (cfg labConfig) open(ctx context.Context) (*Computer, *hub.Server, error) {
	bus, err := hub.Start(ctx, hub.Config{Dir: filepath.Join(cfg.Data, "bus")})
	if err != nil {
		return nil, nil, err
	}
	egress := cfg.Egress
	if egress == nil {
		egress = refuseAll
	}
	c, err := Open(ctx, Config{
		ID: cfg.Computer, User: cfg.User, Name: "lab", Dir: filepath.Join(cfg.Data, string(cfg.Computer)),
		Guest: cfg.Guest, HostUIDs: map[choir.Role]int{choir.RoleDirector: cfg.DirectorUID, choir.RoleAssociate: cfg.HostUID}, Driver: cfg.driver(), Bus: bus,
		OpenBlobs: cfg.openBlobs,
		EgressOf:  func(*Computer, *choir.EgressProfile) (bool, string) { return false, "" },
		Egress:    egress, AutoCheckpoint: cfg.AutoCheckpoint, MaxUpload: 1 << 20,
		Patience:  Patience{Resend: 200 * time.Millisecond, Cancel: time.Second, Collect: cfg.Collect, Identity: cfg.Identity, Start: cfg.Start, Scan: cfg.Scan},
		KeepCalls: cfg.KeepCalls, CacheLimit: cfg.CacheLimit, Hold: cfg.Hold, Disk: cfg.Disk, Source: cfg.Source,
		Version: "test", Boot: cfg.Boot, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		bus.Close()
	}
	return c, bus, err
}

func (cfg labConfig) openBlobs(dir string) (blob.Store, error) {
	if cfg.ground != nil {
		return cfg.ground.blobs, nil
	}
	return fs.Open(dir)
}

func (cfg labConfig) driver() (d sandbox.Driver) {
	if cfg.ground != nil {
		d = cfg.ground.nextDriver()
	} else {
		d = local.New(local.Config{StateDir: filepath.Join(cfg.Data, "sandbox")})
	}
	if cfg.wrap != nil {
		d = cfg.wrap(d)
	}
	return d
}

// refuseAll stands behind the egress door and records what was wanted.
func refuseAll(c *Computer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := c.Roles().RecordRefusal(r.Context(), choir.EgressRefused{Host: r.Host, Port: 443, Policy: "none"}, 0); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		http.Error(w, "refused", http.StatusForbidden)
	})
}

// within is a context that ends with the test's patience.
func (l *lab) within() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), cmp.Or(l.wait, patience))
	l.t.Cleanup(cancel)
	return ctx
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// guest is the Associate's control client.
func (l *lab) guest() *guest.Client {
	l.t.Helper()
	return must(l.Roles().Guest(l.within()))(l.t)
}

// rolePID is the process of the Associate in its sandbox, 0 while it does not run.
func (l *lab) rolePID() int {
	l.t.Helper()
	return must(l.guest().Hello(l.within()))(l.t).RolePID
}

// sh runs a command in the Associate's sandbox, as something in it would.
func (l *lab) sh(line string) string {
	l.t.Helper()
	p := must(l.guest().Exec(l.within(), guest.ExecSpec{Argv: []string{"sh", "-c", line}, Cwd: sandbox.WorkspaceInside}))(l.t)
	var out strings.Builder
	exit := must(p.Wait(&out, &out))(l.t)
	if exit.Code != 0 {
		l.t.Fatalf("%s: exit code %d: %s", line, exit.Code, out.String())
	}
	return out.String()
}

// write writes a file as the owner.
func (l *lab) write(path, content string) choir.FileState {
	l.t.Helper()
	return must(l.Workspace().WriteFile(l.within(), choir.RoleShell, path, strings.NewReader(content), workspace.Expect{}))(l.t)
}

// commands dispatches a deterministic task.
func (l *lab) commands(kind choir.TaskKind, lines ...string) choir.DirectorTask {
	l.t.Helper()
	task := choir.DirectorTask{Kind: kind, Instruction: "x", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone}}
	for _, line := range lines {
		task.Commands = append(task.Commands, choir.Command{Shell: line})
	}
	task = must(l.Tasks().NewTask(task))(l.t)
	must(l.Tasks().Submit(l.within(), choir.RoleCLI, task))(l.t)
	return task
}

// result waits for a task's answer.
func (l *lab) result(task choir.DirectorTask) choir.AssociateResult {
	l.t.Helper()
	return must(l.Tasks().Wait(l.within(), task.TaskID))(l.t)
}

// root is the workspace as it is, by hash.
func (l *lab) root() choir.Digest {
	l.t.Helper()
	return must(l.guest().Scan(l.within(), l.keeper))(l.t).Root
}

// waitEvent returns the first event for which want holds.
func (l *lab) waitEvent(want func(choir.Event) bool) choir.Event {
	l.t.Helper()
	ctx := l.within()
	for e, err := range l.store.Follow(ctx, 0) {
		if err != nil {
			l.t.Fatalf("waited in vain: %v\n%v", err, l.types())
		}
		if want(e) {
			return e
		}
	}
	panic("Follow ended without an error")
}

func ofType(t choir.Type) func(choir.Event) bool {
	return func(e choir.Event) bool { return e.Type == t }
}

// all reads every event of some types.
func (l *lab) all(types ...choir.Type) []choir.Event {
	l.t.Helper()
	var out []choir.Event
	for _, e := range must(l.store.EventsAfter(l.within(), 0, 0))(l.t) {
		for _, t := range types {
			if e.Type == t {
				out = append(out, e)
			}
		}
	}
	return out
}

func (l *lab) types() []choir.Type {
	var out []choir.Type
	for _, e := range must(l.store.EventsAfter(context.Background(), 0, 0))(l.t) {
		out = append(out, e.Type)
	}
	return out
}

func payload[P any](t testing.TB, e choir.Event) P {
	t.Helper()
	var p P
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// started waits until a task's command has made this file.
func (l *lab) made(path string) {
	l.t.Helper()
	l.sh("while [ ! -e '" + path + "' ]; do sleep 0.02; done")
}

// serveAsVictim serves a computer until this process is killed.
func serveAsVictim(raw string) int {
	var cfg labConfig
	if err := json.Unmarshal([]byte(raw), &cfg); err != nil {
		return 1
	}
	c, _, err := cfg.open(context.Background())
	if err == nil {
		err = c.Serve(context.Background())
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
	}
	return 1
}
