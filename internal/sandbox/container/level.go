package container

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// remedyEngine and remedyLimits are the commands that provide what is missing.
const (
	remedyEngine = "install and start one with: apt-get install -y podman runc && systemctl start podman.socket, or set [container] socket in choir.toml"
	remedyLimits = "run an engine that may make cgroups with the controllers memory, cpu and pids"
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
		l.AddMissing(sandbox.NoDiskLimit)
	}
	if landlock >= sandbox.TaskLandlock {
		l.Tasks = "landlock"
	} else {
		l.AddMissing(sandbox.NoTaskWalls)
	}
	if !limited {
		l.Limits = "rlimits: open files, no core files"
		l.AddMissing(choir.TellSentence("told.lacksEngineLimits", "Memory, CPU time and processes are not limited: the engine holds no limits here."))
	}
	return l
}
