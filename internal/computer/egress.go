package computer

import (
	"context"
	"strings"

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

// EgressRefused records that something in a sandbox wanted a host it may not
// reach, once for each host and task.
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
	if port < 0 || port > 65535 {
		port = 0
	}
	_, err := c.appendToRun(ctx, choir.RoleControl, choir.DeriveID(base, "egress", host), run, task,
		choir.EgressRefused{Host: host, Port: port, Policy: string(choir.EgressNone)})
	return err
}
