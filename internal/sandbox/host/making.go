package host

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// Makings removes the sandboxes that are being made when this process is killed. It has one guard
// for all of them: a process that has open a file in memory with the list of their parts, and that
// reads it when a pipe ends. The zero value is ready to use; it is safe for concurrent use.
type Makings struct {
	mu    sync.Mutex // guards everything below
	guard *guard     // nil before the first making
	list  *os.File   // as guard
	slots []*Making  // by number; nil for a free one
}

// Making is a sandbox that is being made, from StartMaking until EndMaking.
type Making struct {
	of   *Makings
	slot int
	used int // bytes of the slot in the list, guarded by of.mu
	// reserve are file descriptors that Abandon frees, so that a sandbox that lacked some can be
	// removed; guarded by of.mu.
	reserve []int
}

// reserved is how many file descriptors the removal of a sandbox needs at once: to list what is
// in its cgroup, and in its folder and the folders in that.
const reserved = 6

// openReserve opens the reserve.
func (k *Making) openReserve() error {
	for range reserved {
		fd, err := unix.FcntlInt(k.of.list.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			k.closeReserve()
			return choir.Wrap(opMaking, choir.CodeUnavailable, err, "keep file descriptors for the removal of a sandbox")
		}
		k.reserve = append(k.reserve, fd)
	}
	return nil
}

// closeReserve closes it. It is idempotent.
func (k *Making) closeReserve() {
	for _, fd := range k.reserve {
		unix.Close(fd)
	}
	k.reserve = nil
}

// FreeReserve frees the file descriptors that are kept for the removal of a sandbox, which follows.
// It does nothing for nil.
func (k *Making) FreeReserve() {
	if k == nil {
		return
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	k.closeReserve()
}

// StartMaking registers a sandbox with its control door. Code unavailable: the guard cannot be
// started. The caller calls EndMaking.
func (m *Makings) StartMaking(doors string) (*Making, error) {
	m.mu.Lock()
	if err := m.ensureGuard(); err != nil {
		m.mu.Unlock()
		return nil, choir.Wrap(opMaking, choir.CodeUnavailable, err, "start the process that ends a sandbox whose control plane is killed while it makes it")
	}
	slot := slices.Index(m.slots, nil)
	if slot < 0 {
		slot = len(m.slots)
		m.slots = append(m.slots, nil)
	}
	k := &Making{of: m, slot: slot}
	m.slots[slot] = k
	err := k.openReserve()
	m.mu.Unlock()
	if err != nil {
		k.EndMaking()
		return nil, err
	}
	if err := k.NoteFile(doorIn(doors)); err != nil {
		k.EndMaking()
		return nil, err
	}
	return k, nil
}

// NoteGroup registers a group, whose processes the guard kills.
func (k *Making) NoteGroup(g Group) error {
	for _, dir := range g.Folders() {
		if err := k.note("group", dir); err != nil {
			return err
		}
	}
	return nil
}

// NoteFile registers a file or a folder.
func (k *Making) NoteFile(path string) error { return k.note("file", path) }

// NoteProcess registers a process that is in no group. The guard kills it with its children.
func (k *Making) NoteProcess(p ProcessName) error {
	return k.note("process", fmt.Sprint(p.PID, " ", p.Start))
}

// NoteContainer registers a container of the engine at a socket, by its name.
func (k *Making) NoteContainer(socket, name string) error {
	return k.note("container", name+" "+socket)
}

const opMaking = "host.making"

// slotBytes is the size of a slot of the list.
const slotBytes = 32 << 10

// note writes one thing into the list. It does nothing for nil.
func (k *Making) note(kind, value string) error {
	if k == nil {
		return nil
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	line := kind + " " + value + ";\n" // without a semicolon it is not whole
	if strings.Contains(value, "\n") || k.used+len(line) > slotBytes {
		return choir.E(opMaking, choir.CodeInvalid, "the path %.100q is too long or has a line break", value)
	}
	_, err := k.of.list.WriteAt([]byte(line), k.at())
	k.used += len(line)
	return choir.Wrap(opMaking, choir.CodeUnavailable, err, "note a part of a sandbox that is being made")
}

// at returns the place of the next line in the list.
func (k *Making) at() int64 { return int64(k.slot*slotBytes + k.used) }

// EndMaking lets the sandbox outlive this process, if there is one. It is idempotent, and does
// nothing for nil.
func (k *Making) EndMaking() {
	if k == nil {
		return
	}
	m := k.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.slots[k.slot] != k {
		return
	}
	m.slots[k.slot] = nil
	k.closeReserve()
	empty := bytes.Repeat([]byte("\n"), k.used)
	k.used = 0
	m.list.WriteAt(empty, k.at()) // its memory is there, so that this cannot fail
}

// guardPatience is how long a guard may take to read the sign of a new making.
const guardPatience = time.Second

// ensureGuard starts the guard, or another if it was killed or stands still.
func (m *Makings) ensureGuard() error {
	if m.list == nil {
		fd, err := unix.MemfdCreate("choir-makings", unix.MFD_CLOEXEC)
		if err != nil {
			return err
		}
		m.list = os.NewFile(uintptr(fd), "choir-makings")
	}
	if m.guard != nil {
		m.guard.held.SetWriteDeadline(time.Now().Add(guardPatience))
		if _, err := m.guard.held.Write([]byte{'\n'}); err == nil {
			return nil
		}
		m.guard.kill()
		m.guard = nil
	}
	var err error
	m.guard, err = startGuard([]*os.File{m.list}, makingScript)
	return err
}

// close ends the guard. No sandbox is being made any more.
func (m *Makings) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.guard != nil {
		m.guard.kill()
		m.guard = nil
	}
	if m.list != nil {
		m.list.Close()
		m.list = nil
	}
}

// makingScript first kills everything in the list and then removes it. What a group has left after
// five seconds, and an engine that does not answer, it leaves to the next start.
var makingScript = fmt.Sprintf(`PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
while read -r _; do :; done
each() {
	tr '\000' '\n' </proc/$$/fd/3 | grep ';$' | while IFS=' ' read -r kind value; do "$1_$kind" "${value%%;}"; done
}
kill_group() {
	if [ -e "$1/cgroup.kill" ]; then echo 1 >"$1/cgroup.kill"; else kill -9 $(cat "$1/cgroup.procs"); fi
}
kill_process() {
	pid=${1%%%% *} stat=$(cat "/proc/${1%%%% *}/stat") || return
	set -- ${1##* } ${stat##*) }
	[ "$1" = "${21}" ] || return
	kill -STOP "$pid"
	kill -9 $(cat /proc/$pid/task/*/children) "$pid"
}
kill_file() { :; }
kill_container() { :; }
clear_group() {
	left=%d
	until rmdir "$1" || [ ! -d "$1" ] || [ "$left" = 0 ]; do kill_group "$1"; left=$((left - 1)); sleep 0.01; done
}
clear_process() { :; }
clear_file() { rm -rf -- "$1"; }
clear_container() {
	for again in 1 2 3; do
		$briefly podman --url "unix://${1#* }" rm -f "${1%%%% *}" || $briefly docker -H "unix://${1#* }" rm -f "${1%%%% *}"
		sleep 0.2
	done
}
briefly=$(command -v timeout) && briefly="$briefly -s KILL %d"
each kill
each clear
`, 500, engineSeconds)

// engineSeconds is how long one request to an engine may take.
const engineSeconds = 5
