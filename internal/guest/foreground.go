package guest

import (
	"context"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// terminalSet are the terminals of running commands, each with the name of its command.
type terminalSet struct {
	mu  sync.Mutex // guards all
	all map[*os.File]string
}

// add adds the terminal of a command that was started by name; the returned function
// removes it.
func (t *terminalSet) add(master *os.File, name string) (remove func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[*os.File]string{}
	}
	t.all[master] = name
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.all, master)
	}
}

// countForeground handles the operation foreground: it counts the terminals in whose
// foreground another program runs than the shell that was started there.
func (s *Server) countForeground(context.Context, *wire, *request) (any, error) {
	s.terminals.mu.Lock()
	defer s.terminals.mu.Unlock()
	out := &foreground{}
	for master, shell := range s.terminals.all {
		if runsProgram(master, shell) {
			out.Programs++
		}
	}
	return out, nil
}

// runsProgram reports whether another program than the shell is in the foreground of a
// terminal. An interactive shell leads the terminal's session and puts each job into a
// process group of its own. The name of the leader tells whether it replaced itself by
// exec. A terminal that cannot be asked has ended, or not begun.
func runsProgram(master *os.File, shell string) bool {
	conn, err := master.SyscallConn()
	if err != nil {
		return false
	}
	var leader, group int
	asked := conn.Control(func(fd uintptr) {
		if leader, err = unix.IoctlGetInt(int(fd), unix.TIOCGSID); err == nil {
			group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		}
	})
	if asked != nil || err != nil {
		return false
	}
	return leader != group || !isNamed(leader, path.Base(shell))
}

// maxComm is the length at which the kernel cuts the name of a process.
const maxComm = 15

// isNamed reports whether a process runs a program of a name. A process that has ended runs
// none, and gets true, because nothing is in its foreground.
func isNamed(pid int, name string) bool {
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err != nil || strings.TrimSuffix(string(comm), "\n") == name[:min(len(name), maxComm)]
}

// Foreground returns the number of terminals in whose foreground another program runs than
// the shell that Exec started there.
func (c *Client) Foreground(ctx context.Context) (int, error) {
	var f foreground
	err := c.call(ctx, &request{Op: opForeground}, &f)
	return f.Programs, err
}
