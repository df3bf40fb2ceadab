package gvisor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// diagnosticBytes is the size of the file in memory that runsc and choir-init write to.
const diagnosticBytes = 16 << 10

// pidFile is the file in a sandbox's folder to which runsc writes the sentry's pid.
const pidFile = "pid"

// Draft implements host.Maker.
func (m *machine) Draft(spec sandbox.Spec) *box {
	workspace, has := spec.Workspace()
	inMemory := workspace.Transport == sandbox.TransportCopy
	name := host.NewName(spec)
	b := m.newBox(state{
		Boot: m.bootID, Name: name, Folder: filepath.Join(m.boxes, name), Doors: spec.Doors,
		Limits: m.limits.Name(), DiskLimited: spec.DiskLimited || !has || inMemory,
	})
	if has {
		b.state.Workspace, b.state.Toolchains = true, m.cfg.Toolchains
	}
	return b
}

// Shortages implements host.Maker. The control plane starts runsc.
func (m *machine) Shortages() host.Shortages { return host.CountShortages(os.Getpid()) }

// Fill implements host.Maker. It starts runsc and the relay.
func (m *machine) Fill(ctx context.Context, b *box, spec sandbox.Spec) error {
	listener, err := host.ListenDoor(spec.Doors)
	if err != nil {
		return err
	}
	defer listener.Close() // the relay has its own: if it dies, dialling must fail
	if err := b.Making.NoteFile(b.state.Folder); err != nil {
		return err
	}
	if err := os.Mkdir(b.state.Folder, 0o711); err != nil {
		return choir.Wrap("gvisor.create", choir.CodeUnavailable, err, "make the folder of a sandbox")
	}
	guests, err := host.CopyReadable(m.cfg.StateDir, spec.Guest)
	if err != nil {
		return err
	}
	spec.Guest = guests
	root, err := m.rootOf(rootKind{guests, b.state.Workspace})
	if err != nil {
		return err
	}
	if err := m.writeBundle(b.state.Folder, root, spec); err != nil {
		return err
	}
	if b.Group, err = m.limits.Create(b.state.Name, hostLimits(spec.Limits)); err != nil {
		return err
	}
	if err := b.Making.NoteGroup(b.Group); err != nil {
		return err
	}
	b.state.Groups = b.Group.Folders()
	if b.output, err = host.MemoryFile("choir-output", nil, diagnosticBytes); err != nil {
		return err
	}
	if err := m.start(b, spec, listener); err != nil {
		return err
	}
	listener.Close()
	if _, err := guest.NewClient(b.DialEarly).Hello(ctx); err != nil {
		return b.notMade(err, "the sandbox did not answer")
	}
	pid, err := readPID(filepath.Join(b.state.Folder, pidFile))
	if err != nil {
		return b.notMade(err, "runsc did not say which process it made")
	}
	if b.Main, err = host.OpenProcess(pid, 0); err != nil {
		return b.notMade(err, "the sandbox has ended already")
	}
	b.state.Sentry = host.ProcessName{PID: pid, Start: b.Main.Start}
	for _, part := range []*os.Process{b.monitor, b.relay} {
		host.SetVictim(part.Pid, host.VictimAlive)
	}
	return nil
}

func readPID(path string) (int, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(raw)))
}

// hostThreads and hostBytes are the threads and the memory that the sentry, the gofer, runsc
// and the relay have beside those of the programs inside.
const (
	hostThreads = 512
	hostBytes   = 256 << 20
)

// hostLimits returns the limits of the cgroup around the sandbox. The sentry limits the
// programs' processes itself: a sentry that gets no thread ends the whole sandbox.
func hostLimits(l sandbox.Limits) sandbox.Limits {
	l.Processes = 2*l.Processes + hostThreads
	l.MemoryBytes += hostBytes
	return l
}

