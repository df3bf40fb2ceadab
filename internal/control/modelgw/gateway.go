// Package modelgw is the model gateway of one computer: the only way model
// calls leave it. Keys and budgets live here, and every call is in the log.
package modelgw

import (
	"context"
	"net/http"

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
	// EventsOfRun lists the events of a run after a sequence number, in order.
	EventsOfRun(ctx context.Context, run choir.ID, after uint64, limit int) ([]choir.Event, error)
}

// Route is where a model alias leads.
type Route struct {
	Provider model.Provider
	Model    string // the provider's name of the model
}

// Used is what was spent.
type Used struct {
	Tokens  int64 // input and output
	CostUSD float64
}

// Budget bounds spending; zero means no bound. A call that began below the
// bound is let finish.
type Budget struct {
	RunTokens       int64
	RunCostUSD      float64
	ComputerTokens  int64
	ComputerCostUSD float64
}

// Config of a gateway. Required: Log, Blobs, Now, NewID, Caller, Computer.
type Config struct {
	Computer choir.ID
	// Routes by alias: director, associate, and tool (for programs in the
	// sandbox; default associate). None means that no model is configured.
	Routes map[string]Route
	Log    Log
	Blobs  blob.Store
	Budget Budget
	// Spent is what the computer has spent before this gateway began; nil
	// means nothing.
	Spent func(ctx context.Context) (Used, error)
	// Prices by model name, added to the built-in table.
	Prices map[string]Price
	// Caller says which role sent a request, by the peer of its connection; ok
	// is false for any other program in the sandbox.
	Caller func(r *http.Request) (role choir.Role, ok bool)
	// Running is the run and task that programs in the sandbox work for; nil or
	// empty ids when there is none.
	Running func(r *http.Request) (run, task choir.ID)
	Now     func() choir.Time
	NewID   func() (choir.ID, error)
	// Concurrent bounds the calls in flight; default 16.
	Concurrent int
}

// Price is US dollars per million tokens.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// Gateway serves model calls over HTTP. Close it to end the calls in flight.
type Gateway struct {
	cfg Config
}

// New makes a gateway.
func New(cfg Config) *Gateway { return &Gateway{cfg: cfg} }

// ServeHTTP answers CallPath, /anthropic/v1/messages, /openai/v1/chat/completions
// and /openai/v1/models.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "the model gateway is not built yet", http.StatusNotImplemented)
}

// Close ends the calls in flight and waits for them.
func (g *Gateway) Close() error { return nil }
