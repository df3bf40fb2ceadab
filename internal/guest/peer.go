package guest

import (
	"net"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// OutsideOnly returns code forbidden for a connection whose peer has a pid in this pid
// namespace. Only processes outside the sandbox appear as pid 0.
func OutsideOnly(conn net.Conn) error {
	pid, err := PeerPID(conn)
	if err != nil {
		return err
	}
	if pid != 0 {
		return choir.E("guest.accept", choir.CodeForbidden, "process %d is inside this sandbox; the control door is for the control plane", pid)
	}
	return nil
}

// PeerPID returns the pid of the process that connected (SO_PEERCRED); 0 if it is in no
// pid namespace visible from here.
func PeerPID(conn net.Conn) (int32, error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, choir.E("guest.accept", choir.CodeForbidden, "a peer on %T cannot be told apart", conn)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, choir.Wrap("guest.accept", choir.CodeInternal, err, "look at the peer")
	}
	var cred *unix.Ucred
	var optErr error
	err = raw.Control(func(fd uintptr) { cred, optErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err == nil {
		err = optErr
	}
	if err != nil {
		return 0, choir.Wrap("guest.accept", choir.CodeForbidden, err, "look at the peer")
	}
	return cred.Pid, nil
}