// start starts the relay and runsc in the sandbox's group, with the two ends of a socket
// pair.
func (m *machine) start(b *box, spec sandbox.Spec, listener *os.File) error {
	outer, inner, err := socketPair()
	if err != nil {
		return err
	}
	defer outer.Close()
	defer inner.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return choir.Wrap("gvisor.create", choir.CodeInternal, err, "open %s", os.DevNull)
	}
	defer null.Close()
	err = b.Group.Start(func(attr *syscall.SysProcAttr) error {
		attr.Setsid = true // a ^C in the control plane's terminal is not for sandboxes
		b.monitor, err = os.StartProcess(m.runsc, m.runArgs(b), &os.ProcAttr{
			Dir: "/", Env: []string{}, Sys: attr, Files: []*os.File{null, b.output, b.output, inner},
		})
		return err
	})
	if err != nil {
		return choir.Wrap("gvisor.create", choir.CodeUnavailable, err, "start runsc")
	}
	if b.state.Monitor, err = nameOf(b.monitor); err != nil {
		return err
	}
	if err := b.Making.NoteProcess(b.state.Monitor); err != nil {
		return err
	}
	host.SetVictim(b.monitor.Pid, host.VictimWhileMade)
	allowFiles(b.monitor.Pid)
	err = b.Group.Start(func(attr *syscall.SysProcAttr) error {
		attr.Setsid = true
		attr.Credential = &syscall.Credential{Uid: uint32(spec.UID), Gid: uint32(spec.UID)}
		b.relay, err = os.StartProcess(filepath.Join(spec.Guest, host.InitName), []string{host.InitName, sandbox.RelayArg, b.state.Name}, &os.ProcAttr{
			Dir: "/", Env: []string{}, Sys: attr, Files: []*os.File{null, b.output, b.output, listener, outer},
		})
		return err
	})
	if err != nil {
		return choir.Wrap("gvisor.create", choir.CodeUnavailable, err, "start the relay")
	}
	host.SetVictim(b.relay.Pid, host.VictimWhileMade)
	if b.state.Relay, err = nameOf(b.relay); err != nil {
		return err
	}
	return b.Making.NoteProcess(b.state.Relay)
}

// mostFiles is the limit of the gofer's open files, of which it has one or two for each folder on
// the way to a file that is in use: folders lie as deep inside of each other as a program likes.
const mostFiles = 1 << 20

// allowFiles raises the limit of open files of runsc, before it starts the gofer with its own. A
// control plane that may not raise it leaves it as it is.
func allowFiles(pid int) {
	unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: mostFiles, Max: mostFiles}, nil) // see filesAllowed
}

// filesAllowed returns how many files the gofer may have open. Only a process with the
// capability CAP_SYS_RESOURCE may raise the limit that this one has.
func filesAllowed() uint64 {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil || own.Max >= mostFiles {
		return mostFiles
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err == nil && has[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0 {
		return mostFiles
	}
	return own.Max
}

// nameOf returns the name of a child. Until it is reaped nothing else can have its number.
func nameOf(child *os.Process) (host.ProcessName, error) {
	s, err := host.ReadStat(child.Pid)
	return host.ProcessName{PID: child.Pid, Start: s.Start}, err
}

func socketPair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, choir.Wrap("gvisor.create", choir.CodeUnavailable, err, "make the way into a sandbox")
	}
	return os.NewFile(uintptr(fds[0]), "outer"), os.NewFile(uintptr(fds[1]), "inner"), nil
}

// commonFlags are runsc's flags for every sandbox.
func commonFlags(state string) []string {
	return []string{
		"--root=" + state, "--platform=systrap", "--network=none", "--directfs=false",
		"--overlay2=none", "--host-uds=none", "--host-fifo=none", "--ignore-cgroups",
		"--file-access=exclusive", "--file-access-mounts=exclusive", "--gofer-network-namespace=new",
		"--host-settings=ignore", "--sidecar-usage-policy=LEGACY_DEPRECATED_SLOW_EMBEDDED_FALLBACK",
	}
}

func (m *machine) runArgs(b *box) []string {
	args := append([]string{"runsc"}, commonFlags(filepath.Join(b.state.Folder, "state"))...)
	return append(args, "run", "--bundle="+b.state.Folder, "--pid-file="+filepath.Join(b.state.Folder, pidFile),
		"--pass-fd=3:3", b.state.Name)
}

// notMade returns code unavailable for a sandbox that could not be made, with the output
// of runsc and choir-init.
func (b *box) notMade(cause error, what string) error {
	e := &choir.Error{Op: "gvisor.create", Code: choir.CodeUnavailable, Msg: what, Err: cause}
	if said := b.diagnostics(); said != "" {
		e.Msg += ", saying " + strconv.Quote(said)
	}
	return e
}

// diagnostics returns the standard error of runsc and choir-init; empty for a recovered
// sandbox.
func (b *box) diagnostics() string {
	if b.output == nil {
		return ""
	}
	text := make([]byte, diagnosticBytes)
	n, _ := b.output.ReadAt(text, 0) // best effort: it only explains another error
	return string(bytes.TrimSpace(bytes.TrimRight(text[:n], "\x00")))
}
