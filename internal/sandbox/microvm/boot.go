package microvm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/machine"
	"choiros/internal/inherited"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

const (
	// consoleBytes is how much of a machine's console is kept.
	consoleBytes = 32 << 10
	// kernelBytes is memory of the machine's own, besides the sandbox's.
	kernelBytes = 160 << 20
	// qemuBytes and qemuThreads are QEMU's own, besides the machine's.
	qemuBytes   = 768 << 20
	qemuThreads = 64
	// mostTmp is the size of a folder in memory.
	mostTmp = 2 << 30
)

// boot starts a machine and returns the sandbox when choir-init answers. If it fails
// nothing is left behind.
func (m *machineParts) boot(ctx context.Context, spec sandbox.Spec) (*box, error) {
	b := newBox(state{Boot: m.bootID, Doors: spec.Doors, Limits: m.limits.Name(), Facts: m.facts, Most: spec.Limits.MemoryBytes})
	if err := m.fill(ctx, b, spec); err != nil {
		host.Abandon(ctx, b)
		return nil, err
	}
	return b, nil
}

// fill creates the parts of a sandbox one after another and stores each in b, so that the
// caller can remove them if a later one fails.
func (m *machineParts) fill(ctx context.Context, b *box, spec sandbox.Spec) error {
	files := &handed{}
	defer files.close()
	if err := m.open(ctx, files, spec); err != nil {
		return err
	}
	var err error
	if b.group, err = m.limits.Create(host.NewName(spec), m.outerLimits(spec)); err != nil {
		return err
	}
	b.state.Groups = b.group.Folders()
	if b.console, err = host.MemoryFile("choir-console", nil, consoleBytes); err != nil {
		return err
	}
	if err := m.start(b, spec, files); err != nil {
		return err
	}
	files.close() // QEMU has its own: when it ends, dialling must fail
	if _, err := guest.NewClient(b.Dial).Hello(ctx); err != nil {
		return b.notMade(ctx, err)
	}
	return nil
}

// outerLimits returns the limits of QEMU. Those inside are held by the machine's kernel;
// these hold what broke out of it, and leave it room to boot.
func (m *machineParts) outerLimits(spec sandbox.Spec) sandbox.Limits {
	return sandbox.Limits{
		Processes: qemuThreads, MemoryBytes: m.memoryBytes(spec) + qemuBytes,
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
	return spec.Limits.MemoryBytes + kernelBytes
}

// handed are the files that QEMU gets, in order, from descriptor 3 on. It opens those with
// a path again by /proc/self/fd, so that it needs no right to walk there.
type handed struct {
	files []*os.File
	names map[string]int
}

func (h *handed) add(name string, f *os.File, err error) error {
	if err != nil {
		return err
	}
	if h.names == nil {
		h.names = map[string]int{}
	}
	h.names[name] = 3 + len(h.files)
	h.files = append(h.files, f)
	return nil
}

func (h *handed) path(name string) string { return "/proc/self/fd/" + strconv.Itoa(h.names[name]) }

func (h *handed) close() {
	for _, f := range h.files {
		f.Close()
	}
}

// open opens everything that QEMU gets.
func (m *machineParts) open(ctx context.Context, files *handed, spec sandbox.Spec) error {
	control, err := host.ListenDoor(spec.Doors)
	if err := files.add("data", control, err); err != nil {
		return err
	}
	if err := os.Mkdir(stateDoors(spec.Doors), 0o700); err != nil && !os.IsExist(err) {
		return choir.Wrap("microvm.create", choir.CodeInternal, err, "make the folder of the second door")
	}
	second, err := host.ListenDoor(stateDoors(spec.Doors))
	if err := files.add("state", second, err); err != nil {
		return err
	}
	initial, err := m.initialFor(spec.Guest)
	if err != nil {
		return err
	}
	for name, path := range map[string]string{"kernel": m.cfg.Kernel, "root": m.cfg.Rootfs, "initial": initial} {
		f, err := os.Open(path)
		if err := files.add(name, f, err); err != nil {
			return choir.Wrap("microvm.create", choir.CodeUnavailable, err, "open a part of the image")
		}
	}
	if _, has := spec.Workspace(); has {
		disk, err := m.makeDisk(ctx, spec.UID)
		return files.add("disk", disk, err)
	}
	return nil
}

// makeDisk makes the disk of a workspace: a sparse file without a name, which ends with
// the machine, with an empty file system.
func (m *machineParts) makeDisk(ctx context.Context, uid int) (*os.File, error) {
	const op = "microvm.disk"
	f, err := os.CreateTemp(m.cfg.StateDir, ".disk-")
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "make a disk")
	}
	err = errors.Join(os.Remove(f.Name()), f.Truncate(m.cfg.DiskBytes))
	if err == nil && m.facts.Root {
		err = f.Chown(uid, uid)
	}
	if err != nil {
		f.Close()
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "make a disk")
	}
	cmd := exec.CommandContext(ctx, m.mkfs, "-q", "-F", "-t", "ext4", "-m", "0", "-O", "^has_journal",
		"-E", "lazy_itable_init=1,nodiscard,root_owner=1000:1000", "/proc/self/fd/3")
	cmd.ExtraFiles, cmd.Env = []*os.File{f}, []string{}
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Close()
		return nil, choir.E(op, choir.CodeUnavailable, "mke2fs could not make the workspace's file system: %v %s", err, out)
	}
	return f, nil
}

