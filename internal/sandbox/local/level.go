package local

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// remedyBwrap and remedyCgroups have the commands that provide what is missing.
var (
	remedyBwrap   = sandbox.InstallWith("apt-get install -y bubblewrap")
	remedyCgroups = choir.TellSentence("told.cgroups", "run choir as root, or give it cgroups of its own with: {command}",
		choir.LinesOf("command", "systemd-run --user --scope -p Delegate=yes choir up"))
)

// levelOf returns the isolation of sandboxes, given the name of their limiter, whether
// the control plane is root, the kernel's version of Landlock (0 for none), whether the
// workspace's disk space is limited, and whether the files of its folders in memory are.
func levelOf(limits string, root bool, landlock int, disk, files bool) sandbox.Level {
	l := sandbox.Level{
		Driver: Name,
		Name:   "local: namespaces, seccomp, landlock, no capabilities, " + limits,
		Limits: limits + ": processes, memory, CPU; rlimits: open files, no core files",
	}
	if !disk {
		l.AddMissing(sandbox.NoDiskLimit)
	}
	if landlock >= sandbox.TaskLandlock {
		l.Tasks = "landlock"
	} else {
		l.AddMissing(sandbox.NoTaskWalls)
	}
	if landlock < host.LandlockNeeded {
		l.Name = "local: namespaces, seccomp, no capabilities, " + limits
		l.AddMissing(choir.TellSentence("told.lacksLandlock", "This kernel lacks Landlock: the mounts alone decide what can be written."))
	}
	if limits == host.LimitsRlimits {
		l.Limits = "rlimits: processes, memory of each process, open files, no core files"
		l.AddMissing(
			choir.TellSentence("told.lacksMemoryLimit", "Memory is limited for each process, not for all together."),
			choir.TellSentence("told.lacksTimeLimit", "CPU time is not limited."))
	}
	if !files {
		l.AddMissing(choir.TellSentence("told.lacksFileLimit", "Empty files in memory are limited by memory alone."))
	}
	if !root {
		l.AddMissing(choir.TellSentence("told.lacksUser", "Sandboxes run as the user of the control plane, not as a host user of their own."))
	}
	return l
}
