package dispatch

import (
	"context"
	"slices"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// resendSoon is when a task is sent again to a sandbox that has just started:
// its role listens within milliseconds.
const resendSoon = 100 * time.Millisecond

// dispatcher hands committed prompts, tasks and cancels to the sandboxes. Tasks
// go one at a time, in the order of the log, and again until they are answered.
// Its state is the log's.
type dispatcher struct {
	tasks *Tasks
	post  Post
	tick  *time.Ticker // when to send again
	// open are the tasks that are not answered, oldest first.
	open []*openTask
	// ended says which tasks were answered in the Associate's place, or why not.
	ended chan endedTask
}

// openTask is one task that waits for its answer.
type openTask struct {
	event    choir.Event
	sent     bool      // to the Associate, in this session
	since    time.Time // when it was cancelled; zero when it was not
	stepping bool      // the control plane is answering it
}

type endedTask struct {
	id  choir.ID
	err error
}

func (d *dispatcher) String() string { return "dispatcher" }

// Serve follows the log until the context ends. It waits by itself and not in
// Store.Follow, because it wakes for what is to be sent again, too.
func (d *dispatcher) Serve(ctx context.Context) error {
	var err error
	if d.post, err = d.tasks.cfg.OpenPost(); err != nil {
		return err
	}
	defer d.post.Close()
	ctx, cancel := context.WithCancel(ctx)
	d.open, d.ended = nil, make(chan endedTask)
	defer d.waitForEnds()
	defer cancel()
	head, _ := d.tasks.log.Head()
	if err := d.resume(ctx); err != nil {
		return err
	}
	d.tick = time.NewTicker(d.tasks.cfg.Resend)
	defer d.tick.Stop()
	for {
		for e, err := range d.tasks.log.Events(ctx, head+1, 0) {
			if err == nil {
				err = d.take(ctx, e)
			}
			if err != nil {
				return err
			}
			head = e.Seq
		}
		if err := d.wait(ctx, head); err != nil {
			return err
		}
	}
}

// wait returns when the log has grown, after sending again what is due.
func (d *dispatcher) wait(ctx context.Context, head uint64) error {
	grown := make(chan error, 1)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { grown <- d.tasks.log.WaitPast(waiting, head) }()
	for {
		select {
		case err := <-grown:
			return err
		case <-d.tick.C:
			d.tick.Reset(d.tasks.cfg.Resend)
			d.resend(ctx)
		case end := <-d.ended:
			d.stepped(end)
		}
	}
}

// waitForEnds waits for whoever answers in the Associate's place.
func (d *dispatcher) waitForEnds() {
	for _, t := range d.open {
		if t.stepping {
			<-d.ended
		}
	}
}

// resume collects what was open when the control plane last stopped.
func (d *dispatcher) resume(ctx context.Context) error {
	tasks, err := d.tasks.log.OpenTasks(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		e, err := d.tasks.log.At(ctx, t.DispatchedSeq)
		if err != nil {
			return choir.Wrap("computer.dispatch", "", err, "the dispatch of task %s", t.ID)
		}
		open := &openTask{event: e}
		if stopped, err := d.wasCancelled(ctx, t.Run, t.DispatchedSeq); err != nil {
			return err
		} else if stopped {
			open.since = d.tasks.cfg.Now()
		}
		d.open = append(d.open, open)
	}
	d.next()
	runs, err := d.tasks.log.OpenRuns(ctx)
	for _, r := range runs {
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverRun, Run: r.ID})
	}
	return err
}

func (d *dispatcher) wasCancelled(ctx context.Context, run choir.ID, after uint64) (bool, error) {
	for e, err := range d.tasks.log.EventsOfRun(ctx, run, after) {
		if err != nil || e.Type == choir.TypeRunCancelRequested || e.Type == choir.TypeRunFinished {
			return err == nil, err
		}
	}
	return false, nil
}

