package host

import (
	"context"
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
	const op = "host.door"
	if err := checkDoors(doors); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeInternal, err, "make a socket")
	}
	f := os.NewFile(uintptr(fd), sandbox.ControlSocket)
	if err := bindDoor(fd, doors); err != nil {
		f.Close()
		return nil, choir.Wrap(op, choir.CodeInternal, err, "listen at the control door in %s", doors)
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
		return choir.Invalid("spec.doors", "%s is not a folder that only the control plane can write", doors).
			WithRemedy("chown %d %s && chmod go-w %s", os.Geteuid(), doors, doors)
	}
	return nil
}

func bindDoor(fd int, doors string) error {
	path, done, err := shortPath(doors)
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

// shortPath returns a path of the control door that fits into a socket address. It is
// valid until done is called.
func shortPath(doors string) (path string, done func(), err error) {
	path = filepath.Join(doors, sandbox.ControlSocket)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.OpenFile(doors, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	short := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + sandbox.ControlSocket
	return short, func() { dir.Close() }, nil
}

// DialDoor connects to the control door. If the sandbox has ended the error is code
// unavailable.
func DialDoor(ctx context.Context, doors string) (net.Conn, error) {
	path, done, err := shortPath(doors)
	if err != nil {
		return nil, choir.Wrap("host.dial", choir.CodeUnavailable, err, "find the control door in %s", doors)
	}
	defer done()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	return conn, choir.Wrap("host.dial", choir.CodeUnavailable, err, "open the control door in %s", doors)
}

// RemoveDoor removes the control door. It is idempotent.
func RemoveDoor(doors string) error {
	err := os.Remove(filepath.Join(doors, sandbox.ControlSocket))
	if os.IsNotExist(err) {
		return nil
	}
	return choir.Wrap("host.door", choir.CodeInternal, err, "remove the control door")
}
