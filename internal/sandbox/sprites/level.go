package sprites

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// limitsHeld names what limits a sandbox.
const limitsHeld = "the sprite's memory, processors and disk, which Fly sets; rlimits: processes, memory of one process, open files, no core files"

// levelOf returns the isolation of sandboxes in sprites with this kernel, empty before
// there is one, and its version of Landlock.
func levelOf(kernel string, landlock int) sandbox.Level {
	l := sandbox.Level{
		Driver: Name, Limits: limitsHeld,
		Name: "sprites: a virtual machine (Firecracker) at Fly, by their word; inside namespaces of its own, no network, seccomp, no capabilities",
	}
	l.AddMissing(
		choir.TellSentence("told.lacksTrust", "The machine, its kernel and its disk are Fly's: Fly can read and change the workspace and everything that runs in it, and choir cannot see whether the machine is what Fly says."),
		choir.TellSentence("told.lacksSize", "No cgroup limits memory and CPU time: the size of the sprite does, and Fly decides whether it is the one that was asked for."))
	if kernel == "" {
		return l
	}
	l.Name += ", Linux " + clip(kernel)
	if landlock >= host.LandlockNeeded {
		l.Name += ", landlock"
	}
	if landlock >= sandbox.TaskLandlock {
		l.Tasks = "landlock"
	} else {
		l.AddMissing(choir.TellSentence("told.lacksTaskWallsSprite", "A task in one project can write in others: that needs Landlock's third version (Linux 6.2), which the sprite's kernel lacks."))
	}
	return l
}
