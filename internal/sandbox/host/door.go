package host

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

const (
	maxSocketPath = 107 // sun_path without its final zero
	doorBacklog   = 128
)

// ListenDoor creates the control door in the folder doors and returns the listening
// socket, which is passed to choir-init. No other process can answer there: the folder is
// invisible inside, and only the control plane can write to it.
func ListenDoor(doors string) (*os.File, error) {
	if err := checkDoors(doors); err != nil {
		return nil, err
	}
	return ListenIn(doors, sandbox.ControlSocket)
}

// ListenIn creates a unix socket with a name in a folder, however long the folder's path is,
// and returns it listening. It replaces a socket that is there.
func ListenIn(dir, name string) (*os.File, error) {
	const op = "host.door"
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeInternal, err, "make a socket")
	}
	f := os.NewFile(uintptr(fd), name)
	if err := bindIn(fd, dir, name); err != nil {
		f.Close()
		return nil, choir.Wrap(op, choir.CodeInternal, err, "listen at %s in %s", name, dir)
	}
	return f, nil
}

// checkDoors returns code invalid for a folder in which another user could create a
// socket.
func checkDoors(doors string) error {
	var st unix.Stat_t
	if err := unix.Lstat(doors, &st); err != nil {
		return choir.Wrap("host.door", choir.CodeInvalid, err, "look at the folder of doors %s", doors)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Mode&0o022 != 0 || int(st.Uid) != os.Geteuid() {
		return choir.RefuseField("spec.doors", choir.ReasonDoorsNotOwn, choir.TextOf("path", doors), choir.TextOf("uid", os.Geteuid()))
	}
	return nil
}

func bindIn(fd int, dir, name string) error {
	path, done, err := shortPath(dir, name)
	if err != nil {
		return err
	}
	defer done()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return unix.Listen(fd, doorBacklog)
}

// shortPath returns a path of a socket in a folder that fits into a socket address. It is
// valid until done is called.
func shortPath(dir, name string) (path string, done func(), err error) {
	path = filepath.Join(dir, name)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	open, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fdPath(open) + "/" + name, func() { open.Close() }, nil
}

func fdPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// DialDoor connects to the control door. If the sandbox has ended the error is code
// unavailable.
func DialDoor(ctx context.Context, doors string) (net.Conn, error) {
	path, done, err := shortPath(doors, sandbox.ControlSocket)
	if err != nil {
		return nil, choir.Wrap("host.dial", choir.CodeUnavailable, err, "find the control door in %s", doors)
	}
	defer done()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	return conn, choir.Wrap("host.dial", choir.CodeUnavailable, err, "open the control door in %s", doors)
}

// DialIn connects to the unix socket with a name in a folder that another user can write to.
// It follows no symbolic link, and the process that listens there must be pid. If there is no
// such socket the error is code unavailable, if another process listens code forbidden.
func DialIn(ctx context.Context, dir, name string, pid int) (net.Conn, error) {
	const op = "host.dial"
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "find the socket %s", path)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, choir.E(op, choir.CodeForbidden, "%s is no socket", path)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", fdPath(f))
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "connect to %s", path)
	}
	if err := checkPeer(conn.(*net.UnixConn), pid); err != nil {
		conn.Close()
		return nil, choir.Wrap(op, choir.CodeForbidden, err, "connect to %s", path)
	}
	return conn, nil
}

// checkPeer returns an error unless the process that listened for a connection is pid.
func checkPeer(conn *net.UnixConn, pid int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if int(cred.Pid) != pid {
		return choir.E("host.dial", choir.CodeForbidden, "process %d listens there, not %d", cred.Pid, pid)
	}
	return nil
}

// RemoveDoor removes the control door of a sandbox whose processes have ended. It leaves a door at which
// a process listens: that of the next sandbox in the same folder. It is idempotent.
func RemoveDoor(doors string) error {
	if isOpen(doors) {
		return nil
	}
	err := os.Remove(doorIn(doors))
	if os.IsNotExist(err) {
		return nil
	}
	return choir.Wrap("host.door", choir.CodeInternal, err, "remove the control door")
}

// isOpen reports whether a process listens at the control door.
func isOpen(doors string) bool {
	conn, err := DialDoor(context.Background(), doors) // which does not wait
	if err == nil {
		conn.Close()
	}
	return err == nil || errors.Is(err, unix.EAGAIN) // it has as many connections as can wait
}

// doorIn returns the path of the control door in its folder.
func doorIn(doors string) string { return filepath.Join(doors, sandbox.ControlSocket) }
