package host

import (
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// noLimiter is the limiter for machines without usable cgroups. choir-init lowers its own
// rlimits before anything else runs inside. The number of processes is counted per user
// namespace, so it is the sandbox's own.
type noLimiter struct{}

func (noLimiter) Name() string                                 { return LimitsRlimits }
func (noLimiter) Create(string, sandbox.Limits) (Group, error) { return noGroup{}, nil }
func (noLimiter) Sweep()                                       {}

type noGroup struct{}

func (noGroup) Start(fork func(*syscall.SysProcAttr) error) error {
	return fork(&syscall.SysProcAttr{})
}
func (noGroup) Folders() []string          { return nil }
func (noGroup) Processes() ([]int, error)  { return nil, nil }
func (noGroup) Remove() error              { return nil }
func (noGroup) findShortage() choir.Reason { return "" }
func (noGroup) Usage() (sandbox.Usage, error) {
	return sandbox.Usage{}, choir.E("host.usage", choir.CodeUnavailable, "there is no cgroup to measure by")
}
