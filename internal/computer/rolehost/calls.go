package rolehost

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Working identifies the work that a program in the Associate's sandbox belongs to.
type Working struct {
	Run, Task choir.ID
	Call      choir.ID // empty outside of a tool call
}

// WorkingOn returns the run, task and tool call of the program that made a request at the
// egress door, by the mark in the address that it connected to; ctx is the request's. The
// result is zero if no task at work started the program, or it did not use its address. An error
// is that of the log: nobody knows then what holds for the request.
func (h *Host) WorkingOn(ctx context.Context) (Working, error) {
	c, _ := ctx.Value(callerKey{}).(caller)
	mark, ok := choir.MarkAt(c.at)
	if !ok || c.role != choir.RoleAssociate {
		return Working{}, nil
	}
	tasks, err := h.log.OpenTasks(ctx)
	if err != nil {
		return Working{}, err
	}
	for _, t := range tasks {
		if t.Attempt > 0 && mark.Of(t.ID) {
			return Working{Run: t.Run, Task: t.ID, Call: mark.Call(t.ID)}, nil
		}
	}
	return Working{}, nil
}

// MayCall returns nil if a role may call a model for a run and a task: both must be open in
// this computer's log, and the Associate must name a task. Code invalid: a wrong argument;
// conflict: the run or task is not open.
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

// mayCallForRun returns nil if the run is in the log and open; else code conflict.
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

// mayCallForTask returns nil if the task is open and, if the log has its run, the run is
// open too. A task that was submitted by itself has no run in the log.
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

// notOpen returns an error with code conflict for a run or task that is not open.
func notOpen(format string, args ...any) error {
	return choir.E("computer.model", choir.CodeConflict, format, args...).WithRemedy("a model is called for what is open only")
}

// maxRefusing limits the tasks whose recorded hosts are remembered.
const maxRefusing = 16

// refusals remembers which refused hosts are recorded for which task.
type refusals struct {
	mu    sync.Mutex                   // guards order and hosts
	order []choir.ID                   // the keys of hosts, oldest first
	hosts map[choir.ID]map[string]bool // hosts by task, or by computer outside of tasks
}

// first records a host for a task and reports whether it is new and within the limit.
func (r *refusals) first(of choir.ID, host string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.hosts[of]
	if known == nil {
		if len(r.order) == maxRefusing {
			delete(r.hosts, r.order[0])
			r.order = r.order[1:]
		}
		if r.hosts == nil {
			r.hosts = map[choir.ID]map[string]bool{}
		}
		known = map[string]bool{}
		r.hosts[of], r.order = known, append(r.order, of)
	}
	if known[host] || len(known) >= eventstore.MaxEgressRefusals {
		return false
	}
	known[host] = true
	return true
}

// forget lets a host of a task be recorded another time, because the log did not take it.
func (r *refusals) forget(of choir.ID, host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.hosts[of], host)
}

// RecordRefusal appends that a program in a sandbox was refused a connection to a host, once
// for each task and host, and where there is a policy for each port and reason too; for a
// limited number of them. A refusal that asks the owner is recorded once more after an answer, the
// event with number after. It reports whether the log has the refusal. ctx is the request's.
func (h *Host) RecordRefusal(ctx context.Context, p choir.EgressRefused, after uint64) (recorded bool, err error) {
	h.cfg.Observer.EgressRefused()
	on, err := h.WorkingOn(ctx)
	if err != nil {
		return false, err
	}
	return h.RecordRefusalOf(ctx, on, p, after)
}

// RecordRefusalOf does the same for a work that is known otherwise.
func (h *Host) RecordRefusalOf(ctx context.Context, on Working, p choir.EgressRefused, after uint64) (recorded bool, err error) {
	p.Host = strings.ToValidUTF8(p.Host, "?")
	if len(p.Host) > 300 {
		p.Host = strings.ToValidUTF8(p.Host[:300], "")
	}
	if p.Host == "" {
		p.Host = "(none)"
	}
	if p.Port < 0 || p.Port > 65535 {
		p.Port = 0
	}
	base, about := on.Task, p.Host
	if base == "" {
		base = h.cfg.ID
	}
	if p.Policy != string(choir.EgressNone) {
		about = strings.Join([]string{p.Host, strconv.Itoa(p.Port), string(p.Why)}, " ")
	}
	if p.Asked {
		about += " asked " + strconv.FormatUint(after, 10)
	}
	if !h.refusals.first(base, about) {
		return false, nil
	}
	d, err := choir.NewDraft(choir.DeriveID(base, "egress", about), p)
	if err != nil {
		return false, err
	}
	_, err = h.events.AppendAs(ctx, choir.RoleControl, on.attribute(d))
	if err != nil && choir.FirstOf(err) == nil {
		h.refusals.forget(base, about)
	}
	return err == nil, appender.UnlessSaid(err, choir.RoleControl, choir.TypeEgressRefused) // of another port, before choir was started again
}

// RecordPassage appends that a request of a program in a sandbox was let out and has ended. The
// work is that of WorkingOn when it began.
func (h *Host) RecordPassage(ctx context.Context, on Working, p choir.EgressPassed) error {
	d, err := h.events.Draft(p)
	if err != nil {
		return err
	}
	_, err = h.events.AppendAs(ctx, choir.RoleControl, on.attribute(d))
	if errors.Is(err, eventstore.ErrNotReplicated) {
		return nil // the log has it
	}
	return err
}

// attribute returns a draft as one of the work's run, task and tool call.
func (w Working) attribute(d choir.Draft) choir.Draft {
	d = d.ForRun(w.Run, w.Task)
	if w.Call != "" {
		d = d.CausedBy(choir.DeriveID(w.Call, "called")) // the event of the tool call
	}
	return d
}
