package rewind

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// jobs are the rewinds that were started, one at a time.
type jobs struct {
	queue chan *Job // to Serve; never closed

	mu   sync.Mutex // guards last
	last *Job
}

// Job is a rewind that goes on beside the call that asked for it: a large workspace takes
// longer than a caller waits.
type Job struct {
	ToSeq  uint64
	role   choir.Role
	cancel context.CancelFunc
	ctx    context.Context
	done   chan struct{}
	result Rewound
	err    error
}

// Done is closed when the rewind has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Result is what the rewind did. It must have ended.
func (j *Job) Result() (Rewound, error) {
	<-j.done
	return j.result, j.err
}

// Ended reports whether the rewind is over.
func (j *Job) Ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// String names the service.
func (*Rewinder) String() string { return "rewinds" }

// Serve carries out the rewinds that were started until the context ends. It is a service.
func (r *Rewinder) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case j := <-r.jobs.queue:
			stop := context.AfterFunc(ctx, j.cancel)
			j.result, j.err = r.Rewind(j.ctx, j.role, j.ToSeq, false)
			stop()
			j.cancel()
			close(j.done)
		}
	}
}

// Start begins a rewind, which goes on when the caller has gone. Code busy while another
// is under way, invalid or not_found for a moment that is none, unavailable when Serve
// does not run.
func (r *Rewinder) Start(ctx context.Context, role choir.Role, seq uint64) (*Job, error) {
	if err := r.log.MustHave(seq); err != nil {
		return nil, choir.Under("to_seq", err)
	}
	j := &Job{ToSeq: seq, role: role, done: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := r.jobs.become(j); err != nil {
		j.cancel()
		return nil, err
	}
	if r.cfg.ReadOnly || r.log.ReadOnly() != "" {
		defer close(j.done)
		j.result, j.err = r.Rewind(ctx, role, seq, false) // it says what is missing
		return j, nil
	}
	late := time.NewTimer(jobPatience)
	defer late.Stop()
	select {
	case r.jobs.queue <- j:
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
func (js *jobs) become(j *Job) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.last != nil && !js.last.Ended() {
		return choir.E("computer.rewind", choir.CodeBusy, "the computer goes back to event %d already", js.last.ToSeq).
			WithRemedy("wait for it, or stop it: choir rewind --cancel")
	}
	js.last = j
	return nil
}

// Last returns the rewind that is under way or was the last of this session; nil when
// there was none.
func (r *Rewinder) Last() *Job {
	r.jobs.mu.Lock()
	defer r.jobs.mu.Unlock()
	return r.jobs.last
}

// Cancel stops the rewind that is under way and returns once the workspace is as it was
// before. Code conflict when none is, timeout when the context ends before that.
func (r *Rewinder) Cancel(ctx context.Context) error {
	j := r.Last()
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
