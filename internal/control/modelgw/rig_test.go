package modelgw_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memLog is a log in memory that accepts what a computer's log accepts.
type memLog struct {
	mu     sync.Mutex
	events []choir.Event
}

func (l *memLog) Append(_ context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []choir.Receipt
	for _, d := range drafts {
		info, ok := choir.LookupType(d.Type)
		if !ok || !info.MayAppend(role) || !d.ID.Valid() {
			return nil, choir.E("log", choir.CodeForbidden, "%s by %s", d.Type, role)
		}
		if _, err := choir.DecodePayload(d.Type, d.Payload); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(l.events, func(e choir.Event) bool { return e.ID == d.ID }); i >= 0 {
			out = append(out, choir.Receipt{Seq: l.events[i].Seq, ID: d.ID, Duplicate: true})
			continue
		}
		e := choir.Event{Seq: uint64(len(l.events) + 1), ID: d.ID, Source: role.Source(), Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload}
		l.events = append(l.events, e)
		out = append(out, choir.Receipt{Seq: e.Seq, ID: e.ID})
	}
	return out, nil
}

func (l *memLog) Event(_ context.Context, id choir.ID) (choir.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.ID == id {
			return e, nil
		}
	}
	return choir.Event{}, choir.E("log", choir.CodeNotFound, "no event %s", id)
}

func (l *memLog) EventsOfRun(_ context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		l.mu.Lock()
		events := slices.Clone(l.events)
		l.mu.Unlock()
		for _, e := range events {
			if e.Run == run && e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

// of lists the events of a type.
func (l *memLog) of(t choir.Type) []choir.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []choir.Event
	for _, e := range l.events {
		if e.Type == t {
			out = append(out, e)
		}
	}
	return out
}

func payload[P any](t *testing.T, e choir.Event) P {
	t.Helper()
	var p P
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// memBooks are the books of a log in memory.
type memBooks struct {
	*memLog
	desktop map[choir.ID]bool // the runs that a desktop began
	// reads is called before a run's account is read; nil for nothing.
	reads func(ctx context.Context) error
}

func (b memBooks) Spent(ctx context.Context, run choir.ID) (modelgw.Used, error) {
	if b.reads != nil && run != "" {
		if err := b.reads(ctx); err != nil {
			return modelgw.Used{}, err
		}
	}
	return b.sum(func(e choir.Event) bool { return run == "" || e.Run == run }), nil
}

func (b memBooks) sum(counts func(choir.Event) bool) (sum modelgw.Used) {
	for _, e := range b.of("model.returned") {
		var p choir.ModelReturned
		if json.Unmarshal(e.Payload, &p) == nil && counts(e) {
			sum.Calls++
			sum.Tokens += p.InputTokens + p.OutputTokens
			sum.CostUSD += p.CostUSD
		}
	}
	return sum
}

func (b memBooks) BegunByDesktop(_ context.Context, run choir.ID) (bool, error) {
	return b.desktop[run], nil
}

func (b memBooks) SpentByDesktop(context.Context) (modelgw.Used, error) {
	return b.sum(func(e choir.Event) bool { return b.desktop[e.Run] }), nil
}

func (b memBooks) Unreturned(context.Context) ([]choir.Event, error) {
	var open []choir.Event
	for _, e := range b.of("model.called") {
		if !slices.ContainsFunc(b.of("model.returned"), func(r choir.Event) bool { return r.Cause == e.ID }) {
			open = append(open, e)
		}
	}
	return open, nil
}

// rig is a gateway behind a real HTTP server.
type rig struct {
	books memBooks
	heard atomic.Int64 // pieces that the callers of director heard
	ended atomic.Int64 // requests that the gateway does not serve any more
	log   *memLog
	blobs blob.Store
	cfg   modelgw.Config
	gw    *modelgw.Gateway
	http  *httptest.Server
	addr  atomic.Value // of http; clients dial while it changes
}

func newID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

func id(t testing.TB) choir.ID {
	t.Helper()
	v, err := newID()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// roleHeader names the role in tests; in a computer the connection's peer does.
const roleHeader = "X-Test-Role"

func newRig(t testing.TB, change func(*modelgw.Config)) *rig {
	t.Helper()
	r := &rig{log: &memLog{}, blobs: mem.New(mem.Config{})}
	r.books = memBooks{memLog: r.log, desktop: map[choir.ID]bool{}}
	work := modelgw.Work{Run: id(t), Task: id(t), Allowed: &choir.ModelBudget{Calls: 1000}}
	r.cfg = modelgw.Config{
		Computer: id(t), Routing: modelgw.Fixed(nil, nil), Log: r.log, Blobs: r.blobs, NewID: newID,
		Now: func() choir.Time { return choir.TimeOf(time.Now()) },
		Caller: func(req *http.Request) (choir.Role, bool) {
			role := choir.Role(req.Header.Get(roleHeader))
			return role, role != ""
		},
		Running: func(*http.Request) (modelgw.Work, error) { return work, nil },
		MayCall: func(context.Context, choir.Role, choir.ID, choir.ID) error { return nil },
	}
	change(&r.cfg)
	r.open(t)
	t.Cleanup(r.close)
	return r
}

func (r *rig) open(testing.TB) {
	r.gw = modelgw.New(r.books, r.cfg)
	r.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer r.ended.Add(1)
		r.gw.ServeHTTP(w, req)
	}))
	r.addr.Store(strings.TrimPrefix(r.http.URL, "http://"))
}

func (r *rig) close() {
	r.gw.Close()
	r.http.Close()
}

// client is a role's client whose connections all lead to the rig.
func (r *rig) client(t testing.TB, role choir.Role) *gateway.Client {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", r.addr.Load().(string))
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return gateway.New(&http.Client{Transport: asRole{tr, role}})
}

type asRole struct {
	next http.RoundTripper
	role choir.Role
}

func (a asRole) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if a.role != "" {
		req.Header.Set(roleHeader, string(a.role))
	}
	return a.next.RoundTrip(req)
}

// stub is a provider made of a function; it counts its calls.
type stub struct {
	mu     sync.Mutex
	asked  []model.Request
	stream func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error)
}

func (s *stub) Name() string { return "stub" }

func (s *stub) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	return s.stream(ctx, req, on)
}

func (s *stub) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func hello() model.Response {
	return model.Response{
		Model: "stub-1", Stop: model.StopEnd, Usage: model.Usage{Input: 100, Output: 20, CacheRead: 60},
		Content: []model.Block{{Kind: model.Text, Text: "Hello, world."}},
	}
}

func saysHello(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
	on(model.Delta{Text: "Hello, "})
	on(model.Delta{Text: "world."})
	return hello(), nil
}

func routes(p model.Provider) func(*modelgw.Config) {
	return func(c *modelgw.Config) {
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "stub-1", Free: true}, "associate": {Provider: p, Model: "stub-1", Free: true}}, nil)
	}
}

func ask(text string) model.Request {
	return model.Request{Model: "director", MaxTokens: 100, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: text}}},
	}}
}

func wantCode(t *testing.T, err error, want choir.Code) *choir.Error {
	t.Helper()
	var e *choir.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Fatalf("the error is %v (code %s), want code %s", err, choir.CodeOf(err), want)
	}
	return e
}
