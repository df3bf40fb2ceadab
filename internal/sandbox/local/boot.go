package local

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// diagnosticBytes and infoBytes are the sizes of the files in memory that bubblewrap
// writes to.
const (
	diagnosticBytes = 16 << 10
	infoBytes       = 4 << 10
)

// Draft implements host.Maker.
func (m *machine) Draft(spec sandbox.Spec) *box {
	workspace, has := spec.Workspace()
	inMemory := workspace.Transport == sandbox.TransportCopy
	b := newBox(state{Boot: m.bootID, Doors: spec.Doors, Limits: m.limits.Name(), DiskLimited: spec.DiskLimited || !has || inMemory}, m.root)
	if has {
		b.state.Workspace, b.state.Toolchains = true, m.cfg.Toolchains
	}
	return b
}

// Shortages implements host.Maker. The control plane starts bubblewrap.
func (m *machine) Shortages() host.Shortages { return host.CountShortages(os.Getpid()) }

// Fill implements host.Maker. It starts bubblewrap.
func (m *machine) Fill(ctx context.Context, b *box, spec sandbox.Spec) error {
	listener, err := host.ListenDoor(spec.Doors)
	if err != nil {
		return err
	}
	defer listener.Close() // once more does nothing
	if b.Group, err = m.limits.Create(host.NewName(spec), spec.Limits); err != nil {
		return err
	}
	if err := b.Making.NoteGroup(b.Group); err != nil {
		return err
	}
	b.state.Groups = b.Group.Folders()
	if b.output, err = host.MemoryFile("choir-output", nil, diagnosticBytes); err != nil {
		return err
	}
	// No pipe: writing to one whose reader was killed would end bubblewrap before it
	// lets its child run, and the child would wait for ever.
	info, err := host.MemoryFile("choir-info", nil, infoBytes)
	if err != nil {
		return err
	}
	defer info.Close()
	closed, open, err := m.gate()
	if err != nil {
		return err
	}
	defer open.Close() // once more does nothing
	err = m.start(b, spec, listener, info, closed)
	// Bubblewrap has its own: if it dies, dialling must fail.
	listener.Close()
	closed.Close()
	if err != nil {
		return err
	}
	if open != nil {
		_ = openPortsEarly(ctx, b.monitor.Pid, info) // see openPorts
		open.Close()
	}
	// Bubblewrap says the process before it lets it run, so that it stands in the
	// file when choir-init answers.
	if _, err := guest.NewClient(b.DialEarly).Hello(ctx); err != nil {
		return b.notMade(err, "the sandbox did not answer")
	}
	pid, err := childPID(info)
	if err != nil {
		return b.notMade(err, "bubblewrap did not say which process it made")
	}
	if b.Main, err = host.OpenProcess(pid, 0); err != nil {
		return b.notMade(err, "the sandbox has ended already")
	}
	b.state.Init = host.ProcessName{PID: pid, Start: b.Main.Start}
	host.SetVictim(b.monitor.Pid, host.VictimAlive)
	if m.root {
		_ = openPorts(pid)                                  // see there
		b.state.FilesLimited = limitFiles(pid, spec) == nil // the level says so otherwise
	}
	return nil
}

// gate returns the two ends of a pipe for an ordinary user, and nil for root. Bubblewrap holds the
// sandbox back until the second is closed, as it is when the control plane ends.
func (m *machine) gate() (closed, open *os.File, err error) {
	if m.root {
		return nil, nil, nil
	}
	closed, open, err = os.Pipe()
	return closed, open, choir.Wrap("local.create", choir.CodeUnavailable, err, "make a pipe")
}

