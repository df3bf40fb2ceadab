package supervisor

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/eventstore"
)

// foregroundPatience is the maximum time for the question which programs run in terminals.
const foregroundPatience = 5 * time.Second

// checkBusy returns, for one sweep, the function that tells why a computer without requests
// must not hibernate. Open requests, sockets and previews are uses, of which the pool
// knows.
func (s *System) checkBusy() func(ctx context.Context, id choir.ID, c *computer.Computer) string {
	pages, err := s.bus.Pages()
	return func(ctx context.Context, id choir.ID, c *computer.Computer) string {
		gw := s.gateways.peek(id)
		switch {
		case err != nil || s.bus.Healthy() != nil:
			return "the bus does not work, and has perhaps not all events"
		case notReplicated(c) != nil:
			return "its log is not replicated"
		case pages[id] > 0:
			return "a page of it is open"
		case c.Store().ReadOnly() != "":
			return "its log is read-only, which health says while it is open"
		case gw != nil && gw.InFlight() > 0:
			return "a model is called"
		case c.Workspace().Work() != nil:
			return "its workspace is read or changed"
		case c.Projects().Pushing():
			return "a checkpoint is pushed"
		}
		if why := workRemains(ctx, c); why != "" {
			return why
		}
		return foregroundBusy(ctx, c)
	}
}

// workRemains returns which open work in the log a computer must go on with; "" for none.
func workRemains(ctx context.Context, c *computer.Computer) string {
	// A paused run goes on from the log. Its task at work keeps the computer awake: the sandbox
	// has its commands.
	if runs, err := c.Store().OpenRuns(ctx); err != nil || slices.ContainsFunc(runs, func(r eventstore.Run) bool { return r.PausedSeq == 0 }) {
		return "a run is open"
	}
	if tasks, err := c.Store().OpenTasks(ctx); err != nil || len(tasks) > 0 {
		return "a task is open"
	}
	if job := c.Rewinder().Last(); job != nil && !job.Ended() {
		return "it is being rewound"
	}
	return ""
}

// foregroundBusy returns a reason if a program runs in the foreground of a terminal, or
// nobody knows; "" if all terminals are at their prompt.
func foregroundBusy(ctx context.Context, c *computer.Computer) string {
	if c.Roles().Terminals().Count() == 0 || c.Roles().Paused() { // it stands as it stood when it was idle
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, foregroundPatience)
	defer cancel()
	if n, err := c.Roles().Foreground(ctx); err != nil || n > 0 {
		return "a program runs in the foreground of a terminal"
	}
	return ""
}
