package command

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

const (
	// shownAfter is how long a command runs before people are shown it, and shownEvery the least
	// time between two parts of its output.
	shownAfter = time.Second
	shownEvery = 100 * time.Millisecond
	// shownBytes limits how much earlier output is shown.
	shownBytes = 256 << 10
	// showPatience limits how long the end of a command is tried to be shown.
	showPatience = 3 * time.Second
)

// Ends are the running commands that people can end, by the ids of their tool calls. The
// methods are safe for concurrent use.
type Ends struct {
	mu   sync.Mutex // guards ends
	ends map[choir.ID]func()
}

// add registers a running command. The returned function removes it.
func (c *Ends) add(call choir.ID, end func()) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[choir.ID]func(){}
	}
	c.ends[call] = end
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.ends, call)
	}
}

// End ends the running command that a tool call started, because a person wants it. Without
// such a command it does nothing.
func (c *Ends) End(call choir.ID) {
	c.mu.Lock()
	end := c.ends[call]
	c.mu.Unlock()
	if end != nil {
		end()
	}
}

// startShowing shows people a command while it runs, unless it ends at once. number is that of
// its tool call.
func (c *Commands) startShowing(r *running, number int) {
	ctx, cancel := context.WithCancel(c.cfg.Life)
	r.unshow, r.shown = cancel, make(chan struct{})
	remove := c.cfg.Ends.add(choir.ToolCallID(c.cfg.Task, number), func() { r.end(errEndedByPerson) })
	go func() {
		defer close(r.shown)
		defer cancel()
		defer remove()
		first := time.NewTimer(shownAfter)
		defer first.Stop()
		select {
		case <-r.done:
		case <-first.C:
			c.showOutput(ctx, r, number)
		}
	}()
}

// awaitShown waits until the end of a command that has ended is shown, or cannot be shown in time.
func (r *running) awaitShown() {
	timer := time.NewTimer(showPatience)
	defer timer.Stop()
	select {
	case <-r.shown:
	case <-timer.C:
		r.unshow()
		<-r.shown
	}
}

// showOutput sends the output of a command until it has ended. It returns early if nobody may
// see it any more: only the output for people is missing then.
func (c *Commands) showOutput(ctx context.Context, r *running, number int) {
	req := choir.TaskOutputRequest{Task: c.cfg.Task, Call: number, Command: excerpt.Text([]byte(r.run.Command)), Started: r.run.Started}
	every := time.NewTicker(shownEvery)
	defer every.Stop()
	for next := int64(0); ; {
		ended := isClosed(r.done)
		from, chunk, total, more := r.rec.part(max(next, r.rec.total()-shownBytes), choir.OutputChunk)
		req.From, req.Lost, req.Chunk = from, from > next, chunk
		if end := from + int64(len(chunk)); ended && end == total {
			req.Ended = &choir.CommandExit{Code: r.exit.Code, Signal: r.exit.Signal}
		}
		reply, err := c.cfg.Screen.ShowCommand(ctx, req)
		if err != nil {
			return
		}
		next = reply.Next
		if req.Ended != nil && next == total {
			return
		}
		if req.Ended = nil; next == total && !ended {
			select {
			case <-more:
			case <-r.done:
			case <-ctx.Done():
			}
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// isClosed reports whether a channel that nothing is sent on is closed.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
