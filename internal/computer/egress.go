package computer

import (
	"context"
	"strings"
	"sync"

	"choiros/internal/choir"
)

// NewID makes an id now.
func (c *Computer) NewID() (choir.ID, error) { return c.newID() }

// Running is the run and task whose commands are running in the Associate;
// empty when none is. One task writes at a time, so it is the one that started
// last.
func (c *Computer) Running() (run, task choir.ID) {
	tasks, err := c.store.OpenTasks(context.Background())
	if err != nil {
		// Attribution only: the call is then recorded without a run.
		return "", ""
	}
	for _, t := range tasks {
		if t.Attempt > 0 {
			run, task = t.Run, t.ID
		}
	}
	return run, task
}

// maxRefusals bounds the hosts that are recorded for one task: what runs in a
// sandbox chooses them, and must not fill the log with them.
const maxRefusals = 256

// refusals counts the recorded hosts of the task that asked last.
type refusals struct {
	mu    sync.Mutex // guards what follows
	of    choir.ID
	hosts map[string]bool
}

// first says whether a host is new and there is room for it.
func (r *refusals) first(of choir.ID, host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != of || r.hosts == nil {
		r.of, r.hosts = of, map[string]bool{}
	}
	if r.hosts[host] || len(r.hosts) >= maxRefusals {
		return false
	}
	r.hosts[host] = true
	return true
}

// EgressRefused records that something in a sandbox wanted a host it may not
// reach, once for each host and task, and a bounded number of hosts.
func (c *Computer) EgressRefused(ctx context.Context, host string, port int) error {
	run, task := c.Running()
	host = strings.ToValidUTF8(host, "?")
	if len(host) > 300 {
		host = strings.ToValidUTF8(host[:300], "")
	}
	if host == "" {
		host = "(none)"
	}
	base := task
	if base == "" {
		base = c.cfg.ID
	}
	if !c.refusals.first(base, host) {
		return nil
	}
	if port < 0 || port > 65535 {
		port = 0
	}
	_, err := c.appendToRun(ctx, choir.RoleControl, choir.DeriveID(base, "egress", host), run, task,
		choir.EgressRefused{Host: host, Port: port, Policy: string(choir.EgressNone)})
	return unlessSaid(err, choir.RoleControl, "egress.refused") // of another port, before choir was started again
}
