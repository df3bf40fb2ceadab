package hub

import (
	"context"
	"sync"

	"choiros/internal/choir"
)

// Limits of the commands of one role.
const (
	laneWidth = 16       // commands that run at a time
	laneQueue = 256      // commands that wait; more are refused as busy
	laneBytes = 16 << 20 // bytes of the commands that run or wait
)

var (
	errClosing = choir.E("bus.respond", choir.CodeBusy, "the computer is going to sleep or restarting").
			WithRemedy("ask again")
	errFull = choir.E("bus.respond", choir.CodeBusy, "too many commands of this role wait already").
		WithRemedy("ask again a little later")
)

// lanes runs the commands of each role concurrently, with limits of their own for each
// role.
type lanes struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards closed and lane
	closed bool
	lane   map[choir.Role]*lane
}

type lane struct {
	running int
	bytes   int
	waiting []job
}

// job is the execution of one command. bytes counts against laneBytes until it ends.
type job struct {
	bytes int
	do    func(context.Context)
}

// newLanes returns lanes without jobs. The caller closes them.
func newLanes() *lanes {
	l := &lanes{lane: map[choir.Role]*lane{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// submit runs a job now or queues it behind others of its role. Code busy: the role's queue
// is full, or the lanes are closed.
func (l *lanes) submit(role choir.Role, j job) error {
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
	case own.bytes+j.bytes > laneBytes:
		return errFull
	case own.running < laneWidth:
		own.running++
		l.running.Go(func() { l.drive(own, j) })
	case len(own.waiting) < laneQueue:
		own.waiting = append(own.waiting, j)
	default:
		return errFull
	}
	own.bytes += j.bytes
	return nil
}

// drive runs a job and then the queued jobs of its lane, in order.
func (l *lanes) drive(own *lane, j job) {
	for more := true; more; {
		j.do(l.ctx)
		j, more = l.next(own, j)
	}
}

// next ends the job done and returns the next queued job of its lane; false if there is none.
func (l *lanes) next(own *lane, done job) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own.bytes -= done.bytes
	if len(own.waiting) == 0 {
		own.running--
		return job{}, false
	}
	j := own.waiting[0]
	own.waiting[0] = job{}
	own.waiting = own.waiting[1:]
	return j, true
}

// close cancels all jobs, queued ones too, refuses later ones, and waits for all to end.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.running.Wait()
}
