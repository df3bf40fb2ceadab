package local

import (
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// noLimiter is the limiter for machines without usable cgroups. choir-init lowers its own
// rlimits before anything else runs inside. The number of processes is counted per user
// namespace, so it is the sandbox's own.
type noLimiter struct{}

func (noLimiter) name() string                                 { return limitsRlimits }
func (noLimiter) create(string, sandbox.Limits) (group, error) { return noGroup{}, nil }
func (noLimiter) sweep()                                       {}

type noGroup struct{}

func (noGroup) start(fork func(*syscall.SysProcAttr) error) error {
	return fork(&syscall.SysProcAttr{})
}
func (noGroup) folders() []string { return nil }
func (noGroup) processes() []int  { return nil }
func (noGroup) remove() error     { return nil }
func (noGroup) usage() (sandbox.Usage, error) {
	return sandbox.Usage{}, choir.E("local.usage", choir.CodeUnavailable, "there is no cgroup to measure by")
}
