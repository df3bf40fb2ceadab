package microvm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/microvm/firecracker"
	"choiros/internal/sparse"

	"golang.org/x/sys/unix"
)

// frozenName is the name of the description in the folder of a frozen sandbox. The other files
// have the names that they have in a room.
const frozenName = "frozen.json"

// frozen describes a frozen sandbox: whose it is, and of what it cannot be parted.
type frozen struct {
	Computer choir.ID     `json:"computer"`
	Role     choir.Role   `json:"role"`
	Kernel   choir.Digest `json:"kernel"`
	Root     choir.Digest `json:"root"`
	Socket   string       `json:"socket"` // the vsock's, which a snapshot has
	Most     int64        `json:"most"`
	Disk     bool         `json:"disk"`
}

var _ sandbox.Freezer = (*Driver)(nil)

// Freeze implements sandbox.Freezer, for machines of Firecracker. The machine is paused while
// its memory and its disk are written.
func (d *Driver) Freeze(ctx context.Context, s sandbox.Sandbox, folder string) error {
	const op = "microvm.freeze"
	b, ok := s.(*box)
	if !ok || b.state.Facts.VMM != VMMFirecracker {
		return choir.Refuse(op, choir.ReasonVMFreezeFirecracker)
	}
	m, f, err := d.beginFirecracker()
	if err != nil {
		return err
	}
	defer d.EndCall()
	if err := b.CheckRunning(op); err != nil {
		return err
	}
	if err := b.Resume(ctx); err != nil { // a paused monitor would not answer
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return choir.Wrap(op, choir.CodeUnavailable, err, "make the folder of a frozen sandbox")
	}
	if err = f.writeFrozen(ctx, b, m, folder); err == nil {
		if err = b.killMonitor(); err != nil {
			err = errors.Join(err, f.resume(ctx, b))
		}
	}
	if err != nil {
		return errors.Join(choir.Wrap(op, "", err, "freeze a sandbox"), os.RemoveAll(folder))
	}
	// The folder is all that remains of the sandbox, whether ctx ends now or something fails.
	ctx, cancel := host.ContextOfRemoval(ctx)
	defer cancel()
	return choir.Wrap(op, "", b.Destroy(ctx), "remove the rest of a sandbox that was frozen to %s", folder)
}

// killMonitor kills the monitor, also when its driver was closed meanwhile, which closes Main.
func (b *box) killMonitor() error {
	p, err := host.OpenNamed(host.ProcessName{PID: b.state.PID, Start: b.state.Start})
	if p == nil || err != nil {
		return err
	}
	defer p.Close()
	return p.Kill()
}

// resume lets a paused machine go on, also when ctx has ended.
func (f *firecrackerMonitor) resume(ctx context.Context, b *box) error {
	ctx, cancel := host.ContextOfRemoval(ctx)
	defer cancel()
	living, stop := b.whileItLives(ctx)
	defer stop()
	api, err := f.client(living, b)
	if err != nil {
		return err
	}
	defer api.Close()
	return errors.Join(b.removeSnapshot(), api.SetState(living, firecracker.Resumed))
}

// beginFirecracker begins a call of a driver whose monitor is Firecracker.
func (d *Driver) beginFirecracker() (*machineParts, *firecrackerMonitor, error) {
	m, err := d.BeginCall()
	if err != nil {
		return nil, nil, err
	}
	f, ok := m.vmm.(*firecrackerMonitor)
	if !ok {
		d.EndCall()
		return nil, nil, choir.E("microvm.freeze", choir.CodeUnavailable, "machines of %s cannot be frozen", m.vmm.title()).WithRemedy("set microvm.vmm to firecracker")
	}
	return m, f, nil
}

// writeFrozen pauses a machine and writes it to a folder. If it fails the machine goes on.
func (f *firecrackerMonitor) writeFrozen(ctx context.Context, b *box, m *machineParts, folder string) error {
	living, stop := b.whileItLives(ctx)
	defer stop()
	api, err := f.client(living, b)
	if err != nil {
		return err
	}
	defer api.Close()
	// Without an answer to the first it may stand still too.
	err = api.SetState(living, firecracker.Paused)
	if err == nil {
		err = api.TakeSnapshot(living, firecracker.SnapshotTo{Type: firecracker.SnapshotFull, State: roomState, Memory: roomMemory})
	}
	if err == nil {
		err = b.copyFrozen(living, m, folder)
	}
	if err != nil {
		return errors.Join(err, f.resume(ctx, b))
	}
	return nil
}

