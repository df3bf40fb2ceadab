package microvm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

const (
	// consoleBytes is how much of a machine's console is kept.
	consoleBytes = 32 << 10
	// KernelBytes is memory of the machine's own, besides the sandbox's.
	KernelBytes = 160 << 20
	// mostTmp is the size of a folder in memory.
	mostTmp = 2 << 30
)

// Draft implements host.Maker.
func (m *machineParts) Draft(spec sandbox.Spec) *box {
	return newBox(state{Boot: m.bootID, Doors: spec.Doors, Limits: m.limits.Name(), Facts: m.facts, Most: spec.Limits.MemoryBytes})
}

// Shortages implements host.Maker. The control plane starts the monitor.
func (m *machineParts) Shortages() host.Shortages { return host.CountShortages(os.Getpid()) }

// Close implements host.Maker.
func (m *machineParts) Close() {}

// Fill implements host.Maker. It boots a machine.
func (m *machineParts) Fill(ctx context.Context, b *box, spec sandbox.Spec) error {
	if err := m.place(b, spec); err != nil {
		return err
	}
	if err := m.vmm.bring(ctx, b, spec); err != nil {
		return err
	}
	if _, err := guest.NewClient(b.DialEarly).Hello(ctx); err != nil {
		return b.notMade(ctx, err)
	}
	host.SetVictim(b.Main.PID, host.VictimAlive)
	return nil
}

// place makes the group and the console of a machine that is to be started.
func (m *machineParts) place(b *box, spec sandbox.Spec) error {
	b.name = host.NewName(spec)
	var err error
	if b.Group, err = m.limits.Create(b.name, m.outerLimits(spec)); err != nil {
		return err
	}
	if err := b.Making.NoteGroup(b.Group); err != nil {
		return err
	}
	b.state.Groups = b.Group.Folders()
	b.console, err = host.MemoryFile("choir-console", nil, consoleBytes)
	return err
}

// outerLimits returns the limits of the monitor. Those inside are held by the machine's
// kernel; these hold what broke out of it, and leave it room to boot.
func (m *machineParts) outerLimits(spec sandbox.Spec) sandbox.Limits {
	threads, bytes := m.vmm.needs()
	return sandbox.Limits{
		Processes: threads, MemoryBytes: m.memoryBytes(spec) + bytes,
		CPUMilli: m.processors(spec)*1000 + 500, OpenFiles: spec.Limits.OpenFiles,
	}
}

func (m *machineParts) processors(spec sandbox.Spec) int {
	if m.cfg.VCPU > 0 {
		return m.cfg.VCPU
	}
	if m.facts.Emulated {
		return 1 // several wait for each other where the host is busy
	}
	return max(1, (spec.Limits.CPUMilli+999)/1000)
}

func (m *machineParts) memoryBytes(spec sandbox.Spec) int64 {
	if m.cfg.MemoryMB > 0 {
		return int64(m.cfg.MemoryMB) << 20
	}
	return spec.Limits.MemoryBytes + KernelBytes
}

// format makes a new file a workspace's disk: sparse, the user's, with an empty file system.
func (m *machineParts) format(ctx context.Context, f *os.File, uid int) error {
	const op = "microvm.disk"
	err := f.Truncate(m.cfg.DiskBytes)
	if err == nil && m.facts.Root {
		err = f.Chown(uid, uid)
	}
	if err != nil {
		return choir.Wrap(op, choir.CodeUnavailable, err, "make a disk")
	}
	cmd := exec.CommandContext(ctx, m.mkfs, "-q", "-F", "-t", "ext4", "-m", "0", "-O", "^has_journal",
		"-E", "lazy_itable_init=1,nodiscard,root_owner=1000:1000", "/proc/self/fd/3")
	cmd.ExtraFiles, cmd.Env = []*os.File{f}, []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		return choir.Refuse(op, choir.ReasonVMMke2fsFailed, choir.TextOf("why", err), choir.TextOf("said", strings.TrimSpace(string(out))))
	}
	return nil
}

// noSelfTests has a kernel leave out the tests of its ciphers, which take an emulated machine a
// quarter of a second.
const noSelfTests = " cryptomgr.notests"

// commandLine returns the command line of a machine's kernel, which begins with args. vsock
// says that the machine has one in place of serial lines.
func (m *machineParts) commandLine(args string, spec sandbox.Spec, vsock bool) string {
	return args + noSelfTests + " rdinit=" + machine.Init + " -- " + strings.Join(m.guestArgs(spec, vsock), " ")
}

// guestArgs returns the arguments of choir-init as the machine's first process.
func (m *machineParts) guestArgs(spec sandbox.Spec, vsock bool) []string {
	_, has := spec.Workspace()
	c := machine.Config{
		Processes: int64(spec.Limits.Processes), Memory: min(spec.Limits.MemoryBytes, m.memoryBytes(spec)), CPUMilli: int64(spec.Limits.CPUMilli),
		Tmp: min(mostTmp, spec.Limits.MemoryBytes), Files: spec.Limits.FilesInMemory(), Workspace: has, Vsock: vsock,
		Args: []string{"--max-files", strconv.Itoa(spec.Limits.OpenFiles), "--landlock"},
	}
	if !has {
		c.Args = append(c.Args, "--workspace=")
	}
	if m.cfg.Orphan != sandbox.OrphanSeconds*time.Second {
		c.Args = append(c.Args, "--orphan", m.cfg.Orphan.String())
	}
	return c.Flags()
}

// notMade returns code unavailable for a machine that did not come up, with the last lines
// of its console.
func (b *box) notMade(ctx context.Context, cause error) error {
	what := "the machine ended before it answered"
	if ctx.Err() != nil {
		what = "the machine did not answer"
	}
	e := &choir.Error{Op: "microvm.create", Code: choir.CodeUnavailable, Msg: what, Err: cause}
	if said := b.lastLines(); said != "" {
		e.Msg += "; its console ends with " + strconv.Quote(said)
	}
	return e
}

// lastLines returns the last lines of the machine's console and of its monitor, or why its kernel
// stopped; empty for a recovered sandbox.
func (b *box) lastLines() string {
	if b.console == nil {
		return ""
	}
	text := make([]byte, consoleBytes)
	got, _ := b.console.ReadAt(text, 0) // best effort: it only explains another error
	text = bytes.ReplaceAll(bytes.TrimSpace(bytes.TrimRight(text[:got], "\x00")), []byte("\r"), nil)
	lines := strings.Split(string(text), "\n")
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "Kernel panic") }); i >= 0 {
		lines = lines[:i+1] // what follows is its registers
	}
	const shown = 6
	return strings.Join(lines[max(0, len(lines)-shown):], "\n")
}
