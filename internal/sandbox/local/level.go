package local

import (
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// remedyBwrap and the following constants are the commands that provide what is missing.
const (
	remedyBwrap   = "install it with: apt-get install -y bubblewrap"
	remedyUserNS  = "allow user namespaces with: sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
	remedyCgroups = "run choir as root, or give it cgroups of its own with: systemd-run --user --scope -p Delegate=yes choir up"
)

// levelOf returns the isolation of sandboxes, given the name of their limiter, whether
// the control plane is root, the kernel's version of Landlock (0 for none), and whether
// the workspace's disk space is limited.
func levelOf(limits string, root bool, landlock int, disk bool) sandbox.Level {
	l := sandbox.Level{
		Driver: Name,
		Name:   "local: namespaces, seccomp, landlock, no capabilities, " + limits,
		Limits: limits + ": processes, memory, CPU; rlimits: open files, no core files",
	}
	if !disk {
		l.Missing = append(l.Missing, sandbox.NoDiskLimit)
	}
	if landlock >= sandbox.TaskLandlock {
		l.Tasks = "landlock"
	} else {
		l.Missing = append(l.Missing, "A task in one project can write in others: that needs Landlock's third version (Linux 6.2).")
	}
	if landlock < host.LandlockNeeded {
		l.Name = "local: namespaces, seccomp, no capabilities, " + limits
		l.Missing = append(l.Missing, "This kernel lacks Landlock: the mounts alone decide what can be written.")
	}
	if limits == host.LimitsRlimits {
		l.Limits = "rlimits: processes, memory of each process, open files, no core files"
		l.Missing = append(l.Missing,
			"Memory is limited for each process, not for all together.",
			"CPU time is not limited.")
	}
	if !root {
		l.Missing = append(l.Missing, "Sandboxes run as the user of the control plane, not as a host user of their own.")
	}
	return l
}
