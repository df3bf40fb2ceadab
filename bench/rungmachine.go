package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"choiros/bench/attacks"
	"choiros/internal/choir"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
)

const qemuPeer = "bare QEMU with the same kernel and memory, until its first process has said the same"

// emulatedBurst is how many emulated machines start at once: each takes some ten seconds of a
// processor, and a quarter of a gigabyte.
const emulatedBurst = 8

// emulatedComputers is how many computers of two emulated machines each run at once.
const emulatedComputers = 3

// findMachine returns the rung of virtual machines, beside bare QEMU.
func (l *lab) findMachine(ctx context.Context) (rung, error) {
	driver := microvm.New(microvm.Config{StateDir: filepath.Join(l.dir, microvm.Name), Kernel: l.image + machineimage.KernelSuffix, Rootfs: l.image})
	found := attacks.FindRung(ctx, microvm.Name, l.dir, l.image)
	r := rung{
		driver: driver, why: found.Missing, settings: found.Settings,
		about: qemuPeer, held: "bare QEMU with the same kernel and memory, whose first process waits",
		starts: l.count(20), burst: burstSize(l), wakes: l.count(20), computers: l.count(10),
	}
	if r.why != "" {
		return r, nil
	}
	bare, err := l.newBareQEMU()
	if err != nil {
		return r, err
	}
	if bare.emulated = isEmulated(ctx, driver); bare.emulated {
		r.starts, r.burst, r.wakes, r.computers = l.count(7), l.count(emulatedBurst), l.count(5), emulatedComputers
	}
	r.peer, r.hold = bare.run, bare.boot
	return r, nil
}

// bareMegabytes is the memory of a machine of the driver: a kernel takes longer to boot with more.
var bareMegabytes = fmt.Sprintf("%dM", (sandbox.DefaultLimits().MemoryBytes+microvm.KernelBytes)>>20)

// isEmulated reports whether a driver of machines has no KVM.
func isEmulated(ctx context.Context, d driver) bool {
	for _, c := range d.Probe(ctx).Checks {
		if c.Name == "kvm" {
			return !c.OK
		}
	}
	return false
}

// bareQEMU boots the kernel of an image with nothing but a first process that says what the first
// command does.
type bareQEMU struct {
	kernel, initial string
	emulated        bool
}

func (l *lab) newBareQEMU() (*bareQEMU, error) {
	var archive bytes.Buffer
	a := machineimage.NewArchive(&archive)
	a.Add("init", 0o755, sayingProgram(strings.Join(firstCommand[1:], " ")+"\n"))
	q := &bareQEMU{kernel: l.image + machineimage.KernelSuffix, initial: filepath.Join(l.dir, "initial")}
	err := a.Close()
	if err == nil {
		err = os.WriteFile(q.initial, archive.Bytes(), 0o600)
	}
	return q, choir.Wrap("bench.tti", choir.CodeUnavailable, err, "make the initial file system of bare QEMU")
}

// sayingProgram returns a program for Linux on amd64, the only machine of the driver, which writes
// a short text to its standard output and waits for a signal.
func sayingProgram(text string) []byte {
	const at, header = 0x400000, 64 + 56
	code := []byte{
		0xb8, 1, 0, 0, 0, // mov eax, SYS_write
		0xbf, 1, 0, 0, 0, // mov edi, 1
		0x48, 0x8d, 0x35, 16, 0, 0, 0, // lea rsi, [rip+16], the text
		0xba, byte(len(text)), 0, 0, 0, // mov edx, its length
		0x0f, 0x05, // syscall
		0xb8, 34, 0, 0, 0, // mov eax, SYS_pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // back to SYS_pause
	}
	le := binary.LittleEndian
	size := uint64(header + len(code) + len(text))
	p := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	p = le.AppendUint16(p, 2)  // an executable
	p = le.AppendUint16(p, 62) // for amd64
	p = le.AppendUint32(p, 1)
	for _, v := range []uint64{at + header, 64, 0} { // entry, program headers, no sections
		p = le.AppendUint64(p, v)
	}
	p = le.AppendUint32(p, 0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} { // sizes and numbers of headers
		p = le.AppendUint16(p, v)
	}
	p = le.AppendUint32(p, 1) // a part to load
	p = le.AppendUint32(p, 5) // to read and to run
	for _, v := range []uint64{0, at, at, size, size, 0x1000} {
		p = le.AppendUint64(p, v)
	}
	return append(append(p, code...), text...)
}

// barePatience is how long bare QEMU may take.
const barePatience = time.Minute

// run boots the kernel and returns the milliseconds until its first process has said its text.
func (q *bareQEMU) run(ctx context.Context) (float64, error) {
	began := time.Now()
	end, err := q.boot(ctx)
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	end()
	return millis(took), nil
}

// boot boots the kernel, waits until its first process has said its text, and returns the function
// that ends the machine.
func (q *bareQEMU) boot(ctx context.Context) (func(), error) {
	const op = "bench.machine"
	kind, cpu, clock := "microvm,accel=kvm", "host", ""
	if q.emulated { // on a busy machine such a kernel finds nothing to measure its clock by, and stops
		kind, cpu, clock = "microvm,accel=tcg", "max", fmt.Sprintf(" no_timer_check tsc_early_khz=%d", microvm.TSCKHz())
	}
	c := exec.CommandContext(ctx, "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
		"-machine", kind+",pit=on,pic=on,rtc=on,isa-serial=on,auto-kernel-cmdline=off", "-cpu", cpu, "-m", bareMegabytes, "-serial", "stdio",
		"-kernel", q.kernel, "-initrd", q.initial, "-append", "console=ttyS0 quiet panic=-1 reboot=t"+clock+" rdinit=/init")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "start bare QEMU")
	}
	end := func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()         // it was killed
	}
	tooLong := time.AfterFunc(barePatience, func() { _ = c.Process.Kill() }) // the reading below ends with it
	defer tooLong.Stop()
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) == strings.Join(firstCommand[1:], " ") {
			return end, nil
		}
		said = append(said, lines.Text())
	}
	end()
	return nil, choir.E(op, choir.CodeUnavailable, "bare QEMU said %q", said)
}
