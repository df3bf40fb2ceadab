package microvm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Probe implements sandbox.Driver.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true, Level: sandbox.Level{Driver: Name, Name: Name}}
	image := checkOf("image", d.checkImage)
	mkfs := checkOf("mke2fs", findMkfs)
	r.Checks = append(r.Checks, d.probeQEMU(ctx), mkfs, image)
	for _, c := range r.Checks {
		r.Usable = r.Usable && c.OK
	}
	if !r.Usable {
		return r
	}
	m, err := d.setUp()
	if err != nil {
		r.Usable = false
		r.Checks = append(r.Checks, checkOf("machine", func() (string, error) { return "", err }))
		return r
	}
	r.Level = m.facts.level()
	r.Checks = append(r.Checks, probeKVM(m.facts.Emulated),
		sandbox.Check{Name: "limits", OK: true, Detail: r.Level.Limits}, probeUser(m.facts.Root))
	return r
}

// checkOf returns a required check that is met if do returns no error; else with the
// error's remedy.
func checkOf(name string, do func() (string, error)) sandbox.Check {
	detail, err := do()
	c := sandbox.Check{Name: name, Required: true, OK: err == nil, Detail: detail}
	if err != nil {
		p := choir.ProblemOf(err)
		c.Detail, c.Remedy = p.Message, p.Remedy
	}
	return c
}

func (d *Driver) checkImage() (string, error) {
	m, err := loadImage(d.cfg)
	return d.cfg.Rootfs + ", Linux " + m.Kernel.Release, err
}

func (d *Driver) probeQEMU(ctx context.Context) sandbox.Check {
	return checkOf("qemu", func() (string, error) {
		path, err := findQEMU(d.cfg)
		if err != nil {
			return "", err
		}
		out, err := exec.CommandContext(ctx, path, "-machine", "help").Output()
		if err != nil || !bytes.Contains(out, []byte("\nmicrovm ")) {
			return "", choir.E("microvm.probe", choir.CodeUnavailable, "%s has no machine of the kind microvm", path).WithRemedy(remedyQEMU)
		}
		version, _ := exec.CommandContext(ctx, path, "--version").Output() // it ran just now
		first, _, _ := strings.Cut(string(version), "\n")
		return path + ", " + first, nil
	})
}

func probeKVM(emulated bool) sandbox.Check {
	c := sandbox.Check{Name: "kvm", OK: !emulated, Detail: "machines run on the processor"}
	if emulated {
		c.Detail = "/dev/kvm does not serve here, so machines are emulated: slower, and by code that was not written to hold an attacker"
		c.Remedy = "run choir on hardware, or on a machine with nested virtualization: modprobe kvm_intel || modprobe kvm_amd"
	}
	return c
}

func probeUser(root bool) sandbox.Check {
	if root {
		return sandbox.Check{Name: "host user", OK: true, Detail: "every computer's QEMU has a host user of its own"}
	}
	return sandbox.Check{Name: "host user", Detail: "QEMU runs as the user of the control plane", Remedy: "run choir as root"}
}

// kvmPatience is how long a kernel may take by KVM to say that it has no root file system.
const kvmPatience = 10 * time.Second

// kvmServes boots a kernel by KVM, because a device that can be opened may yet run no
// machine, as inside of another virtual machine.
func (m *machineParts) kvmServes() bool {
	if m.cfg.Emulated {
		return false
	}
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
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
	argv := append(m.baseArgs(false), "-m", "256M", "-kernel", m.cfg.Kernel, "-append", kernelArgs)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, console, console
	if cmd.Run() != nil {
		return false
	}
	text := make([]byte, consoleBytes)
	n, _ := console.ReadAt(text, 0) // what is there
	return bytes.Contains(text[:n], []byte("Kernel panic"))
}
