package microvm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// The names of files in a room: the folder in which a Firecracker process runs, with all that
// it opens. In a jail the room is its root folder.
const (
	roomAPI     = "api.sock"
	roomKernel  = "kernel"
	roomInitial = "initial"
	roomRoot    = "root"
	roomDisk    = "disk"
	roomState   = "snapshot.state"
	roomMemory  = "snapshot.memory"
)

// copyPrefix is of names of copies in the driver's folder.
const copyPrefix = "copy-"

// roomsIn returns the folder of all rooms, which the jailer takes as its base.
func roomsIn(cfg Config) string { return filepath.Join(cfg.StateDir, "machines") }

// furnish makes the room of a machine: links to what all machines share, a new disk, and,
// unless the machine is not to have an initial file system, the socket at which it says that
// it is ready. The caller closes ready.
func (f *firecrackerMonitor) furnish(ctx context.Context, b *box, spec sandbox.Spec) (ready *os.File, err error) {
	if err := f.makeRoom(b, spec); err != nil {
		return nil, err
	}
	links := map[string]string{roomKernel: f.kernel}
	if spec.Guest != "" {
		if links[roomInitial], err = f.m.initialFor(spec.Guest); err != nil {
			return nil, err
		}
		links[roomRoot] = f.cfg.Rootfs
	}
	for name, path := range host.Sorted(links) {
		if err := f.link(path, filepath.Join(b.state.Room, name)); err != nil {
			return nil, choir.Wrap("microvm.create", choir.CodeUnavailable, err, "put a part of the image into the machine's folder")
		}
	}
	if _, has := spec.Workspace(); has {
		if err := f.makeDisk(ctx, b, spec); err != nil {
			return nil, err
		}
	}
	if spec.Guest != "" {
		if ready, err = f.listenReady(b, spec); err != nil {
			return nil, err
		}
	}
	return ready, f.giveRoom(b.state.Room, spec.UID)
}

// makeRoom makes the empty room of a new machine.
func (f *firecrackerMonitor) makeRoom(b *box, spec sandbox.Spec) error {
	b.state.Name, b.state.Socket, b.state.Computer, b.state.Role = b.name, f.cfg.UDSName, spec.Computer, spec.Role
	b.state.Room = filepath.Join(roomsIn(f.cfg), filepath.Base(f.path), b.name, "root")
	if err := b.Making.NoteFile(filepath.Dir(b.state.Room)); err != nil {
		return err
	}
	for _, dir := range []string{roomsIn(f.cfg), filepath.Dir(filepath.Dir(b.state.Room)), filepath.Dir(b.state.Room)} {
		err := os.Mkdir(dir, 0o711)
		if err == nil {
			err = os.Chmod(dir, 0o711) // whatever the umask
		}
		if err != nil && !os.IsExist(err) {
			return choir.Wrap("microvm.create", choir.CodeInternal, err, "make the folder of a machine")
		}
	}
	err := os.Mkdir(b.state.Room, 0o700)
	return choir.Wrap("microvm.create", choir.CodeInternal, err, "make the folder of a machine")
}

// giveRoom makes a room its user's; the jailer does the same.
func (f *firecrackerMonitor) giveRoom(room string, uid int) error {
	if !f.m.facts.Root {
		return nil
	}
	err := os.Chown(room, uid, uid)
	return choir.Wrap("microvm.create", choir.CodeInternal, err, "hand over the folder of a machine")
}

func (f *firecrackerMonitor) makeDisk(ctx context.Context, b *box, spec sandbox.Spec) error {
	disk, err := os.OpenFile(filepath.Join(b.state.Room, roomDisk), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return choir.Wrap("microvm.disk", choir.CodeUnavailable, err, "make a disk")
	}
	defer disk.Close()
	return f.m.format(ctx, disk, spec.UID)
}

// listenReady listens at the socket to which Firecracker carries the machine's one connection
// to the host.
func (f *firecrackerMonitor) listenReady(b *box, spec sandbox.Spec) (*os.File, error) {
	name := readyName(b.state.Socket)
	ready, err := host.ListenIn(b.state.Room, name)
	if err != nil {
		return nil, err
	}
	if f.m.facts.Root {
		if err := os.Chown(filepath.Join(b.state.Room, name), spec.UID, spec.UID); err != nil {
			ready.Close()
			return nil, choir.Wrap("microvm.create", choir.CodeInternal, err, "hand over a socket")
		}
	}
	return ready, nil
}

func readyName(socket string) string { return socket + "_" + strconv.Itoa(machine.ReadyVsock) }

// link makes a hard link to a file, or to a copy of it in the driver's folder if there can be
// none: a jail shows nothing outside of itself.
func (f *firecrackerMonitor) link(path, to string) error {
	if os.Link(path, to) == nil {
		return nil
	}
	near, err := f.copyOf(path)
	if err != nil {
		return err
	}
	return os.Link(near, to)
}

// copyOf returns the path of a copy in the driver's folder. A file that has changed has
// another.
func (f *firecrackerMonitor) copyOf(path string) (string, error) {
	f.copying.Lock()
	defer f.copying.Unlock()
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
	to := filepath.Join(f.cfg.StateDir, copyPrefix+hex.EncodeToString(sum[:8]))
	if f.copies[to] {
		return to, nil
	}
	if have, err := os.Stat(to); err != nil || have.Size() != info.Size() {
		if err := writeWhole(to, from); err != nil {
			return "", err
		}
	}
	f.copies[to] = true
	return to, nil
}

// sweepRooms removes rooms without a process that an earlier control plane left.
func (f *firecrackerMonitor) sweepRooms() error {
	rooms, _ := filepath.Glob(filepath.Join(roomsIn(f.cfg), "*", "*")) // the pattern is good
	for _, room := range rooms {
		if len(roomProcesses(filepath.Base(room))) > 0 {
			continue
		}
		if err := os.RemoveAll(room); err != nil {
			return choir.Wrap("microvm.setup", choir.CodeInternal, err, "remove a machine's folder that was left")
		}
	}
	return nil
}

// roomProcesses returns the processes that were started for the machine with a name, of the
// jailer and of Firecracker: both have it as an argument.
func roomProcesses(name string) []int { return host.FindByArgument("\x00--id\x00" + name + "\x00") }

// kvmGroup returns the group that may use a device; 0 if that is root's, or none may.
func kvmGroup(device string) int {
	info, err := os.Stat(device)
	if err != nil || info.Mode().Perm()&0o060 != 0o060 {
		return 0
	}
	return int(info.Sys().(*syscall.Stat_t).Gid) // what Linux gives
}

// readFew reads at most most bytes of a small file that another user may have made.
func readFew(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}
