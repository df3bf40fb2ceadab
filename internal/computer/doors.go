package computer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// openDoors makes the folder that is bound into the sandbox and listens at the
// bus and egress doors. The folder, not the sockets, is bound: a bound socket
// file is refused for ever once its listener has been made again.
func (s *seat) openDoors(ctx context.Context, l *live) error {
	doors := filepath.Join(s.dir, "doors")
	if err := s.makeFolders(doors); err != nil {
		return choir.Wrap("computer.doors", choir.CodeUnavailable, err, "make the folders of the %s's sandbox", s.role)
	}
	door, err := hub.ListenDoor(ctx, filepath.Join(doors, sandbox.BusSocket), s.c.cfg.Bus, s.fromRole)
	if err != nil {
		return err
	}
	l.doors = append(l.doors, door.Close)
	ln, err := listenUnix(doors, sandbox.EgressSocket)
	if err != nil {
		return err
	}
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	srv := &http.Server{
		Handler:           s.identify(s.c.cfg.Egress(s.c)),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ConnContext:       func(ctx context.Context, conn net.Conn) context.Context { return withPeer(ctx, conn) },
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(narrow{ln, make(chan struct{}, maxAtEgress)}) }()
	l.doors = append(l.doors, func() error {
		end()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), egressGrace)
		defer cancel()
		err := srv.Shutdown(grace)
		if err != nil {
			err = srv.Close()
		}
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		if gone := os.Remove(filepath.Join(doors, sandbox.EgressSocket)); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	})
	return nil
}

// egressGrace is how long requests at the egress door may take to notice that
// they ended.
const egressGrace = 2 * time.Second

// maxAtEgress bounds the connections at one egress door, so that a sandbox
// cannot use up the control plane's descriptors.
const maxAtEgress = 256

// narrow is a listener at which only so many connections stand at once; the
// next ones wait in the kernel's queue.
type narrow struct {
	net.Listener
	places chan struct{}
}

// Accept implements net.Listener.
func (n narrow) Accept() (net.Conn, error) {
	n.places <- struct{}{}
	leave := sync.OnceFunc(func() { <-n.places })
	conn, err := n.Listener.Accept()
	if err != nil {
		leave()
		return nil, err
	}
	return &placed{UnixConn: conn.(*net.UnixConn), leave: leave}, nil
}

// placed is a connection that holds a place; as a unix connection it still
// tells its peer.
type placed struct {
	*net.UnixConn
	leave func()
}

// Close implements net.Conn.
func (p *placed) Close() error {
	defer p.leave()
	return p.UnixConn.Close()
}

// makeFolders gives the sandbox's user what it must reach and nothing more. Each
// mode and owner is set again, whatever the umask was or a crash left undone.
func (s *seat) makeFolders(doors string) error {
	uid := s.c.cfg.HostUIDs[s.role]
	folders := []folder{{s.dir, 0o711, -1, -1}, {doors, 0o750, 0, uid}}
	if s.role == choir.RoleAssociate {
		folders = append(folders, folder{filepath.Join(s.dir, "workspace"), 0o700, uid, uid})
	}
	for _, f := range folders {
		if err := f.make(); err != nil {
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
	if !made && f.mode == 0o700 {
		return nil // the workspace's mode is its owner's business, and part of its snapshots
	}
	return os.Chmod(f.path, f.mode)
}

// listenUnix listens in a folder whose path may be longer than a socket address
// can be.
func listenUnix(dir, name string) (net.Listener, error) {
	path := filepath.Join(dir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, choir.Wrap("computer.doors", choir.CodeUnavailable, err, "replace the old door")
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, choir.Wrap("computer.doors", choir.CodeUnavailable, err, "open the folder of doors")
	}
	defer d.Close()
	ln, err := net.Listen("unix", filepath.Join("/proc/self/fd", strconv.Itoa(int(d.Fd())), name))
	if err != nil {
		return nil, choir.Wrap("computer.doors", choir.CodeUnavailable, err, "listen at the %s door", name)
	}
	// The address is only valid while d is open, so closing must not unlink it.
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, choir.Wrap("computer.doors", choir.CodeUnavailable, errors.Join(err, ln.Close()), "open the %s door", name)
	}
	return ln, nil
}

type peerKey struct{}

// peer is who stands at the egress door.
type peer struct {
	pid  int32
	seat *seat
}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	unixConn, ok := conn.(syscall.Conn)
	if !ok {
		return ctx
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return ctx
	}
	var cred *unix.Ucred
	if raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }) != nil || err != nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, &peer{pid: cred.Pid})
}

// identify adds the seat to what is known of the caller.
func (s *seat) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := r.Context().Value(peerKey{}).(*peer); ok {
			r = r.WithContext(context.WithValue(r.Context(), peerKey{}, &peer{pid: p.pid, seat: s}))
		}
		next.ServeHTTP(w, r)
	})
}

// Caller says whose sandbox a request at the egress door comes from, and
// whether it is the role's own process or any other program in it.
func Caller(r *http.Request) (role choir.Role, isRole bool) {
	p, ok := r.Context().Value(peerKey{}).(*peer)
	if !ok || p.seat == nil {
		return "", false
	}
	return p.seat.role, p.seat.fromRole(p.pid)
}
