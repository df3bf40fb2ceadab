package cluster

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/replica"
)

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
	// lastWords is how long Close waits for the cluster to acknowledge the whole log.
	lastWords = 2 * time.Second
)

// Replica implements replica.Replica. Its position is the stream's last message:
// message n is event n, and the stream accepts a message only as its next one.
type Replica struct {
	cfg      Config
	computer choir.ID
	src      replica.EventSource
	stop     context.CancelFunc
	stopped  chan struct{}

	mu      sync.Mutex    // guards acked, reached, why and moved
	acked   uint64        // every event up to this number is on a majority of the nodes
	reached bool          // a session is open
	why     error         // why no session is open
	moved   chan struct{} // closed at each change; nil while no caller waits
}

// Replica implements replica.Cluster.
func (c Config) Replica(computer choir.ID) replica.Replica { return New(c, computer) }

// New returns the replica of a computer's log. It does nothing until Start.
func New(cfg Config, computer choir.ID) *Replica {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = func(string, ...any) {}
	}
	return &Replica{cfg: cfg, computer: computer, why: choir.Refuse("cluster", choir.ReasonClusterNotReached)}
}

// Start begins to copy src in a goroutine, which Close stops.
func (r *Replica) Start(src replica.EventSource) {
	ctx, stop := context.WithCancel(context.Background())
	r.src, r.stop, r.stopped = src, stop, make(chan struct{})
	go func() {
		defer close(r.stopped)
		r.run(ctx)
	}()
}

// Close stops copying. While the cluster is reachable, it first waits up to lastWords for
// it to have the whole log.
func (r *Replica) Close() {
	if r.stop == nil {
		return
	}
	if r.Healthy() == nil {
		head, _ := r.src.Head()
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		_ = r.Wait(ctx, head) // what is missing is copied after the next start
		cancel()
	}
	r.stop()
	<-r.stopped
}

// Wait waits, at most for the configured timeout, until the cluster has event seq. Code
// unavailable: it does not have it in time; conflict: it has another log.
func (r *Replica) Wait(ctx context.Context, seq uint64) error {
	limit := time.NewTimer(r.cfg.Timeout)
	defer limit.Stop()
	for {
		r.mu.Lock()
		acked, why := r.acked, r.why
		if r.moved == nil {
			r.moved = make(chan struct{})
		}
		moved := r.moved
		r.mu.Unlock()
		switch {
		case acked >= seq:
			return nil
		case choir.CodeOf(why) == choir.CodeConflict:
			return why
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return choir.Wrap("cluster.wait", "", ctx.Err(), "the caller did not wait for the cluster")
		case <-limit.C:
			if why == nil {
				why = choir.Refuse("cluster.wait", choir.ReasonClusterBehind, choir.TextOf("event", acked))
			}
			return choir.Wrap("cluster.wait", choir.CodeUnavailable, why, "no answer of the cluster within %s", r.cfg.Timeout)
		}
	}
}

// Healthy returns nil while the cluster accepts events, else an error with the reason.
func (r *Replica) Healthy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reached {
		return nil
	}
	head, _ := r.src.Head()
	err := choir.Refuse("cluster.health", choir.ReasonClusterNotReplicated, choir.TextOf("from", min(r.acked, head)+1), choir.TextOf("to", head))
	if r.acked >= head {
		err.Msg = "every event is replicated, and the cluster is not reached"
	}
	err.Err = r.why
	return err
}

// Acked returns the number of the last event known to be on a majority of the nodes.
func (r *Replica) Acked() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked
}

// change sets acked and the reason why no session is open (nil: one is), and wakes waiting callers.
func (r *Replica) change(acked uint64, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked, r.reached, r.why = acked, why == nil, why
	if r.moved != nil {
		close(r.moved)
		r.moved = nil
	}
}

// run copies until ctx ends, by one session after the other.
func (r *Replica) run(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		before := r.Acked()
		err := r.session(ctx)
		if ctx.Err() != nil {
			return
		}
		r.change(r.Acked(), err)
		r.cfg.Log("the cluster does not take the log and is asked again", "computer", r.computer, "error", err)
		if r.Acked() > before {
			wait = firstRetry
		}
		again := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
	}
}