// removeSnapshot removes the files of a snapshot from a room.
func (b *box) removeSnapshot() error {
	var err error
	for _, name := range []string{roomState, roomMemory} {
		if failed := os.Remove(filepath.Join(b.state.Room, name)); !os.IsNotExist(failed) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// copyFrozen copies the files of a paused machine to the folder of a frozen sandbox. If ctx ends first
// it returns its error.
func (b *box) copyFrozen(ctx context.Context, m *machineParts, folder string) error {
	names := []string{roomState, roomMemory}
	_, err := os.Lstat(filepath.Join(b.state.Room, roomDisk))
	disk := err == nil
	if disk {
		names = append(names, roomDisk)
	}
	for _, name := range names {
		if err := copySparse(ctx, filepath.Join(b.state.Room, name), filepath.Join(folder, name), -1); err != nil {
			return choir.Wrap("microvm.freeze", choir.CodeUnavailable, err, "copy %s of a machine", name)
		}
	}
	raw, err := json.Marshal(frozen{
		Computer: b.state.Computer, Role: b.state.Role, Kernel: m.image.Kernel.Digest, Root: m.image.Root.Digest,
		Socket: b.state.Socket, Most: b.state.Most, Disk: disk,
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, frozenName), raw, 0o600)
	}
	return err
}

// contextReader is a reader that fails once a context has ended.
type contextReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// copySparse copies a plain file, which may be another user's, and leaves its holes out. The
// copy is of the user uid, unless that is negative. If ctx ends first it returns its error.
func copySparse(ctx context.Context, from, to string, uid int) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &os.PathError{Op: "copy", Path: from, Err: syscall.EINVAL}
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(sparse.NewWriter(int(out.Fd())), contextReader{ctx, sparse.NewReader(int(in.Fd()), info.Size())})
	if err == nil {
		err = out.Truncate(info.Size()) // it may end with a hole
	}
	if err == nil && uid >= 0 {
		err = out.Chown(uid, uid)
	}
	return errors.Join(err, out.Close())
}

// Thaw implements sandbox.Freezer.
func (d *Driver) Thaw(ctx context.Context, spec sandbox.Spec, folder string) (sandbox.Sandbox, error) {
	m, f, err := d.beginFirecracker()
	if err != nil {
		return nil, err
	}
	defer d.EndCall()
	if spec, err = m.CheckSpec(spec); err != nil {
		return nil, err
	}
	what, err := readFrozen(folder, spec, m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	b := m.Draft(spec)
	b.state.Most = what.Most
	if b.Making, err = d.StartMaking(spec.Doors); err != nil {
		return nil, err
	}
	if err := f.thaw(ctx, b, spec, folder, what); err != nil {
		b.Making.FreeReserve()
		host.Abandon(ctx, b)
		return nil, err
	}
	return d.Watch(ctx, b)
}

// readFrozen reads the description of a frozen sandbox and returns code conflict if it is not
// the spec's, or of another image.
func readFrozen(folder string, spec sandbox.Spec, m *machineParts) (frozen, error) {
	const op = "microvm.thaw"
	var what frozen
	raw, err := readFew(filepath.Join(folder, frozenName), 64<<10)
	if err == nil {
		err = json.Unmarshal(raw, &what)
	}
	if err != nil {
		return what, choir.Wrap(op, choir.CodeUnavailable, err, "read a frozen sandbox in %s", folder)
	}
	switch _, disk := spec.Workspace(); {
	case what.Computer != spec.Computer || what.Role != spec.Role:
		return what, choir.E(op, choir.CodeConflict, "%s has a sandbox of the %s of another computer or role", folder, what.Role)
	case disk != what.Disk || what.Socket == "" || filepath.Base(what.Socket) != what.Socket:
		return what, choir.E(op, choir.CodeConflict, "%s has a sandbox with another disk or vsock", folder)
	case what.Kernel != m.image.Kernel.Digest || what.Root != m.image.Root.Digest:
		return what, choir.E(op, choir.CodeConflict, "%s has a sandbox of another image than %s", folder, m.cfg.Rootfs).WithRemedy("let the sandbox start anew")
	}
	return what, nil
}

// thaw makes the room of a frozen machine, and in it the machine, running.
func (f *firecrackerMonitor) thaw(ctx context.Context, b *box, spec sandbox.Spec, folder string, what frozen) error {
	if err := f.m.place(b, spec); err != nil {
		return err
	}
	if err := f.refurnish(ctx, b, spec, folder, what); err != nil {
		return err
	}
	if err := f.start(ctx, b, spec); err != nil {
		return err
	}
	living, stop := b.whileItLives(ctx)
	defer stop()
	api, err := f.client(living, b)
	if err != nil {
		return b.refused(ctx, err)
	}
	defer api.Close()
	err = api.LoadSnapshot(living, firecracker.SnapshotFrom{
		State: roomState, Memory: firecracker.MemoryBackend{Type: firecracker.MemoryFile, Path: roomMemory}, Resume: true,
	})
	if err != nil {
		return b.refused(ctx, err)
	}
	if _, err := guest.NewClient(b.DialEarly).Hello(living); err != nil {
		return b.notMade(ctx, err)
	}
	return nil
}

// refurnish makes the room of a frozen machine. What it writes to is a copy.
func (f *firecrackerMonitor) refurnish(ctx context.Context, b *box, spec sandbox.Spec, folder string, what frozen) error {
	const op = "microvm.thaw"
	if err := f.makeRoom(b, spec); err != nil {
		return err
	}
	b.state.Socket = what.Socket
	if err := f.link(f.cfg.Rootfs, filepath.Join(b.state.Room, roomRoot)); err != nil {
		return choir.Wrap(op, choir.CodeUnavailable, err, "put the image into the machine's folder")
	}
	names, uid := []string{roomState, roomMemory}, -1
	if what.Disk {
		names = append(names, roomDisk)
	}
	if f.m.facts.Root {
		uid = spec.UID
	}
	for _, name := range names {
		if err := copySparse(ctx, filepath.Join(folder, name), filepath.Join(b.state.Room, name), uid); err != nil {
			return choir.Wrap(op, choir.CodeUnavailable, err, "copy %s of a frozen machine", name)
		}
	}
	return f.giveRoom(b.state.Room, spec.UID)
}
