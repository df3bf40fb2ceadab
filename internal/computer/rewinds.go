package computer

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// rewinds carries out one rewind at a time, beside the call that asked for it: a
// large workspace takes longer than a caller waits. It is a service.
type rewinds struct {
	c    *Computer
	jobs chan *RewindJob

	mu   sync.Mutex // guards last
	last *RewindJob
}

func newRewinds(c *Computer) *rewinds { return &rewinds{c: c, jobs: make(chan *RewindJob)} }

func (*rewinds) String() string { return "rewinds" }

// RewindJob is a rewind under way, or the last one.
type RewindJob struct {
	ToSeq  uint64
	role   choir.Role
	cancel context.CancelFunc
	ctx    context.Context
	done   chan struct{}
	result Rewound
	err    error
}

// Done is closed when the rewind has ended.
func (j *RewindJob) Done() <-chan struct{} { return j.done }

// Result is what the rewind did. It must have ended.
func (j *RewindJob) Result() (Rewound, error) {
	<-j.done
	return j.result, j.err
}

// Ended reports whether the rewind is over.
func (j *RewindJob) Ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Serve carries out rewinds until the context ends.
func (r *rewinds) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case j := <-r.jobs:
			stop := context.AfterFunc(ctx, j.cancel)
			j.result, j.err = r.c.Rewind(j.ctx, j.role, j.ToSeq, false)
			stop()
			j.cancel()
			close(j.done)
		}
	}
}

// StartRewind begins a rewind, which goes on when the caller has gone. Code busy
// while another is under way, invalid or not_found for a moment that is none.
func (c *Computer) StartRewind(ctx context.Context, role choir.Role, seq uint64) (*RewindJob, error) {
	if err := c.store.MustHave(seq); err != nil {
		return nil, choir.Under("to_seq", err)
	}
	j := &RewindJob{ToSeq: seq, role: role, done: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.rewinds.become(j); err != nil {
		j.cancel()
		return nil, err
	}
	if c.reading || c.store.ReadOnly() != "" {
		defer close(j.done)
		j.result, j.err = c.Rewind(ctx, role, seq, false) // it says what is missing
		return j, nil
	}
	late := time.NewTimer(jobPatience)
	defer late.Stop()
	select {
	case c.rewinds.jobs <- j:
		return j, nil
	case <-late.C:
	case <-ctx.Done():
	}
	j.cancel()
	j.err = choir.E("computer.rewind", choir.CodeUnavailable, "the computer does not run").WithRemedy("try again once it has started")
	close(j.done)
	return nil, j.err
}

// jobPatience is how long a computer that starts may take until it carries out
// rewinds.
const jobPatience = 10 * time.Second

// become makes a job the last unless one is under way.
func (r *rewinds) become(j *RewindJob) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && !r.last.Ended() {
		return choir.E("computer.rewind", choir.CodeBusy, "the computer goes back to event %d already", r.last.ToSeq).
			WithRemedy("wait for it, or stop it: choir rewind --cancel")
	}
	r.last = j
	return nil
}

// LastRewind is the rewind that is under way or was the last of this session; nil
// when there was none.
func (c *Computer) LastRewind() *RewindJob {
	c.rewinds.mu.Lock()
	defer c.rewinds.mu.Unlock()
	return c.rewinds.last
}

// CancelRewind stops the rewind that is under way and returns once the workspace is
// as it was before; code conflict when none is.
func (c *Computer) CancelRewind(ctx context.Context) error {
	j := c.LastRewind()
	if j == nil || j.Ended() {
		return choir.E("computer.rewind", choir.CodeConflict, "no rewind is under way")
	}
	j.cancel()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return choir.Wrap("computer.rewind", choir.CodeTimeout, ctx.Err(), "the rewind is being stopped")
	}
}
