package microvm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/microvm/firecracker"
)

const (
	remedyFirecracker = "unpack a release of https://github.com/firecracker-microvm/firecracker/releases, put firecracker and jailer into PATH or name them with microvm.firecracker and microvm.jailer; or set microvm.vmm to qemu"
	remedyNoKVM       = remedyKVM + "; or set microvm.vmm to qemu"
	// firecrackerArgs make a machine of Firecracker end when its kernel cannot go on: a reset by
	// the keyboard's controller is its only way to end.
	firecrackerArgs = "console=ttyS0 quiet reboot=k panic=-1 pci=off i8042.noaux i8042.nomux i8042.dumbkbd"
)

// firecrackerMonitor makes machines of Firecracker, which have a vsock and need KVM. Where
// choir is root and there is a jailer, each process is in a jail.
type firecrackerMonitor struct {
	cfg          Config
	path, jailer string
	version      firecracker.Version
	kernel       string // uncompressed, as every version can load it
	group        int    // that may use KVM
	m            *machineParts

	copying sync.Mutex // guards copies
	copies  map[string]bool
}

func (f *firecrackerMonitor) title() string { return "Firecracker" }

func (f *firecrackerMonitor) needs() (threads int, bytes int64) { return 64, 128 << 20 }

// find implements monitor.
func (f *firecrackerMonitor) find(ctx context.Context) (err error) {
	if f.path, err = findProgram(f.cfg.Firecracker, "firecracker"); err != nil {
		return choir.Refuse("microvm.setup", choir.ReasonVMNoFirecracker, choir.TextOf("why", err))
	}
	if f.version, err = firecracker.VersionOf(ctx, f.path); err != nil {
		return needsRemedy(err)
	}
	if err := openKVM(f.cfg.KVM); err != nil {
		return err
	}
	return f.findJailer(ctx)
}

// findJailer looks for the jailer, which only root can use.
func (f *firecrackerMonitor) findJailer(ctx context.Context) error {
	f.jailer = ""
	if os.Geteuid() != 0 || f.cfg.Jailer == NoJailer {
		return nil
	}
	path, err := findProgram(f.cfg.Jailer, "jailer")
	if err != nil && f.cfg.Jailer != "" {
		return choir.Refuse("microvm.setup", choir.ReasonVMNoJailer, choir.TextOf("why", err))
	}
	if err != nil {
		return nil // the level says so
	}
	f.jailer = path
	v, err := firecracker.VersionOf(ctx, f.jailer)
	if err == nil && v != f.version {
		err = choir.Refuse("microvm.setup", choir.ReasonVMJailerVersion, choir.TextOf("jailer", f.jailer), choir.TextOf("version", v), choir.TextOf("path", f.path), choir.TextOf("other", f.version))
	}
	return needsRemedy(err)
}

// needsRemedy returns an error of a program with what to do about it.
func needsRemedy(err error) error {
	var e *choir.Error
	if errors.As(err, &e) && e.Remedy == "" {
		return e.WithRemedy(remedyFirecracker)
	}
	return err
}

// findProgram returns the path of a program, without symbolic links, because a jail has the
// name of the file itself.
func findProgram(path, name string) (string, error) {
	if path == "" {
		path = name
	}
	at, err := exec.LookPath(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(at)
}

// openKVM returns code unavailable unless the device can be opened.
func openKVM(device string) error {
	dev, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		e := choir.Refuse("microvm.setup", choir.ReasonVMNoKVM, choir.TextOf("path", device))
		e.Err = err
		return e
	}
	return dev.Close()
}

// setUp implements monitor.
func (f *firecrackerMonitor) setUp(ctx context.Context, m *machineParts) error {
	f.m, f.copies, f.group = m, map[string]bool{}, kvmGroup(f.cfg.KVM)
	if !m.image.HasModule(machineimage.VsockModule) {
		return choir.Refuse("microvm.setup", choir.ReasonVMOldImage, choir.TextOf("suffix", machineimage.KernelSuffix), choir.TextOf("path", f.cfg.Rootfs))
	}
	var err error
	if f.kernel, err = f.unpackKernel(); err != nil {
		return err
	}
	if err := f.sweepRooms(); err != nil {
		return err
	}
	m.facts.VMM, m.facts.Jailed = VMMFirecracker, f.jailer != ""
	if f.cfg.WithoutTrial {
		return nil
	}
	return f.tryKernel(ctx)
}

