package microvm

import (
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// facts are what the level of a sandbox follows from.
type facts struct {
	Emulated bool   `json:"emulated"`
	Kernel   string `json:"kernel"` // release of the guest's
	Root     bool   `json:"root"`   // the monitor has a host user of its own
	Host     string `json:"host"`   // what limits the monitor on the host
	VMM      string `json:"vmm,omitempty"`
	Jailed   bool   `json:"jailed,omitempty"` // by Firecracker's jailer
	// Nameless says that programs in the image do not ask init for names.
	Nameless bool `json:"nameless,omitempty"`
}

// monitor names the program that runs the machine.
func (f facts) monitor() string {
	if f.VMM == VMMFirecracker {
		return "Firecracker"
	}
	return "QEMU"
}

// acceleration names how the guest's instructions are executed.
func (f facts) acceleration() string {
	if f.Emulated {
		return "emulation (TCG)"
	}
	if f.VMM == VMMFirecracker && f.Jailed {
		return "Firecracker and KVM, in a jail"
	}
	if f.VMM == VMMFirecracker {
		return "Firecracker and KVM"
	}
	return "KVM"
}

// taskLandlock reports whether the guest's kernel confines a task to its project: its
// Landlock has the third version since Linux 6.2.
func (f facts) taskLandlock() bool {
	var major, minor int
	if _, err := fmt.Sscanf(f.Kernel, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 2
}

func (f facts) level() sandbox.Level {
	l := sandbox.Level{
		Driver: Name,
		Name:   "microvm: a virtual machine by " + f.acceleration() + ", Linux " + f.Kernel + ", no network; inside namespaces, seccomp, landlock, no capabilities",
		Limits: "the machine, and cgroup v2 of its kernel: processes, memory, CPU; its disk; rlimits: open files, no core files; " + f.monitor() + " itself: " + f.Host,
	}
	if f.taskLandlock() {
		l.Tasks = "landlock"
	} else {
		l.AddMissing(choir.TellSentence("told.lacksTaskWallsImage", "A task in one project can write in others: that needs Landlock's third version, and the image has Linux {kernel}.", choir.LinesOf("kernel", f.Kernel)))
	}
	if f.Emulated {
		l.AddMissing(choir.TellSentence("told.lacksKVM", "KVM does not serve here: machines are emulated, by code that is not written to hold an attacker, and programs take 10 to 30 times as long."))
	}
	if f.Nameless {
		l.AddMissing(choir.TellSentence("told.lacksNames", "Programs that know no proxy find no host by its name: the image is of an earlier choir, make it anew with choir image build."))
	}
	if f.Host == host.LimitsRlimits {
		l.AddMissing(choir.TellSentence("told.lacksMonitorLimits", "No cgroup limits {monitor}: what breaks out of the machine's kernel has no limits of memory and CPU.", choir.LinesOf("monitor", f.monitor())))
	}
	if !f.Root {
		l.AddMissing(choir.TellSentence("told.lacksMonitorUser", "{monitor} runs as the user of the control plane, not as a host user of its own.", choir.LinesOf("monitor", f.monitor())))
	}
	if f.VMM == VMMFirecracker && !f.Jailed {
		l.AddMissing(choir.TellSentence("told.lacksJailer", "Firecracker runs without its jailer: what breaks out of it sees the files of the host that its user may read."))
	}
	return l
}
