package computer

import (
	"context"
	"time"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// resendEvery is how often a task without an answer is sent again.
const resendEvery = 3 * time.Second

// cancelGrace is how long the Associate has to answer a cancelled task before
// the control plane answers in its place.
const cancelGrace = 10 * time.Second

// dispatcher hands committed prompts, tasks and cancels to the sandboxes, and
// hands tasks on again until they are answered. Its state is the log's.
type dispatcher struct {
	c    *Computer
	post *hub.Post
	// open are the tasks that are not answered, cancelled those to be stopped.
	open      map[choir.ID]choir.Event
	cancelled map[choir.ID]time.Time
}

func (d *dispatcher) String() string { return "dispatcher" }

// Serve follows the log until the context ends.
func (d *dispatcher) Serve(ctx context.Context) error {
	var err error
	if d.post, err = hub.NewPost(d.c.cfg.Bus, d.c.cfg.User, d.c.cfg.ID); err != nil {
		return err
	}
	defer d.post.Close()
	head, _ := d.c.store.Head()
	if err := d.resume(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(resendEvery)
	defer tick.Stop()
	for {
		events, err := d.c.store.EventsAfter(ctx, head, choir.MaxEventsAfter)
		if err != nil {
			return err
		}
		for _, e := range events {
			head = e.Seq
			if err := d.take(e); err != nil {
				return err
			}
		}
		if len(events) > 0 {
			continue
		}
		if err := d.wait(ctx, head, tick.C); err != nil {
			return err
		}
	}
}

// wait returns when the log has grown, after sending again what is due.
func (d *dispatcher) wait(ctx context.Context, head uint64, tick <-chan time.Time) error {
	grown := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	go func() { grown <- d.c.store.WaitPast(waiting, head) }()
	for {
		select {
		case err := <-grown:
			stop()
			return err
		case <-tick:
			if err := d.resend(ctx); err != nil {
				stop()
				<-grown
				return err
			}
		}
	}
}

// resume collects what was open when the control plane last stopped.
func (d *dispatcher) resume(ctx context.Context) error {
	d.open, d.cancelled = map[choir.ID]choir.Event{}, map[choir.ID]time.Time{}
	tasks, err := d.c.store.OpenTasks(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		events, err := d.c.store.EventsAfter(ctx, t.DispatchedSeq-1, 1)
		if err != nil {
			return err
		}
		if err := d.take(events[0]); err != nil {
			return err
		}
		if stopped, err := d.wasCancelled(ctx, t.Run, t.DispatchedSeq); err != nil {
			return err
		} else if stopped {
			d.cancel(t.Run)
		}
	}
	runs, err := d.c.store.OpenRuns(ctx)
	for _, r := range runs {
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverRun, Run: r.ID})
	}
	return err
}

func (d *dispatcher) wasCancelled(ctx context.Context, run choir.ID, after uint64) (bool, error) {
	for {
		events, err := d.c.store.EventsOfRun(ctx, run, after, choir.MaxEventsAfter)
		if err != nil || len(events) == 0 {
			return false, err
		}
		for _, e := range events {
			after = e.Seq
			if e.Type == "run.cancel_requested" || e.Type == "run.finished" {
				return true, nil
			}
		}
	}
}

// take acts on one committed event.
func (d *dispatcher) take(e choir.Event) error {
	switch e.Type {
	case "prompt.submitted", "steering.submitted", "question.answered":
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverRun, Run: e.Run})
	case "task.dispatched":
		d.open[e.Task] = e
		d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverTask, Run: e.Run, Task: e.Task, Event: &e})
	case "task.returned":
		delete(d.open, e.Task)
		delete(d.cancelled, e.Task)
	case "run.finished":
		// A run that ended at a limit leaves nothing running.
		d.cancel(e.Run)
	case "run.cancel_requested":
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverCancel, Run: e.Run})
		d.cancel(e.Run)
	}
	return nil
}

func (d *dispatcher) cancel(run choir.ID) {
	for id, e := range d.open {
		if e.Run == run {
			d.cancelled[id] = d.c.cfg.Now()
			d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverCancel, Run: run, Task: id})
		}
	}
}

// send hands one message on. A message that is lost is sent again by resend, so
// an error is only logged.
func (d *dispatcher) send(role choir.Role, m bus.Delivery) {
	if err := d.post.Deliver(role, m); err != nil {
		d.c.cfg.Log.Warn("delivery waits for the bus", "computer", d.c.cfg.ID, "kind", m.Kind, "error", err)
	}
}

func (d *dispatcher) resend(ctx context.Context) error {
	for id, e := range d.open {
		since, stopped := d.cancelled[id]
		switch {
		case stopped && d.c.cfg.Now().Sub(since) > cancelGrace:
			if err := d.answerFor(ctx, e, choir.ResultCancelled, "The task was stopped; the Associate did not answer."); err != nil {
				return err
			}
		case stopped:
			d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverCancel, Run: e.Run, Task: id})
		default:
			d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverTask, Run: e.Run, Task: id, Event: &e})
		}
	}
	return nil
}

// answerFor answers a task in the Associate's place.
func (d *dispatcher) answerFor(ctx context.Context, e choir.Event, code choir.ResultCode, why string) error {
	p := choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: e.Task, RunID: e.Run,
		Status: choir.StatusFailed, Code: code, Summary: why,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}}
	draft, err := choir.NewDraft(choir.DeriveID(e.Task, "returned"), p)
	if err == nil {
		_, err = d.c.store.Append(ctx, choir.RoleControl, draft.ForRun(e.Run, e.Task).CausedBy(e.ID))
	}
	return err
}
