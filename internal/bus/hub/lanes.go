package hub

import (
	"context"
	"sync"

	"choiros/internal/choir"
)

// Limits of one role's lane.
const (
	laneWidth = 16  // commands that run at a time
	laneQueue = 256 // commands that wait; more are refused as busy
)

var (
	errClosing = choir.E("bus.respond", choir.CodeBusy, "the computer is going to sleep or restarting").
			WithRemedy("ask again")
	errFull = choir.E("bus.respond", choir.CodeBusy, "%d commands wait already", laneQueue).
		WithRemedy("ask again a little later")
)

// lanes runs work with bounded concurrency, each role beside the others.
type lanes struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	lane   map[choir.Role]*lane
}

type lane struct {
	running int
	waiting []func(context.Context)
}

func newLanes() *lanes {
	l := &lanes{lane: map[choir.Role]*lane{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// enter runs the work now or later, or says why not.
func (l *lanes) enter(role choir.Role, work func(context.Context)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosing
	}
	own := l.lane[role]
	if own == nil {
		own = &lane{}
		l.lane[role] = own
	}
	switch {
	case own.running < laneWidth:
		own.running++
		l.running.Go(func() { l.drive(own, work) })
	case len(own.waiting) < laneQueue:
		own.waiting = append(own.waiting, work)
	default:
		return errFull
	}
	return nil
}

// drive runs work, and then what waits, in the order it came.
func (l *lanes) drive(own *lane, work func(context.Context)) {
	for work != nil {
		work(l.ctx)
		work = l.next(own)
	}
}

func (l *lanes) next(own *lane) func(context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(own.waiting) == 0 {
		own.running--
		return nil
	}
	work := own.waiting[0]
	own.waiting[0] = nil
	own.waiting = own.waiting[1:]
	return work
}

// close cancels what runs, lets what waits find that out, and waits for both.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.running.Wait()
}
