package gvisor

import (
	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Pinned is the version of gVisor that this driver is tested with, as the Go module proxy
// names it. The Makefile has the same.
const Pinned = "v0.0.0-20260905035102-160fafc42237"

// remedyRunsc has the command that installs runsc.
var remedyRunsc = sandbox.InstallWith("CGO_ENABLED=0 GOBIN=/usr/local/bin go install gvisor.dev/gvisor/runsc@" + Pinned + ", or set [gvisor] runsc in choir.toml")

// remedyRoot and remedyCgroups are what provides what is missing.
const (
	remedyRoot    = "run choir as root, or set runtime.mode = \"local\""
	remedyCgroups = "run choir where it may make cgroups, such as with: systemd-run --scope -p Delegate=yes choir up"
)

// levelOf returns the isolation of sandboxes, given the name of their limiter, whether the
// workspace's disk space is limited, and how many files the gofer may have open.
func levelOf(limits string, disk bool, files uint64) sandbox.Level {
	l := sandbox.Level{
		Driver: Name,
		Name:   "gvisor: a kernel of its own (runsc, systrap), no network, no capabilities, " + limits,
		Limits: limits + ": memory (and 256 MiB for the sentry), CPU, threads on the host; sentry: processes (about), open files, no core files",
	}
	if !disk {
		l.AddMissing(sandbox.NoDiskLimit)
	}
	l.AddMissing(
		choir.TellSentence("told.lacksTaskWallsHere", "A task in one project can write in others: gVisor has no Landlock."),
		choir.TellSentence("told.lacksVictims", "A program that takes more memory than there is ends its whole sandbox."))
	if files < mostFiles {
		l.AddMissing(choir.TellSentence("told.lacksDepth", "All programs of a sandbox together can have some {depth} files or nested folders open: that is what this machine allows. Beyond that none can open anything until some end; the rung local has no such limit.", choir.LinesOf("depth", files/2)))
	}
	if limits == host.LimitsRlimits {
		l.Name = "gvisor: a kernel of its own (runsc, systrap), no network, no capabilities, no cgroup"
		l.Limits = "sentry: processes, open files, no core files"
		l.AddMissing(choir.TellSentence("told.lacksLimits", "Memory and CPU time are not limited."))
	}
	return l
}