// unpackKernel writes the image's kernel to the driver's folder as an ELF file, which
// Firecracker before 1.17 needs, and returns its path.
func (f *firecrackerMonitor) unpackKernel() (string, error) {
	raw, err := os.ReadFile(f.cfg.Kernel)
	if err != nil {
		return "", noImage(err)
	}
	to := filepath.Join(f.cfg.StateDir, "vmlinux-"+string(choir.DigestOf(raw))[:16])
	if _, err := os.Stat(to); err == nil { // it appeared whole
		return to, nil
	}
	elf, err := machineimage.Uncompressed(raw)
	if err == nil {
		err = writeWhole(to, bytes.NewReader(elf))
	}
	return to, choir.Wrap("microvm.setup", choir.CodeUnavailable, err, "unpack the kernel %s", f.cfg.Kernel)
}

// bring implements monitor.
func (f *firecrackerMonitor) bring(ctx context.Context, b *box, spec sandbox.Spec) error {
	ready, err := f.furnish(ctx, b, spec)
	if err != nil {
		return err
	}
	defer ready.Close()
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
	if err := f.configure(living, api, spec); err != nil {
		return b.refused(ctx, err)
	}
	if err := awaitReady(living, ready); err != nil {
		return b.notMade(ctx, err)
	}
	// Nothing shall listen to the machine from now on.
	err = os.Remove(filepath.Join(b.state.Room, readyName(b.state.Socket)))
	return choir.Wrap("microvm.create", choir.CodeInternal, err, "close the way out of the machine")
}

// configure makes the requests that give the machine its parts, and at last its start.
func (f *firecrackerMonitor) configure(ctx context.Context, api *firecracker.Client, spec sandbox.Spec) error {
	drives := []firecracker.Drive{{ID: "root", Path: roomRoot, ReadOnly: true}}
	if _, has := spec.Workspace(); has {
		drives = append(drives, firecracker.Drive{ID: "workspace", Path: roomDisk})
	}
	steps := []func() error{
		func() error {
			return api.SetMachine(ctx, firecracker.MachineConfig{VCPUs: f.processors(spec), MemoryMiB: f.m.memoryBytes(spec) >> 20})
		},
		func() error {
			return api.SetBoot(ctx, firecracker.BootSource{Kernel: roomKernel, Initrd: roomInitial, Command: f.m.commandLine(firecrackerArgs, spec, true)})
		},
		func() error { return api.SetVsock(ctx, firecracker.Vsock{CID: f.cfg.GuestCID, Path: f.cfg.UDSName}) },
	}
	for _, d := range drives {
		steps = append(steps, func() error { return api.AddDrive(ctx, d) })
	}
	steps = append(steps, func() error { return api.Act(ctx, firecracker.InstanceStart) })
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// mostProcessors is how many processors a machine of Firecracker may have.
const mostProcessors = 32

func (f *firecrackerMonitor) processors(spec sandbox.Spec) int {
	return min(mostProcessors, f.m.processors(spec))
}

// start starts the process of a machine, in a jail if there is a jailer, and holds it.
func (f *firecrackerMonitor) start(ctx context.Context, b *box, spec sandbox.Spec) error {
	// A snapshot's memory is a file, too.
	size := max(f.cfg.DiskBytes, f.m.memoryBytes(spec))
	if f.jailer == "" {
		argv := []string{f.m.prlimit, "--core=0", fmt.Sprintf("--fsize=%d", size), "--", f.path, "--id", b.name, "--api-sock", roomAPI}
		if err := f.m.spawn(b, b.state.Room, spec.UID, f.group, argv, nil); err != nil {
			return err
		}
		return b.hold(ctx, b.child.Pid)
	}
	if err := f.m.spawn(b, "/", 0, 0, f.jailArgs(b.name, spec.UID, size, spec.Limits.OpenFiles), nil); err != nil {
		return err
	}
	pid, err := f.jailed(ctx, b)
	if err != nil {
		return b.notMade(ctx, err)
	}
	return b.hold(ctx, pid)
}

// apiPause is the pause between two looks for the socket of a process that has just started.
const apiPause = 5 * time.Millisecond

// client returns a client of the process of b once that answers.
func (f *firecrackerMonitor) client(ctx context.Context, b *box) (*firecracker.Client, error) {
	dial := func(ctx context.Context) (net.Conn, error) {
		return host.DialIn(ctx, b.state.Room, roomAPI, b.state.PID)
	}
	tick := time.NewTicker(apiPause)
	defer tick.Stop()
	for {
		conn, err := dial(ctx)
		if err == nil {
			conn.Close()
			return firecracker.NewClient(dial), nil
		}
		if choir.CodeOf(err) == choir.CodeForbidden {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, choir.Wrap("microvm.create", choir.CodeUnavailable, err, "Firecracker opened no API socket")
		}
	}
}

// whileItLives returns a context that ends with ctx and when the monitor's process ends. The
// caller calls stop.
func (b *box) whileItLives(ctx context.Context) (living context.Context, stop func()) {
	living, cancel := context.WithCancel(ctx)
	// Not b.Main: one process is waited for once at a time, and a watcher may do so.
	p, err := host.OpenProcess(b.state.PID, b.state.Start)
	if err != nil {
		cancel()
		return living, cancel
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		if p.Wait(living) == nil {
			cancel()
		}
		p.Close()
	})
	return living, func() {
		cancel()
		watching.Wait()
	}
}