// start starts bubblewrap in the sandbox's group, as the sandbox's host user.
func (m *machine) start(b *box, spec sandbox.Spec, listener, info, gate *os.File) error {
	// A second opening of the same file has a position of its own.
	filter, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(m.filter.Fd())))
	if err != nil {
		return choir.Wrap("local.create", choir.CodeInternal, err, "open the seccomp program")
	}
	defer filter.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return choir.Wrap("local.create", choir.CodeInternal, err, "open %s", os.DevNull)
	}
	defer null.Close()
	files := []*os.File{null, b.output, b.output, listener, filter, info}
	if gate != nil {
		files = append(files, gate)
	}
	err = m.withView(spec, func() error {
		return b.Group.Start(func(attr *syscall.SysProcAttr) error {
			attr.Setsid = true // a ^C in the control plane's terminal is not for sandboxes
			b.monitor, err = os.StartProcess(m.bwrap, m.argv(spec), &os.ProcAttr{
				Dir: "/", Env: []string{}, Sys: m.asHostUser(attr, spec),
				Files: files,
			})
			return err
		})
	})
	if err != nil {
		return choir.Wrap("local.create", choir.CodeUnavailable, err, "start bubblewrap")
	}
	host.SetVictim(b.monitor.Pid, host.VictimWhileMade)
	// Until we reap it nothing else can have its number.
	s, err := host.ReadStat(b.monitor.Pid)
	b.state.Monitor = host.ProcessName{PID: b.monitor.Pid, Start: s.Start}
	if err != nil {
		return err
	}
	return b.Making.NoteProcess(b.state.Monitor)
}

func (m *machine) argv(spec sandbox.Spec) []string {
	argv := append([]string{m.bwrap}, m.commonFor(spec)...)
	argv = append(argv, folderArgs(spec)...)
	argv = append(argv, "--seccomp", strconv.Itoa(fdSeccomp), "--info-fd", strconv.Itoa(fdInfo))
	if !m.root {
		argv = append(argv, "--block-fd", strconv.Itoa(fdGate))
	}
	argv = append(argv, "--")
	argv = append(argv, host.InitArgs(spec, m.cfg.Toolchains, m.cfg.Orphan)...)
	argv = append(argv, host.LandlockArgs(spec)...)
	if !m.cgroups() {
		argv = append(argv, "--max-processes", strconv.Itoa(spec.Limits.Processes),
			"--max-data", strconv.FormatInt(spec.Limits.MemoryBytes, 10))
	}
	return argv
}

func (m *machine) commonFor(spec sandbox.Spec) []string {
	if _, has := spec.Workspace(); !has {
		return m.common
	}
	return m.commonWorkspace
}

// childPID returns the pid of bubblewrap's child, which bubblewrap has written to the
// info file.
func childPID(info *os.File) (int, error) {
	var said struct {
		ChildPID int `json:"child-pid"`
	}
	err := json.NewDecoder(io.NewSectionReader(info, 0, infoBytes)).Decode(&said)
	return said.ChildPID, err
}

// notMade returns code unavailable for a sandbox that could not be made, with the output
// of bubblewrap.
func (b *box) notMade(cause error, what string) error {
	e := &choir.Error{Op: "local.create", Code: choir.CodeUnavailable, Msg: what, Err: cause}
	if said := b.diagnostics(); said != "" {
		e.Msg += ", saying " + strconv.Quote(said)
	}
	if strings.Contains(e.Msg, "Permission denied") && b.root {
		return e.WithRemedy("let other users traverse every folder above the data folder: chmod o+x")
	}
	return e
}

// diagnostics returns the standard error of bubblewrap and choir-init; empty for a
// recovered sandbox.
func (b *box) diagnostics() string {
	if b.output == nil {
		return ""
	}
	text := make([]byte, diagnosticBytes)
	n, _ := b.output.ReadAt(text, 0) // best effort: it only explains another error
	return string(bytes.TrimSpace(bytes.TrimRight(text[:n], "\x00")))
}

// asHostUser makes attr start a process as the spec's host user, without further groups,
// if the control plane is root, and returns attr.
func (m *machine) asHostUser(attr *syscall.SysProcAttr, spec sandbox.Spec) *syscall.SysProcAttr {
	if m.root {
		attr.Credential = &syscall.Credential{Uid: uint32(spec.UID), Gid: uint32(spec.UID)}
	}
	return attr
}
