package rolehost

import (
	"context"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Running is the run and task whose commands are running in the Associate;
// empty when none is. One task writes at a time, so it is the one that started
// last.
func (h *Host) Running(ctx context.Context) (run, task choir.ID) {
	tasks, err := h.log.OpenTasks(ctx)
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

// MayCall says why a role may not call a model for a run and a task: only what is
// open in this computer's log can be called for, by the Associate for a task. Code
// invalid names the field, conflict the run or the task.
func (h *Host) MayCall(ctx context.Context, role choir.Role, run, task choir.ID) error {
	switch {
	case run == "":
		return choir.Invalid("run", "is required: a model is called for a run that is open")
	case role == choir.RoleAssociate && task == "":
		return choir.Invalid("task", "is required: the Associate calls a model for a task that is open")
	case role != choir.RoleAssociate && task != "":
		return choir.Invalid("task", "is for the Associate: the %s calls a model for a run", role)
	case task != "":
		return h.mayCallForTask(ctx, run, task)
	}
	return h.mayCallForRun(ctx, run)
}

func (h *Host) mayCallForRun(ctx context.Context, run choir.ID) error {
	r, err := h.log.Run(ctx, run)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return notOpen("run %s is not in the log of this computer", run)
	case err == nil && !r.State.Open():
		return notOpen("run %s is over: %s", run, r.State)
	}
	return err
}

// mayCallForTask asks about the run only where there is one: a task that was
// submitted by itself has none in the log.
func (h *Host) mayCallForTask(ctx context.Context, run, task choir.ID) error {
	t, err := h.log.Task(ctx, task)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		return notOpen("task %s is not in the log of this computer", task)
	case err != nil:
		return err
	case t.State == eventstore.TaskReturned:
		return notOpen("task %s is over", task)
	case t.Run != run:
		return notOpen("task %s is not one of run %s", task, run)
	}
	if _, err := h.log.Run(ctx, run); choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	return h.mayCallForRun(ctx, run)
}

func notOpen(format string, args ...any) error {
	return choir.E("computer.model", choir.CodeConflict, format, args...).WithRemedy("a model is called for what is open only")
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

// RecordRefusal records that something in a sandbox wanted a host it may not
// reach, once for each host and task, and a bounded number of hosts.
func (h *Host) RecordRefusal(ctx context.Context, host string, port int) error {
	h.cfg.Observer.EgressRefused()
	run, task := h.Running(ctx)
	host = strings.ToValidUTF8(host, "?")
	if len(host) > 300 {
		host = strings.ToValidUTF8(host[:300], "")
	}
	if host == "" {
		host = "(none)"
	}
	base := task
	if base == "" {
		base = h.cfg.ID
	}
	if !h.refusals.first(base, host) {
		return nil
	}
	if port < 0 || port > 65535 {
		port = 0
	}
	_, err := h.events.AppendToRun(ctx, choir.RoleControl, choir.DeriveID(base, "egress", host), run, task,
		choir.EgressRefused{Host: host, Port: port, Policy: string(choir.EgressNone)})
	return appender.UnlessSaid(err, choir.RoleControl, choir.TypeEgressRefused) // of another port, before choir was started again
}