// take acts on one committed event.
func (d *dispatcher) take(ctx context.Context, e choir.Event) error {
	switch e.Type {
	case choir.TypePromptSubmitted, choir.TypeSteeringSubmitted, choir.TypeQuestionAnswered:
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverRun, Run: e.Run})
	case choir.TypeTaskDispatched:
		return d.takeTask(ctx, e)
	case choir.TypeTaskReturned:
		d.open = slices.DeleteFunc(d.open, func(t *openTask) bool { return t.event.Task == e.Task && !t.stepping })
		d.next()
	case choir.TypeSandboxStarted:
		d.tick.Reset(resendSoon)
	case choir.TypeRunFinished:
		// A run that ended at a limit leaves nothing running.
		d.cancel(ctx, e.Run)
	case choir.TypeRunCancelRequested:
		d.send(choir.RoleDirector, bus.Delivery{Kind: bus.DeliverCancel, Run: e.Run})
		d.cancel(ctx, e.Run)
	}
	return nil
}

// takeTask queues a task once. A second dispatch of the same id is void, and one
// that was answered since needs nothing.
func (d *dispatcher) takeTask(ctx context.Context, e choir.Event) error {
	first, err := d.tasks.log.First(ctx, e.Type, string(e.Task))
	if err != nil || first.Seq != e.Seq {
		return err
	}
	_, err = d.tasks.log.First(ctx, choir.TypeTaskReturned, string(e.Task))
	if choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	if slices.ContainsFunc(d.open, func(t *openTask) bool { return t.event.Task == e.Task }) {
		return nil // resume had it
	}
	d.open = append(d.open, &openTask{event: e})
	d.next()
	return nil
}

// next sends the oldest task. The others wait: a tree has one writer, and the
// Associate of a new session must take up first what it had begun.
func (d *dispatcher) next() {
	if len(d.open) == 0 || d.open[0].sent {
		return
	}
	d.open[0].sent = true
	d.deliver(d.open[0])
	d.tasks.log.CatchUp() // the Associate begins with questions about the task
}

// deliver sends a task; one that was stopped too, because an Associate that
// knows of it is the one to take back what it did.
func (d *dispatcher) deliver(t *openTask) {
	d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverTask, Run: t.event.Run, Task: t.event.Task, Event: &t.event})
	if !t.since.IsZero() {
		d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverCancel, Run: t.event.Run, Task: t.event.Task})
	}
}

// cancel stops the tasks of a run. Those that nobody took up are answered here.
func (d *dispatcher) cancel(ctx context.Context, run choir.ID) {
	for _, t := range d.open {
		if t.event.Run != run || !t.since.IsZero() {
			continue
		}
		t.since = d.tasks.cfg.Now()
		if t.sent {
			d.send(choir.RoleAssociate, bus.Delivery{Kind: bus.DeliverCancel, Run: run, Task: t.event.Task})
		} else {
			d.step(ctx, t)
		}
	}
}

// send hands one message on. A message that is lost is sent again by resend, so
// an error is only logged.
func (d *dispatcher) send(role choir.Role, m bus.Delivery) {
	if err := d.post.Deliver(role, m); err != nil {
		d.tasks.cfg.Log.Warn("delivery waits for the bus", "computer", d.tasks.cfg.Computer, "kind", m.Kind, "error", err)
	}
}

// resend sends the oldest task again, and steps in for those whose time to be
// stopped is over.
func (d *dispatcher) resend(ctx context.Context) {
	for i, t := range d.open {
		switch {
		case t.stepping:
		case !t.since.IsZero() && d.tasks.cfg.Now().Sub(t.since) > d.tasks.cfg.Grace:
			d.step(ctx, t)
		case i == 0:
			d.deliver(t)
		}
	}
}

// step answers a stopped task in the Associate's place, beside the queue: it may
// have to wait for the sandbox.
func (d *dispatcher) step(ctx context.Context, t *openTask) {
	t.stepping = true
	e, ended := t.event, d.ended
	go func() { ended <- endedTask{e.Task, d.tasks.standIn(ctx, e)} }()
}

// stepped notes how answering went; what failed is tried again at the next tick.
func (d *dispatcher) stepped(end endedTask) {
	i := slices.IndexFunc(d.open, func(t *openTask) bool { return t.event.Task == end.id })
	d.open[i].stepping = false
	if end.err != nil {
		d.tasks.cfg.Log.Warn("a stopped task is not answered yet", "computer", d.tasks.cfg.Computer, "task", end.id, "error", end.err)
		return
	}
	d.open = slices.Delete(d.open, i, i+1)
	d.next()
}
