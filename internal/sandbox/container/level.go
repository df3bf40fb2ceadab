package container

import "choiros/internal/sandbox"

// remedyEngine and the following constants are the commands that provide what is missing.
const (
	remedyEngine = "install and start one with: apt-get install -y podman runc && systemctl start podman.socket, or set [container] socket in choir.toml"
	remedyLimits = "run an engine that may make cgroups with the controllers memory, cpu and pids"
	remedyUserNS = "allow user namespaces with: sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
)

// levelOf returns the isolation of sandboxes, given the engine, whether it holds limits, the
// kernel's version of Landlock (0 for none), and whether the workspace's disk space is limited.
func levelOf(engine string, limited bool, landlock int, disk bool) sandbox.Level {
	l := sandbox.Level{
		Driver: Name,
		Name:   "container: namespaces of " + engine + " and a user namespace of its own, seccomp, landlock, no network, no capabilities",
		Limits: "cgroups of the engine: processes, memory, CPU; rlimits: open files, no core files",
	}
	if !disk {
		l.Missing = append(l.Missing, sandbox.NoDiskLimit)
	}
	if landlock >= sandbox.TaskLandlock {
		l.Tasks = "landlock"
	} else {
		l.Missing = append(l.Missing, "A task in one project can write in others: that needs Landlock's third version (Linux 6.2).")
	}
	if !limited {
		l.Limits = "rlimits: open files, no core files"
		l.Missing = append(l.Missing, "Memory, CPU time and processes are not limited: the engine holds no limits here.")
	}
	return l
}
