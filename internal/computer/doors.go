package computer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
)

// How many streams a sandbox may have open at a time, so that it cannot use up
// the control plane's descriptors. Tools have places of their own and cannot take
// the role's. At the bus a role has two streams while its credentials are renewed.
const (
	maxRoleAtBus    = 16
	maxRoleAtEgress = 32
	maxToolAtEgress = 256
)

// doors serve the streams that the programs of one sandbox open.
type doors struct {
	ofRole []*guest.Listener // where the role's streams come from
	bus    *hub.Door
	egress *http.Server
	end    context.CancelFunc // of every request at the egress door
	served chan error         // one for each listener at the egress door
}

// serveDoors begins to accept streams from a sandbox, at the bus from its role
// only. Who opened one comes with it from init.
func (s *seat) serveDoors(ctx context.Context, client *guest.Client) *doors {
	bus := client.Listen(roledoor.Bus, guest.CallerRole, maxRoleAtBus)
	role := client.Listen(roledoor.Egress, guest.CallerRole, maxRoleAtEgress)
	tools := client.Listen(roledoor.Egress, guest.CallerTool, maxToolAtEgress)
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	d := &doors{ofRole: []*guest.Listener{bus, role}, end: end, served: make(chan error, 2)}
	d.egress = &http.Server{
		Handler:           s.c.cfg.Egress(s.c),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ConnContext:       s.withCaller,
	}
	d.bus = hub.ServeDoor(context.WithoutCancel(ctx), bus, s.c.cfg.Bus)
	for _, l := range []*guest.Listener{role, tools} {
		go func() { d.served <- d.egress.Serve(l) }()
	}
	return d
}

// egressGrace is how long requests at the egress door may take to notice that
// they ended.
const egressGrace = 2 * time.Second

// endRole ends the streams of a role that has exited.
func (d *doors) endRole(launch int) {
	for _, l := range d.ofRole {
		l.EndRole(launch)
	}
}

// close ends every stream and waits for whoever serves them.
func (d *doors) close(ctx context.Context) error {
	d.end()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), egressGrace)
	defer cancel()
	err := d.egress.Shutdown(grace)
	if err != nil {
		err = d.egress.Close()
	}
	for range cap(d.served) {
		if served := <-d.served; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
	}
	return errors.Join(err, d.bus.Close())
}

// oldSockets are doors that choir listened at in the folder of the control door
// once; a sandbox of that time may have left them.
var oldSockets = []string{"bus.sock", "egress.sock"}

// makeFolders gives the sandbox's user what it must reach and nothing more. Each
// mode and owner is set again, whatever the umask was or a crash left undone.
func (s *seat) makeFolders() error {
	uid := s.c.cfg.HostUIDs[s.role]
	doors := s.doorsFolder()
	folders := []folder{{path: s.dir, mode: 0o711, uid: -1, gid: -1}, {path: doors, mode: 0o700}}
	if s.role == choir.RoleAssociate {
		folders = append(folders, folder{s.workspace(), 0o700, uid, uid, true})
	}
	for _, f := range folders {
		if err := f.make(); err != nil {
			return err
		}
	}
	s.limitDisk()
	for _, name := range oldSockets {
		if err := os.Remove(filepath.Join(doors, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// folder is one that a sandbox can reach; uid and gid count for root only.
type folder struct {
	path     string
	mode     os.FileMode
	uid, gid int
	owned    bool // by the computer's user, who may change its mode
}

func (f folder) make() error {
	err := os.Mkdir(f.path, f.mode)
	made := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if os.Geteuid() == 0 {
		if err := os.Lchown(f.path, f.uid, f.gid); err != nil {
			return err
		}
	}
	if !made && f.owned {
		return nil // the workspace's mode is its owner's business, and part of its snapshots
	}
	return os.Chmod(f.path, f.mode)
}

// doorsFolder is where the driver listens at the control door.
func (s *seat) doorsFolder() string { return filepath.Join(s.dir, "doors") }

type callerKey struct{}

// caller is who opened a stream.
type caller struct {
	role   choir.Role // whose sandbox it is
	isRole bool
}

// withCaller notes with a connection at the egress door who opened it.
func (s *seat) withCaller(ctx context.Context, conn net.Conn) context.Context {
	stream, ok := conn.(*guest.Stream)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller{s.role, stream.Caller == guest.CallerRole})
}

// Caller says whose sandbox a request at the egress door comes from, and
// whether it is the role's own process or any other program in it.
func Caller(r *http.Request) (role choir.Role, isRole bool) {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c.role, c.isRole
}