// start starts QEMU in the sandbox's group, as the sandbox's host user, without a network.
func (m *machineParts) start(b *box, spec sandbox.Spec, files *handed) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return choir.Wrap("microvm.create", choir.CodeInternal, err, "open %s", os.DevNull)
	}
	defer null.Close()
	all := append([]*os.File{null, b.console, b.console}, files.files...)
	// What this process has open for its own children would be open in QEMU.
	if err := inherited.KeepFromChildren(); err != nil {
		return err
	}
	err = b.group.Start(func(attr *syscall.SysProcAttr) error {
		attr.Setsid = true // a ^C in the control plane's terminal is not for sandboxes
		if m.facts.Root {
			attr.Credential = &syscall.Credential{Uid: uint32(spec.UID), Gid: uint32(spec.UID)}
			attr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
		}
		b.child, err = os.StartProcess(m.prlimit, m.argv(spec, files), &os.ProcAttr{Dir: "/", Env: []string{}, Sys: attr, Files: all})
		return err
	})
	if err != nil {
		return choir.Wrap("microvm.create", choir.CodeUnavailable, err, "start QEMU")
	}
	if b.qemu, err = host.OpenProcess(b.child.Pid, 0); err != nil {
		return b.notMade(context.Background(), err)
	}
	b.state.PID = b.child.Pid
	s, err := host.ReadStat(b.child.Pid) // until we reap it nothing else can have its number
	b.state.Start = s.Start
	return err
}

// baseArgs are the arguments of every machine: nothing but what is named is there, and
// QEMU may start no program and gain no right.
func (m *machineParts) baseArgs(emulated bool) []string {
	kind, cpu := "microvm,accel=kvm", "host"
	if emulated {
		kind, cpu = "microvm,accel=tcg", "max"
	}
	return []string{
		m.qemu, "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-machine", kind + ",pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=off", "-cpu", cpu,
		"-global", "virtio-mmio.force-legacy=false",
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
	}
}

// kernelArgs make the machine end when its kernel cannot go on.
const kernelArgs = "console=ttyS0 quiet panic=-1 reboot=t"

// clockArgs tell an emulated machine's kernel how fast its processor counts, which is as
// fast as the host's: on a busy host it finds nothing to measure that by, and stops.
func (m *machineParts) clockArgs() string {
	if !m.facts.Emulated {
		return ""
	}
	return fmt.Sprintf(" no_timer_check tsc_early_khz=%d", m.tscKHz)
}

func (m *machineParts) argv(spec sandbox.Spec, files *handed) []string {
	argv := append([]string{m.prlimit, "--core=0", fmt.Sprintf("--fsize=%d", m.cfg.DiskBytes), "--"}, m.baseArgs(m.facts.Emulated)...)
	argv = append(argv,
		"-smp", strconv.Itoa(m.processors(spec)), "-m", fmt.Sprintf("%dM", m.memoryBytes(spec)>>20),
		"-kernel", files.path("kernel"), "-initrd", files.path("initial"),
		"-append", kernelArgs+m.clockArgs()+" rdinit="+machine.Init+" -- "+strings.Join(m.guestArgs(spec), " "),
		"-drive", "id=root,if=none,format=raw,readonly=on,file.locking=off,file="+files.path("root"),
		"-device", "virtio-blk-device,drive=root",
	)
	if files.names["disk"] != 0 {
		argv = append(argv, "-drive", "id=disk,if=none,format=raw,file.locking=off,cache=unsafe,file="+files.path("disk"),
			"-device", "virtio-blk-device,drive=disk")
	}
	argv = append(argv, "-device", "virtio-serial-device,max_ports=3")
	for _, port := range []struct{ id, name string }{{"data", machine.DataPort}, {"state", machine.StatePort}} {
		argv = append(argv,
			"-chardev", fmt.Sprintf("socket,id=%s,fd=%d,server=on,wait=off", port.id, files.names[port.id]),
			"-device", fmt.Sprintf("virtserialport,chardev=%s,name=%s", port.id, port.name))
	}
	return argv
}

// guestArgs returns the arguments of choir-init as the machine's first process.
func (m *machineParts) guestArgs(spec sandbox.Spec) []string {
	_, has := spec.Workspace()
	c := machine.Config{
		Processes: int64(spec.Limits.Processes), Memory: min(spec.Limits.MemoryBytes, m.memoryBytes(spec)), CPUMilli: int64(spec.Limits.CPUMilli),
		Tmp: min(mostTmp, spec.Limits.MemoryBytes), Workspace: has,
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

// stateDoors returns the folder of the second door, which asks the machine how it is.
func stateDoors(doors string) string { return filepath.Join(doors, "state") }

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

// lastLines returns the last lines of the machine's console and of QEMU, or why its kernel
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
