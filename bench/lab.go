package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
)

// driver is a driver of sandboxes that ends with its lab.
type driver interface {
	sandbox.Driver
	io.Closer
}

// lab is the scratch folder of one benchmark and what lives in it.
type lab struct {
	dir      string
	quick    bool
	events   int
	image    string // of virtual machines; empty for none
	version  string
	versions Versions
	driver   driver
	folders  int // how many were made
}

func newLab(o Options) (*lab, error) {
	base := o.Dir
	if base == "" {
		base = "/var/tmp"
	}
	dir, err := os.MkdirTemp(base, "choir-bench-")
	if err == nil {
		// Sandboxes have host users of their own, who must get through.
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		return nil, choir.Wrap("bench", choir.CodeUnavailable, err, "make a scratch folder in %s", base)
	}
	l := &lab{dir: dir, quick: o.Quick, events: o.Events, image: o.Image, version: o.Version, versions: findVersions(o.Version)}
	l.driver = local.New(local.Config{StateDir: filepath.Join(dir, "state")})
	return l, nil
}

func (l *lab) close() error {
	return choir.Wrap("bench", choir.CodeUnavailable, errors.Join(l.driver.Close(), os.RemoveAll(l.dir)), "clear %s away", l.dir)
}

// count is how many samples to take: few for a quick run.
func (l *lab) count(n int) int {
	if l.quick {
		return min(n, 3)
	}
	return n
}

// folder is a new one, which others can enter.
func (l *lab) folder() (string, error) {
	l.folders++
	dir := filepath.Join(l.dir, strconv.Itoa(l.folders))
	return dir, choir.Wrap("bench", choir.CodeUnavailable, os.Mkdir(dir, 0o711), "make a folder")
}

// emitSkipped emits rows that are not measured, with the reason.
func emitSkipped(rows []Row, why string, emit func(Row)) {
	for _, r := range rows {
		r.Skipped = why
		emit(r)
	}
}

// pauseFor waits for a time, and returns the error of ctx if that ends before.
func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cannotIsolate says why no sandbox can be made here; empty when one can.
func (l *lab) cannotIsolate(ctx context.Context) string {
	return cannotIsolate(ctx, l.driver)
}

// cannotIsolate says why a driver can make no sandbox here; empty when it can.
func cannotIsolate(ctx context.Context, d driver) string {
	if _, err := guestbin.Read(guestbin.Init); err != nil {
		return err.Error()
	}
	if r := d.Probe(ctx); !r.Usable {
		for _, c := range r.Checks {
			if c.Required && !c.OK {
				return "this machine cannot isolate a sandbox: " + c.Detail
			}
		}
		return "this machine cannot isolate a sandbox"
	}
	return ""
}

// guests puts the guest binaries where sandboxes can run them.
func (l *lab) guests() (string, error) {
	dir := filepath.Join(l.dir, "guest")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", choir.Wrap("bench", choir.CodeUnavailable, err, "make the folder of guest binaries")
	}
	for _, name := range guestbin.Names() {
		raw, err := guestbin.Read(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o111)
		}
		if err != nil {
			return "", choir.Wrap("bench", choir.CodeUnavailable, err, "install %s", name)
		}
	}
	return dir, nil
}

// firstUID is where the host users of measured sandboxes begin.
const firstUID = 600_000

// spec makes the folders of an Associate's sandbox, which has everything a
// sandbox can have.
func (l *lab) spec() (sandbox.Spec, error) {
	guests, err := l.guests()
	if err != nil {
		return sandbox.Spec{}, err
	}
	dir, err := l.folder()
	if err != nil {
		return sandbox.Spec{}, err
	}
	transport := sandbox.TransportBind
	if kinds := l.driver.Capabilities().Transports; !slices.Contains(kinds, transport) {
		transport = kinds[0]
	}
	s := sandbox.Spec{
		Computer: choir.DeriveID(benchComputer, strconv.Itoa(l.folders)), Role: choir.RoleAssociate, Guest: guests,
		Doors: filepath.Join(dir, "doors"), Mounts: []sandbox.Mount{sandbox.Workspace(filepath.Join(dir, "workspace"), transport)},
		UID: firstUID + os.Getpid()*1000 + l.folders%1000,
	}
	err = makeOwnedFolder(s.Doors, os.Geteuid(), s.UID, 0o750)
	if transport == sandbox.TransportBind {
		err = errors.Join(err, makeOwnedFolder(s.WorkspaceFolder(), s.UID, s.UID, 0o700))
	}
	return s, err
}

// makeOwnedFolder makes a folder and, when run as root, gives it to a user; without
// root it stays the caller's.
func makeOwnedFolder(dir string, uid, gid int, mode os.FileMode) error {
	err := os.Mkdir(dir, mode)
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(dir, uid, gid)
	}
	return choir.Wrap("bench", choir.CodeUnavailable, err, "make %s", dir)
}

// box is a sandbox that runs.
type box struct {
	sandbox.Sandbox
	client *guest.Client
}

func (l *lab) create(ctx context.Context, s sandbox.Spec) (*box, error) {
	made, err := l.driver.Create(ctx, s)
	if err != nil {
		return nil, err
	}
	return &box{made, guest.NewClient(made.Dial)}, nil
}

// destroyTimeout bounds the end of one sandbox.
const destroyTimeout = 30 * time.Second

// end ends the sandbox, also when the context has ended.
func (b *box) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), destroyTimeout)
	defer cancel()
	return b.Destroy(ctx)
}

// quiet is a command of a peer: it shares no setting with the user's.
func quiet(ctx context.Context, dir string, argv ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = []string{"PATH=" + systemPath, "HOME=" + dir, "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
	return c
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
