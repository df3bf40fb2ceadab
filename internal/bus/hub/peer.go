package hub

import (
	"bufio"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// peerPID is the pid, as this process sees it, of whoever connected.
func peerPID(nc *net.UnixConn) (int32, error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return 0, choir.Wrap("bus.door", choir.CodeInternal, err, "look at a socket")
	}
	var cred *unix.Ucred
	var got error
	err = raw.Control(func(fd uintptr) {
		cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = got
	}
	if err != nil {
		return 0, choir.Wrap("bus.door", choir.CodeInternal, err, "ask who connected")
	}
	return cred.Pid, nil
}

// IsGuest reports whether the process with this pid here has the pid inside in
// a pid namespace directly below ours. A process of a namespace nested deeper
// is nobody's role, whatever its pid there.
func IsGuest(host int32, inside int) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(int(host)) + "/status")
	if err != nil {
		return false
	}
	defer f.Close()
	return hasPID(f, inside)
}

// hasPID reads /proc/PID/status: NSpid lists the pid here and the one below.
func hasPID(status io.Reader, inside int) bool {
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "NSpid:"); ok {
			pids := strings.Fields(list)
			return len(pids) == 2 && pids[1] == strconv.Itoa(inside)
		}
	}
	return false
}
