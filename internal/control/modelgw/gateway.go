// Package modelgw is the model gateway of one computer: the only way model
// calls leave it. Keys and budgets live here, and every call is in the log.
package modelgw

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Log is what the gateway needs of a computer's log; eventstore.Store has it.
type Log interface {
	// Append stores events durably, all or none, each id once.
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
	// Event finds an event; code not_found when there is none.
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	// EventsOfRun reads the events of a run after a sequence number, in order.
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
}

// Work is what programs in a sandbox work for.
type Work struct {
	Run, Task choir.ID // empty when there is none
	// Allowed is what the task lets its programs spend; nil when they may not call.
	Allowed *choir.ModelBudget
}

// Config of a gateway. Required: Computer, Routing, Log, Blobs, Caller, MayCall, Now, NewID.
type Config struct {
	Computer choir.ID
	// Routing says where calls lead and what they cost. It is asked for each call,
	// so that a model can be connected while runs are at work.
	Routing func() Routing
	// RunRoutes are the routes of a run that has its own, in place of those; nil
	// for a run that has none.
	RunRoutes func(ctx context.Context, run choir.ID) (map[string]Route, error)
	Log       Log
	Blobs     blob.Store
	Budget    Budget
	// Caller says which role sent a request, as its connection says; ok is false
	// for any other program in the sandbox.
	Caller func(r *http.Request) (role choir.Role, ok bool)
	// MayCall says why a role may not call for a run and a task, which the body of
	// its request names; nil when that is what is open for it.
	MayCall func(ctx context.Context, role choir.Role, run, task choir.ID) error
	// Running is what the programs in the Associate's sandbox work for; nil when
	// they work for nothing.
	Running func(r *http.Request) (Work, error)
	Now     func() choir.Time
	NewID   func() (choir.ID, error)
	// Concurrent bounds the calls in flight, default 16; as many times
	// waitingPerSlot may wait.
	Concurrent int
	// Linger is how long the call of a program goes on after the program has gone,
	// default 2 minutes.
	Linger time.Duration
}

// waitingPerSlot bounds the calls that wait for one in flight to end.
const waitingPerSlot = 8

// Gateway serves model calls over HTTP. Close it, before the log, to end the
// calls in flight.
type Gateway struct {
	cfg    Config
	books  Books
	mux    *http.ServeMux
	ledger *ledger
	slots  chan struct{} // one token per call in flight
	// careful is set while the last record of a call's beginning has failed.
	careful atomic.Bool

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup // the flights

	mu      sync.Mutex // guards what follows
	flights map[flightKey]*flight
	waits   map[flightKey]wait
	closed  bool
}

// New makes a gateway over what the log says was spent.
func New(books Books, cfg Config) *Gateway {
	cfg.Budget.Run = cfg.Budget.Run.WithDefaults()
	if cfg.Linger <= 0 {
		cfg.Linger = 2 * time.Minute
	}
	if cfg.Concurrent <= 0 {
		cfg.Concurrent = 16
	}
	g := &Gateway{
		cfg:     cfg,
		books:   books,
		mux:     http.NewServeMux(),
		slots:   make(chan struct{}, cfg.Concurrent),
		flights: map[flightKey]*flight{},
		waits:   map[flightKey]wait{},
	}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.ledger = newLedger(g.ctx, cfg.Now)
	g.mux.HandleFunc("POST "+model.CallPath, g.serveCall)
	g.mux.HandleFunc("POST /anthropic/v1/messages", g.serveMessages)
	g.mux.HandleFunc("POST /openai/v1/chat/completions", g.serveCompletions)
	g.mux.HandleFunc("GET /openai/v1/models", g.serveModels)
	g.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeFailure(w, choir.E("modelgw.serve", choir.CodeNotFound, "the model gateway does not serve %s %s", r.Method, r.URL.Path))
	})
	return g
}

// ServeHTTP answers model.CallPath, /anthropic/v1/messages,
// /openai/v1/chat/completions and /openai/v1/models.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// Close ends the calls in flight and waits until their end is in the log.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.work.Wait()
	g.ledger.loads.Wait()
	return nil
}

// InFlight counts the calls that are being made or wait for a slot.
func (g *Gateway) InFlight() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.flights)
}
