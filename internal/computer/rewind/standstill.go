package rewind

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// atWork lists the runs that are planning or have an open task.
func (r *Rewinder) atWork(ctx context.Context) ([]choir.ID, error) {
	var out []choir.ID
	seen := map[choir.ID]bool{}
	add := func(run choir.ID) {
		if !seen[run] {
			seen[run] = true
			out = append(out, run)
		}
	}
	tasks, err := r.log.OpenTasks(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range eventstore.Unheld(tasks) {
		add(t.Run)
	}
	runs, err := r.log.OpenRuns(ctx)
	for _, run := range runs {
		if run.State != eventstore.RunWaiting {
			add(run.ID)
		}
	}
	return out, err
}

// How long runs that were told to stop may take: until their tasks returned,
// without which nothing goes on, and until they have ended, which a Director that
// does not run cannot say.
const (
	stopLimit = time.Minute
	endLimit  = 2 * time.Second
)

// stopRuns stops all running runs, waits until no task works in the tree and returns
// the stopped runs with the tree locked. why is the reason given to the runs.
func (r *Rewinder) stopRuns(ctx context.Context, role choir.Role, why string) (stopped []choir.ID, unlock func(), err error) {
	hard, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	soft, cancel := context.WithTimeout(hard, endLimit)
	defer cancel()
	defer r.workspace.Waiting()()
	for {
		head, _ := r.log.Head()
		runs, err := r.atWork(ctx)
		if err == nil {
			stopped, err = r.tellToStop(ctx, role, runs, stopped, why)
		}
		if err != nil {
			return stopped, nil, err
		}
		waiting := hard
		if len(runs) > 0 && soft.Err() == nil {
			waiting = soft
		} else if unlock, err := r.workspace.LockIdle(ctx); unlock != nil || err != nil {
			return stopped, unlock, err
		}
		if err := r.log.WaitPast(waiting, head); err != nil && ctx.Err() != nil {
			return stopped, nil, choir.Wrap("computer.rewind", choir.CodeCancelled, ctx.Err(), "ended")
		} else if hard.Err() != nil {
			return stopped, nil, choir.Refuse("computer.rewind", choir.ReasonTaskDoesNotStop, choir.SecondsOf("span", stopLimit))
		} else if err != nil && soft.Err() == nil {
			return stopped, nil, err
		}
	}
}

// tellToStop appends a cancellation for each of runs that is not in told. It returns
// told with these runs added.
func (r *Rewinder) tellToStop(ctx context.Context, role choir.Role, runs, told []choir.ID, why string) ([]choir.ID, error) {
	for _, run := range runs {
		if slices.Contains(told, run) {
			continue
		}
		d, err := r.events.Draft(choir.RunCancelRequested{Reason: why})
		if err == nil {
			_, err = r.events.AppendAs(ctx, role, d.ForRun(run, ""))
		}
		if err != nil {
			return told, err
		}
		told = append(told, run)
	}
	return told, nil
}
