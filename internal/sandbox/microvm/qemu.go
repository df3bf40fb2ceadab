package microvm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

const qemuName = "qemu-system-x86_64"

// qemuMonitor makes machines of QEMU's kind microvm, which have two serial lines. Without KVM
// they are emulated.
type qemuMonitor struct {
	cfg    Config
	path   string
	tscKHz int64
	m      *machineParts
}

func (q *qemuMonitor) title() string { return "QEMU" }

func (q *qemuMonitor) find(context.Context) (err error) {
	q.path, err = findQEMU(q.cfg)
	return err
}

func (q *qemuMonitor) setUp(_ context.Context, m *machineParts) error {
	q.m, q.tscKHz = m, TSCKHz()
	m.facts.Emulated = !q.kvmServes()
	return nil
}

func (q *qemuMonitor) needs() (threads int, bytes int64) { return 64, 768 << 20 }

// bring implements monitor. QEMU listens at the ends of the lines before there is a machine,
// so a question waits there for its answer.
func (q *qemuMonitor) bring(ctx context.Context, b *box, spec sandbox.Spec) error {
	files := &handed{}
	defer files.close() // QEMU has its own: when it ends, dialling must fail
	if err := q.open(ctx, b, files, spec); err != nil {
		return err
	}
	if err := q.m.spawn(b, "/", spec.UID, kvmGroup(deviceKVM), q.argv(spec, files), files.files); err != nil {
		return err
	}
	return b.hold(context.Background(), b.child.Pid)
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
func (q *qemuMonitor) open(ctx context.Context, b *box, files *handed, spec sandbox.Spec) error {
	control, err := host.ListenDoor(spec.Doors)
	if err := files.add("data", control, err); err != nil {
		return err
	}
	if err := b.Making.NoteFile(stateDoors(spec.Doors)); err != nil {
		return err
	}
	if err := os.Mkdir(stateDoors(spec.Doors), 0o700); err != nil && !os.IsExist(err) {
		return choir.Wrap("microvm.create", choir.CodeInternal, err, "make the folder of the second door")
	}
	second, err := host.ListenDoor(stateDoors(spec.Doors))
	if err := files.add("state", second, err); err != nil {
		return err
	}
	initial, err := q.m.initialFor(spec.Guest)
	if err != nil {
		return err
	}
	for name, path := range map[string]string{"kernel": q.cfg.Kernel, "root": q.cfg.Rootfs, "initial": initial} {
		f, err := os.Open(path)
		if err := files.add(name, f, err); err != nil {
			return choir.Wrap("microvm.create", choir.CodeUnavailable, err, "open a part of the image")
		}
	}
	if _, has := spec.Workspace(); has {
		disk, err := q.makeDisk(ctx, spec.UID)
		return files.add("disk", disk, err)
	}
	return nil
}

// makeDisk makes a workspace's disk without a name, which ends with the machine.
func (q *qemuMonitor) makeDisk(ctx context.Context, uid int) (*os.File, error) {
	f, err := os.CreateTemp(q.cfg.StateDir, ".disk-")
	if err != nil {
		return nil, choir.Wrap("microvm.disk", choir.CodeUnavailable, err, "make a disk")
	}
	if err = os.Remove(f.Name()); err == nil {
		err = q.m.format(ctx, f, uid)
	}
	if err != nil {
		f.Close()
		return nil, choir.Wrap("microvm.disk", choir.CodeUnavailable, err, "make a disk")
	}
	return f, nil
}

// baseArgs are the arguments of every machine: nothing but what is named is there, and
// QEMU may start no program and gain no right.
func (q *qemuMonitor) baseArgs(emulated bool) []string {
	kind, cpu := "microvm,accel=kvm", "host"
	if emulated {
		kind, cpu = "microvm,accel=tcg", "max"
	}
	return []string{
		q.path, "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-machine", kind + ",pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=off", "-cpu", cpu,
		"-global", "virtio-mmio.force-legacy=false",
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
	}
}

// kernelArgs make a machine of QEMU end when its kernel cannot go on.
const kernelArgs = "console=ttyS0 quiet panic=-1 reboot=t"

// clockArgs tell an emulated machine's kernel how fast its processor counts, which is as
// fast as the host's: on a busy host it finds nothing to measure that by, and stops.
func (q *qemuMonitor) clockArgs() string {
	if !q.m.facts.Emulated {
		return ""
	}
	return fmt.Sprintf(" no_timer_check tsc_early_khz=%d", q.tscKHz)
}

func (q *qemuMonitor) argv(spec sandbox.Spec, files *handed) []string {
	argv := append([]string{q.m.prlimit, "--core=0", fmt.Sprintf("--fsize=%d", q.cfg.DiskBytes), "--"}, q.baseArgs(q.m.facts.Emulated)...)
	argv = append(argv,
		"-smp", strconv.Itoa(q.m.processors(spec)), "-m", fmt.Sprintf("%dM", q.m.memoryBytes(spec)>>20),
		"-kernel", files.path("kernel"), "-initrd", files.path("initial"),
		"-append", q.m.commandLine(kernelArgs+q.clockArgs(), spec, false),
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

func (q *qemuMonitor) checks(ctx context.Context) []sandbox.Check {
	return []sandbox.Check{checkOf("qemu", func() (string, error) {
		path, err := findQEMU(q.cfg)
		if err != nil {
			return "", err
		}
		out, err := exec.CommandContext(ctx, path, "-machine", "help").Output()
		if err != nil || !bytes.Contains(out, []byte("\nmicrovm ")) {
			return "", choir.Refuse("microvm.probe", choir.ReasonVMQEMUOld, choir.TextOf("path", path))
		}
		version, _ := exec.CommandContext(ctx, path, "--version").Output() // it ran just now
		first, _, _ := strings.Cut(string(version), "\n")
		return path + ", " + first, nil
	})}
}

func (q *qemuMonitor) acceleration(f facts) sandbox.Check {
	c := sandbox.Check{Name: "kvm", OK: !f.Emulated, Detail: "machines run on the processor"}
	if f.Emulated {
		c.Detail = "/dev/kvm does not serve here, so machines are emulated: slower, and by code that was not written to hold an attacker"
		c.Remedy = remedyKVM
	}
	return c
}

func findQEMU(cfg Config) (string, error) {
	name := cfg.QEMU
	if name == "" {
		name = qemuName
	}
	at, err := exec.LookPath(name)
	if err != nil {
		return "", choir.Refuse("microvm.setup", choir.ReasonVMNoQEMU, choir.TextOf("name", name))
	}
	return at, nil
}

// kvmPatience is how long a kernel may take by KVM to say that it has no root file system.
const kvmPatience = 10 * time.Second

// kvmServes boots a kernel by KVM, because a device that can be opened may yet run no
// machine, as inside of another virtual machine.
func (q *qemuMonitor) kvmServes() bool {
	if q.cfg.Emulated {
		return false
	}
	f, err := os.OpenFile(deviceKVM, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	console, err := host.MemoryFile("choir-console", nil, consoleBytes)
	if err != nil {
		return false
	}
	defer console.Close()
	ctx, cancel := context.WithTimeout(context.Background(), kvmPatience)
	defer cancel()
	argv := append(q.baseArgs(false), "-m", "256M", "-kernel", q.cfg.Kernel, "-append", kernelArgs)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, console, console
	if cmd.Run() != nil {
		return false
	}
	text := make([]byte, consoleBytes)
	n, _ := console.ReadAt(text, 0) // what is there
	return bytes.Contains(text[:n], []byte("Kernel panic"))
}

// TSCKHz returns how fast the processor's counter of time stamps runs: at the base
// frequency where the kernel says it, else at what it says the processor runs at, which
// inside of virtual machines is the same.
func TSCKHz() int64 {
	if raw, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && n > 0 {
			return n
		}
	}
	raw, _ := os.ReadFile("/proc/cpuinfo") // without it there is the value below
	_, after, _ := strings.Cut(string(raw), "cpu MHz")
	line, _, _ := strings.Cut(after, "\n")
	if mhz, err := strconv.ParseFloat(strings.Trim(line, "\t: "), 64); err == nil && mhz > 0 {
		return int64(mhz * 1000)
	}
	return 2_000_000
}
