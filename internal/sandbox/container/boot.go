package container

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Draft implements host.Maker.
func (m *machine) Draft(spec sandbox.Spec) *box {
	workspace, has := spec.Workspace()
	name := host.NewName(spec)
	b := newBox(m, state{
		Boot: m.bootID, Name: name, Folder: filepath.Join(m.boxes, name), Doors: spec.Doors, Engine: m.engine.title,
		Limited: m.engine.limits, DiskLimited: spec.DiskLimited || !has || workspace.Transport == sandbox.TransportCopy,
	})
	if has {
		b.state.Workspace, b.state.Toolchains = true, m.cfg.Toolchains
	}
	return b
}

// Shortages implements host.Maker. The engine starts the container.
func (m *machine) Shortages() host.Shortages { return m.engine.countShortages() }

// Fill implements host.Maker. It starts a container.
func (m *machine) Fill(ctx context.Context, b *box, spec sandbox.Spec) error {
	listener, err := host.ListenDoor(spec.Doors)
	if err != nil {
		return err
	}
	defer listener.Close() // choir-init has its own: if it dies, dialling must fail
	err = b.Making.NoteFile(b.state.Folder)
	if err == nil {
		err = b.Making.NoteContainer(m.engine.socket, b.state.Name)
	}
	if err != nil {
		return err
	}
	door, err := m.makeDoor(b, spec)
	if err != nil {
		return err
	}
	defer door.Close()
	b.state.Container, err = m.create(ctx, program{name: b.state.Name, argv: m.initArgs(spec), spec: spec, door: b.state.doorFolder()})
	if err != nil {
		b.state.Container = b.state.Name // it may be there, and its id be lost with the engine's answer
		return err
	}
	pid, err := m.engine.start(ctx, b.state.Container)
	if err != nil {
		return m.notMade(ctx, b.state.Container, err, "the container did not start")
	}
	if b.Main, err = host.OpenProcess(pid, 0); err != nil {
		return m.notMade(ctx, b.state.Container, err, "the container has ended already")
	}
	// By the group and not by the engine: what an engine paused nobody would resume if this process
	// were killed.
	b.Group = host.OpenGroupNamed(pid, b.state.Container)
	b.state.Init = host.ProcessName{PID: pid, Start: b.Main.Start}
	if err := b.Making.NoteProcess(b.state.Init); err != nil {
		return err
	}
	if b.state.Monitor, err = parentOf(pid); err != nil {
		return m.notMade(ctx, b.state.Container, err, "the container has ended already")
	}
	if err := handOver(ctx, door, listener, b.Main); err != nil {
		return m.notMade(ctx, b.state.Container, err, "choir-init did not fetch its control door")
	}
	listener.Close()
	if err := os.Remove(filepath.Join(b.state.doorFolder(), sandbox.ControlSocket)); err != nil {
		return choir.Wrap("container.create", choir.CodeInternal, err, "remove the socket at which choir-init fetched its control door")
	}
	if _, err := guest.NewClient(b.DialEarly).Hello(ctx); err != nil {
		return m.notMade(ctx, b.state.Container, err, "the sandbox did not answer")
	}
	return nil
}

// parentOf returns the parent of a process, which is not PID 1.
func parentOf(pid int) (host.ProcessName, error) {
	child, err := host.ReadStat(pid)
	if err != nil || child.Parent <= 1 {
		return host.ProcessName{}, err
	}
	parent, err := host.ReadStat(child.Parent)
	return host.ProcessName{PID: child.Parent, Start: parent.Start}, err
}

// makeDoor makes the sandbox's folder and in it the socket at which choir-init fetches the
// control door, which the computer's host user alone may connect to.
func (m *machine) makeDoor(b *box, spec sandbox.Spec) (*net.UnixListener, error) {
	const what = "make the folder of a sandbox"
	for _, dir := range []string{b.state.Folder, b.state.doorFolder()} {
		if err := os.Mkdir(dir, 0o711); err != nil {
			return nil, choir.Wrap("container.create", choir.CodeUnavailable, err, what)
		}
		if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask
			return nil, choir.Wrap("container.create", choir.CodeUnavailable, err, what)
		}
	}
	socket, err := host.ListenDoor(b.state.doorFolder())
	if err != nil {
		return nil, err
	}
	defer socket.Close() // the listener has its own
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(b.state.doorFolder(), sandbox.ControlSocket), spec.UID, spec.UID); err != nil {
			return nil, choir.Wrap("container.create", choir.CodeUnavailable, err, what)
		}
	}
	listener, err := net.FileListener(socket)
	if err != nil {
		return nil, choir.Wrap("container.create", choir.CodeInternal, err, what)
	}
	unixListener := listener.(*net.UnixListener)
	unixListener.SetUnlinkOnClose(false)
	return unixListener, nil
}

// handOver sends the control door's listening socket to the first process that connects to
// door, which must be the container's. It fails when that process ends, or ctx.
func handOver(ctx context.Context, door *net.UnixListener, listener *os.File, init *host.Process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if init.Wait(ctx) == nil {
			cancel(errors.New("the container has ended"))
		}
	}()
	defer func() { cancel(nil); <-watched }()
	stop := context.AfterFunc(ctx, func() { door.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := door.AcceptUnix()
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	defer conn.Close()
	if err := checkPeer(conn, init.PID); err != nil {
		return err
	}
	_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(int(listener.Fd())), nil)
	return err
}

// checkPeer returns an error unless the other end of conn is the process pid.
func checkPeer(conn *net.UnixConn, pid int) error {
	peer, err := peerOf(conn)
	if err != nil {
		return err
	}
	if peer != pid {
		return choir.E("container.create", choir.CodeForbidden, "process %d came for the control door, and not the container's first, %d", peer, pid)
	}
	return nil
}

// peerOf returns the number of the process at the other end of conn.
func peerOf(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) {
		peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if peerErr != nil {
		return 0, peerErr
	}
	return int(peer.Pid), nil
}

// notMade returns code unavailable for a sandbox that could not be made, with the output of
// the container.
func (m *machine) notMade(ctx context.Context, id string, cause error, what string) error {
	e := &choir.Error{Op: "container.create", Code: choir.CodeUnavailable, Msg: what, Err: cause}
	if said := m.engine.output(ctx, id); said != "" {
		e.Msg += ", saying " + strconv.Quote(said)
	}
	return e
}
