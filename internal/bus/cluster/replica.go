package cluster

import (
	"context"
	"iter"
	"sync"
	"time"

	"choiros/internal/choir"
)

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
	// lastWords is how long Close waits for the cluster to have the whole log.
	lastWords = 2 * time.Second
)

// EventSource is the log that is copied; eventstore.Store is one.
type EventSource interface {
	// At reads one committed event; code not_found.
	At(ctx context.Context, seq uint64) (choir.Event, error)
	// Events reads the committed events of a range in order, both ends included; to 0
	// means all.
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	// Follow reads the events after a cursor in order, and waits for new ones until
	// ctx ends.
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
	// Head is the last durable event.
	Head() (uint64, choir.Digest)
}

// Replica copies one log to the cluster. How far it is, the stream itself says,
// so there is no cursor to lose: message n is event n, and a message is taken
// only right behind the one before.
type Replica struct {
	cfg      Config
	computer choir.ID
	src      EventSource
	stop     context.CancelFunc
	stopped  chan struct{}

	mu      sync.Mutex    // guards what follows
	acked   uint64        // every event up to here is on a majority of the nodes
	reached bool          // a session is open
	why     error         // why there is none
	moved   chan struct{} // closed at each change; nil while nobody waits
}

// New makes the replica of a computer's log. It does nothing until Start.
func New(cfg Config, computer choir.ID) *Replica {
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = func(string, ...any) {}
	}
	return &Replica{cfg: cfg, computer: computer, why: choir.E("cluster", choir.CodeUnavailable, "the cluster was not reached yet")}
}

// Start begins to copy.
func (r *Replica) Start(src EventSource) {
	ctx, stop := context.WithCancel(context.Background())
	r.src, r.stop, r.stopped = src, stop, make(chan struct{})
	go func() {
		defer close(r.stopped)
		r.run(ctx)
	}()
}

// Close ends the copying, when the cluster has the whole log or does not take it.
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

// Wait returns once the cluster has the event, or says why it does not have it
// in time. Code conflict: it holds another log.
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
				why = choir.E("cluster.wait", choir.CodeUnavailable, "the cluster has the events up to %d", acked)
			}
			return choir.Wrap("cluster.wait", choir.CodeUnavailable, why, "no answer of the cluster within %s", r.cfg.Timeout)
		}
	}
}

// Healthy says why the cluster does not take events, or nil.
func (r *Replica) Healthy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reached {
		return nil
	}
	head, _ := r.src.Head()
	err := choir.E("cluster.health", choir.CodeUnavailable, "events %d to %d are durable here and not known to be replicated", min(r.acked, head)+1, head)
	if r.acked >= head {
		err.Msg = "every event is replicated, and the cluster is not reached"
	}
	err.Err = r.why
	return err
}

// Acked is the last event that a majority of the nodes is known to have.
func (r *Replica) Acked() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked
}

// change notes what became of the copy and wakes who waits for it.
func (r *Replica) change(acked uint64, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked, r.reached, r.why = acked, why == nil, why
	if r.moved != nil {
		close(r.moved)
		r.moved = nil
	}
}

// run copies until ctx ends, over one session after the other.
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
