package computer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
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
	srv := &http.Server{
		Handler:           s.identify(s.c.cfg.Egress(s.c)),
		ReadHeaderTimeout: 10 * time.Second,
		ConnContext:       func(ctx context.Context, conn net.Conn) context.Context { return withPeer(ctx, conn) },
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	l.doors = append(l.doors, func() error {
		err := srv.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	})
	return nil
}

// makeFolders gives the sandbox's user what it must reach and nothing more.
func (s *seat) makeFolders(doors string) error {
	root := os.Geteuid() == 0
	if err := os.MkdirAll(s.dir, 0o711); err != nil {
		return err
	}
	if err := os.MkdirAll(doors, 0o750); err != nil {
		return err
	}
	if root {
		if err := os.Chown(doors, 0, s.c.cfg.HostUID); err != nil {
			return err
		}
	}
	if s.role != choir.RoleAssociate {
		return nil
	}
	workspace := filepath.Join(s.dir, "workspace")
	err := os.Mkdir(workspace, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err == nil && root {
		err = os.Chown(workspace, s.c.cfg.HostUID, s.c.cfg.HostUID)
	}
	return err
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
	return ln, choir.Wrap("computer.doors", choir.CodeUnavailable, os.Chmod(path, 0o666), "open the %s door", name)
}

type peerKey struct{}

// peer is who stands at the egress door.
type peer struct {
	pid  int32
	seat *seat
}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	raw, err := conn.(*net.UnixConn).SyscallConn()
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
