// Package modelgw is the model gateway of one computer, the only way its model calls
// reach a provider. It holds the keys, enforces budgets and records every call in the
// log.
package modelgw

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Log is the part of a computer's log that the gateway needs; eventstore.Store
// implements it.
type Log interface {
	// Append stores events durably, all or none. A draft that is already stored gets its
	// first receipt again.
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
	// Event returns the event with an id. Code not_found: there is none.
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	// EventsOfRun iterates over the events of a run after a sequence number, in order.
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
}

// Work is the run and task for which a program in a sandbox calls a model.
type Work struct {
	Run, Task choir.ID // empty when there is none
	// Allowed is the task's budget for its programs; nil means that they may not call a
	// model.
	Allowed *choir.ModelBudget
}

// Config is the configuration of a gateway. Required: Computer, Routing, Log, Blobs,
// Caller, MayCall, Now, NewID.
type Config struct {
	Computer choir.ID
	// Routing returns the routes and prices in force. It is called for each model call,
	// so that a model can be connected while runs are in progress.
	Routing func() Routing
	// RunRoutes returns the routes of a run that has its own, which replace those of
	// Routing; nil for any other run.
	RunRoutes func(ctx context.Context, run choir.ID) (map[string]Route, error)
	Log       Log
	Blobs     blob.Store
	Budget    Budget
	// Caller returns the role whose connection sent a request; ok is false for any other
	// program in the sandbox.
	Caller func(r *http.Request) (role choir.Role, ok bool)
	// MayCall returns nil if the role may call a model for the run and task named in its
	// request, and the reason otherwise. It is called again right before each request to a
	// provider, because a call may have waited; for a program with the role Associate,
	// whose tasks programs work for.
	MayCall func(ctx context.Context, role choir.Role, run, task choir.ID) error
	// Hold waits while a run is paused, and returns when a call of it may leave; nil holds
	// none. Its error is that of ctx.
	Hold func(ctx context.Context, run choir.ID) error
	// Running returns the run and task of the programs in the Associate's sandbox; empty
	// when no task is in progress.
	Running func(r *http.Request) (Work, error)
	Now     func() choir.Time
	NewID   func() (choir.ID, error)
	// Concurrent is the maximum of calls at the provider at once, default 16.
	// waitingPerSlot times as many may wait.
	Concurrent int
	// Linger is the time for which a program's call goes on after the program has
	// disconnected, default 2 minutes.
	Linger time.Duration
	// BodyTime is the maximum time in which the body of a request has to arrive, default 1
	// minute.
	BodyTime time.Duration
}

// waitingPerSlot is the maximum of waiting calls for each of Config.Concurrent.
const waitingPerSlot = 8

// Gateway serves the model calls of one computer over HTTP. Close it before the log, so
// that the end of each call is recorded.
type Gateway struct {
	cfg    Config
	books  Books
	mux    *http.ServeMux
	ledger *ledger
	slots  chan struct{} // one token per call in flight

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup // the flights

	mu      sync.Mutex // guards the fields below
	flights map[flightKey]*flight
	waits   map[flightKey]wait
	bodies  map[string]chan struct{} // of bodySlots, by caller
	closed  bool
}

// New returns a gateway whose budgets count the spending that books reads from the log.
func New(books Books, cfg Config) *Gateway {
	cfg.Budget.Run = cfg.Budget.Run.WithDefaults()
	if cfg.Linger <= 0 {
		cfg.Linger = 2 * time.Minute
	}
	if cfg.BodyTime <= 0 {
		cfg.BodyTime = time.Minute
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
		bodies:  map[string]chan struct{}{},
	}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.ledger = newLedger(g.ctx, cfg.Now)
	g.mux.HandleFunc("POST "+model.CallPath, g.serveCall)
	// A program's base URL is that of one API, or the gateway itself.
	for _, base := range []string{"", "/anthropic"} {
		g.mux.HandleFunc("POST "+base+"/v1/messages", g.serveMessages)
		g.mux.HandleFunc("POST "+base+"/v1/messages/count_tokens", g.serveCountTokens)
	}
	for _, base := range []string{"", "/openai"} {
		g.mux.HandleFunc("POST "+base+"/v1/chat/completions", g.serveCompletions)
		g.mux.HandleFunc("POST "+base+"/v1/responses", g.serveResponses)
	}
	for _, base := range []string{"", "/anthropic", "/openai"} {
		g.mux.HandleFunc("GET "+base+"/v1/models", g.serveModels)
		g.mux.HandleFunc("GET "+base+"/v1/models/{model}", g.serveModel)
	}
	g.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writePathError(w, r, choir.E("modelgw.serve", choir.CodeNotFound, "the model gateway does not serve %s %s", r.Method, r.URL.Path))
	})
	return g
}

// ServeHTTP answers model.CallPath and the paths below /v1 that New registers.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// Close cancels the calls in progress and waits until their end is in the log.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.work.Wait()
	g.ledger.loads.Wait()
	return nil
}

// InFlight returns the number of calls in progress, including calls that wait for a
// slot.
func (g *Gateway) InFlight() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.flights)
}
