package rewind

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// jobs holds the started rewind; there is one at a time.
type jobs struct {
	queue chan *Job // to Serve; never closed

	mu   sync.Mutex // guards last
	last *Job
}

// Job is a rewind that runs in the background, because a large workspace takes longer
// than its caller waits.
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

// Result returns the outcome of the rewind once it has ended.
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

// Serve carries out started rewinds until the context ends. It is a service.
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

// Start starts a rewind to event seq in the background. Code busy: another rewind runs;
// invalid or not_found: there is no such event; unavailable: Serve does not run.
func (r *Rewinder) Start(ctx context.Context, role choir.Role, seq uint64) (*Job, error) {
	if err := r.log.MustHave(seq); err != nil {
		return nil, choir.Under("to_seq", err)
	}
	j := &Job{ToSeq: seq, role: role, done: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := r.jobs.setCurrent(j); err != nil {
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
	j.err = choir.Refuse("computer.rewind", choir.ReasonComputerNotStarted)
	close(j.done)
	return nil, j.err
}

// jobPatience is the time that Start waits for Serve of a starting computer.
const jobPatience = 10 * time.Second

// setCurrent makes j the current job. Code busy: another job still runs.
func (js *jobs) setCurrent(j *Job) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.last != nil && !js.last.Ended() {
		return choir.Refuse("computer.rewind", choir.ReasonRewindUnderWay, choir.CountOf("event", js.last.ToSeq))
	}
	js.last = j
	return nil
}

// Last returns the running rewind, or the last one of this session; nil if there was
// none.
func (r *Rewinder) Last() *Job {
	r.jobs.mu.Lock()
	defer r.jobs.mu.Unlock()
	return r.jobs.last
}

// Cancel stops the running rewind and returns once the workspace is as before it. Code
// conflict: none runs; timeout: the context ended first.
func (r *Rewinder) Cancel(ctx context.Context) error {
	j := r.Last()
	if j == nil || j.Ended() {
		return choir.Refuse("computer.rewind", choir.ReasonNoRewind)
	}
	j.cancel()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return choir.Wrap("computer.rewind", choir.CodeTimeout, ctx.Err(), "the rewind is being stopped")
	}
}