// awaitReady waits for the machine's connection to the socket ready.
func awaitReady(ctx context.Context, ready *os.File) error {
	l, err := net.FileListener(ready)
	if err != nil {
		return err
	}
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { l.(*net.UnixListener).SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := l.Accept()
	if err != nil {
		return choir.E("microvm.create", choir.CodeUnavailable, "it never said that it is ready")
	}
	return conn.Close()
}

// refused returns the error of a request to Firecracker, which refuses, hangs or has died.
func (b *box) refused(ctx context.Context, cause error) error {
	var f *firecracker.Fault
	if !errors.As(cause, &f) {
		return b.notMade(ctx, cause)
	}
	e := &choir.Error{Op: "microvm.create", Code: choir.CodeUnavailable, Msg: "the machine was not made", Err: f}
	if strings.Contains(f.Message, "KVM") || strings.Contains(f.Message, "kvm") {
		e.Remedy = remedyNoKVM
	}
	return e
}

// tryKernel boots the image's kernel without anything else, because a device that can be
// opened may yet run no machine: it says that it has no root file system, and ends.
func (f *firecrackerMonitor) tryKernel(ctx context.Context) error {
	spec := sandbox.Spec{Computer: "trial", Role: "kernel", UID: nobody, Limits: sandbox.Limits{MemoryBytes: trialBytes, CPUMilli: 1000}.OrDefaults()}
	b := f.m.Draft(spec)
	defer host.Abandon(ctx, b)
	ctx, cancel := context.WithTimeout(ctx, kvmPatience)
	defer cancel()
	err := f.m.place(b, spec)
	if err == nil {
		_, err = f.furnish(ctx, b, spec)
	}
	if err == nil {
		err = f.start(ctx, b, spec)
	}
	if err != nil {
		return err
	}
	living, stop := b.whileItLives(ctx)
	defer stop()
	return f.bootAlone(ctx, living, b, spec)
}

// trialBytes is the memory of the kernel that is tried, besides what each kernel gets.
const trialBytes = 96 << 20

// nobody is the user of the process that is tried.
const nobody = 65534

func (f *firecrackerMonitor) bootAlone(ctx, living context.Context, b *box, spec sandbox.Spec) error {
	api, err := f.client(living, b)
	if err != nil {
		return b.refused(ctx, err)
	}
	defer api.Close()
	err = api.SetMachine(living, firecracker.MachineConfig{VCPUs: 1, MemoryMiB: f.m.memoryBytes(spec) >> 20})
	if err == nil {
		err = api.SetBoot(living, firecracker.BootSource{Kernel: roomKernel, Command: firecrackerArgs})
	}
	if err == nil {
		err = api.Act(living, firecracker.InstanceStart)
	}
	if err != nil && living.Err() == nil {
		return b.refused(ctx, err)
	}
	<-living.Done() // its kernel has panicked, or took too long
	if !strings.Contains(b.lastLines(), "Kernel panic") {
		return choir.Refuse("microvm.setup", choir.ReasonVMBootsNoLinux, choir.TextOf("said", b.lastLines()))
	}
	return nil
}

// checks implements monitor.
func (f *firecrackerMonitor) checks(ctx context.Context) []sandbox.Check {
	return []sandbox.Check{checkOf("firecracker", func() (string, error) {
		err := f.find(ctx)
		return f.path + ", version " + f.version.String(), err
	}), f.checkJailer()}
}

func (f *firecrackerMonitor) checkJailer() sandbox.Check {
	switch {
	case f.jailer != "":
		return sandbox.Check{Name: "jailer", OK: true, Detail: f.jailer + ": each Firecracker is in a jail"}
	case os.Geteuid() != 0:
		return sandbox.Check{Name: "jailer", Detail: "Firecracker runs without a jail, because choir is not root"}.AddRemedy(sandbox.RunAsRoot)
	}
	return sandbox.Check{Name: "jailer", Detail: "Firecracker runs without a jail, because no jailer was found", Remedy: remedyFirecracker}
}

func (f *firecrackerMonitor) acceleration(facts) sandbox.Check {
	return sandbox.Check{Name: "kvm", OK: true, Detail: "machines run on the processor; a kernel was booted"}
}
