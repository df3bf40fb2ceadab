package director_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/gateway"
)

// ground is what a played script stands on, all of it real: the log, the bus
// with its relay, the blob store, and the model gateway with a provider that
// speaks to a scripted server.
type ground struct {
	*eventstore.Store
	home    bustest.Home
	blobs   *bustest.Blobs
	calls   blob.Store // of the gateway
	hub     *hub.Server
	answers *hub.Responder
	gateway *modelgw.Gateway
	door    *httptest.Server
	stop    context.CancelFunc
	relay   sync.WaitGroup

	facts string // of every run
	look  func(choir.LookRequest) (choir.LookReply, error)
	first func(choir.Draft) // sees each draft of the Director before it is appended; nil for nobody

	mu   sync.Mutex // guards keys
	keys []string   // public keys, in the order of the hellos
}

func newGround(t *testing.T, url string) *ground {
	t.Helper()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	home := bustest.NewHome(t)
	log, err := eventstore.Open(ctx, filepath.Join(dir, "log"), eventstore.Config{
		Computer: home.Computer, User: home.User, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{Store: log, home: home, blobs: bustest.NewBlobs(), stop: stop}
	if g.hub, err = hub.Start(ctx, hub.Config{Dir: filepath.Join(dir, "bus")}); err != nil {
		t.Fatal(err)
	}
	if g.answers, err = hub.Respond(g.hub, g.home.User, g.home.Computer, g.answer); err != nil {
		t.Fatal(err)
	}
	relay := hub.NewRelay(g.hub, g.Store, g.Store.Cursor("relay"), g.home.User, g.home.Computer)
	g.relay.Go(func() { _ = relay.Serve(ctx) })
	blobs, err := fs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	g.calls = blobs
	g.gateway = newGateway(g, blobs, url)
	g.door = httptest.NewServer(g.gateway)
	return g
}

// newGateway makes a gateway whose director model is served at url; none is
// configured when that is empty.
func newGateway(g *ground, blobs blob.Store, url string) *modelgw.Gateway {
	provider := anthropic.New(anthropic.Config{BaseURL: url, Key: func(context.Context) (string, error) { return "test", nil }})
	routes := map[string]modelgw.Route{"director": {Provider: provider, Model: "scripted-director", Free: true}}
	if url == "" {
		routes = nil
	}
	return modelgw.New(groundBooks{g.Store}, modelgw.Config{
		Computer: g.home.Computer, Log: g.Store, Blobs: blobs,
		Routing: modelgw.Fixed(routes, nil),
		Caller:  func(*http.Request) (choir.Role, bool) { return choir.RoleDirector, true },
		MayCall: func(ctx context.Context, _ choir.Role, run, _ choir.ID) error {
			r, err := g.Store.Run(ctx, run)
			if err == nil && !r.State.Open() {
				err = choir.E("ground", choir.CodeConflict, "run %s is over", run)
			}
			return err
		},
		Now:   func() choir.Time { return choir.TimeOf(time.Now()) },
		NewID: func() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) },
	})
}

// groundBooks are the books of the test's log.
type groundBooks struct{ *eventstore.Store }

func (b groundBooks) Spent(ctx context.Context, run choir.ID) (modelgw.Used, error) {
	u, err := b.Usage(ctx, run)
	return modelgw.Used{Calls: u.Calls, Tokens: u.InputTokens + u.OutputTokens, CostUSD: u.CostUSD}, err
}

func (groundBooks) BegunByDesktop(context.Context, choir.ID) (bool, error) { return false, nil }

func (groundBooks) SpentByDesktop(context.Context) (modelgw.Used, error) { return modelgw.Used{}, nil }

func (groundBooks) Unreturned(context.Context) ([]choir.Event, error) { return nil, nil }

// close ends everything, and only then the log.
func (g *ground) close() {
	g.gateway.Close()
	g.door.Close()
	g.answers.Close()
	g.stop()
	g.relay.Wait()
	g.hub.Close()
	g.Store.Close()
}

// answer serves the verbs of the Director.
func (g *ground) answer(ctx context.Context, caller choir.Caller, verb choir.Verb, body []byte) (any, error) {
	switch verb {
	case choir.VerbAppend:
		var req choir.AppendRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		for _, d := range req.Drafts {
			if g.first != nil {
				g.first(d)
			}
		}
		receipts, err := g.Append(ctx, caller.Role, req.Drafts...)
		return choir.AppendReply{Receipts: receipts}, err
	case choir.VerbEventsAfter:
		var req choir.EventsAfterRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		events, err := g.EventsAfter(ctx, req.Seq, choir.MaxEventsAfter)
		head, _ := g.Head()
		return choir.EventsAfterReply{Events: bus.Fit(events), Head: head}, err
	case choir.VerbRunRead:
		var req choir.RunReadRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		return readRun(ctx, g.Store, req.Run)
	case choir.VerbFactsRead:
		var req choir.FactsReadRequest
		err := choir.DecodeStrict(body, &req)
		return choir.FactsReadReply{Text: g.facts}, err
	case choir.VerbLook:
		var req choir.LookRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		return g.look(req)
	case choir.VerbHello:
		var req choir.HelloRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.keys = append(g.keys, req.PublicKey)
		return choir.Done{}, nil
	}
	if verb == choir.VerbBlobGet {
		var req choir.BlobGetRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		if raw, err := blob.ReadAll(ctx, g.calls, req.Digest, model.MaxCallBytes); err == nil {
			g.blobs.Put(raw)
		}
	}
	return g.blobs.Answer(verb, body)
}

// readRun reads the two ends of a run from a log.
func readRun(ctx context.Context, log *eventstore.Store, run choir.ID) (out choir.RunReadReply, err error) {
	for kind, to := range map[choir.Type]any{"prompt.submitted": &out.Asked, "run.finished": &out.Ended} {
		e, err := log.First(ctx, kind, string(run))
		if err == nil {
			err = choir.DecodeDurable(e.Payload, to)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// director connects to the bus as a Director that just started.
func (g *ground) director(ctx context.Context, public []byte) (*bus.Client, error) {
	creds, err := g.hub.Mint(choir.RoleDirector, g.home.User, g.home.Computer, time.Hour)
	if err != nil {
		return nil, err
	}
	c, err := bus.Dial(ctx, bus.DialConfig{
		Dial: g.hub.Dial, Credentials: creds, User: g.home.User, Computer: g.home.Computer, Role: choir.RoleDirector,
	})
	if err != nil {
		return nil, err
	}
	if err := c.Call(ctx, choir.VerbHello, choir.HelloRequest{PublicKey: base64.StdEncoding.EncodeToString(public)}, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// verified reports whether a signature was made by a Director that said hello.
func (g *ground) verified(text []byte, signature string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	sig, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && slices.ContainsFunc(g.keys, func(key string) bool {
		public, err := base64.StdEncoding.DecodeString(key)
		return err == nil && ed25519.Verify(public, text, sig)
	})
}

// models is the guest's client of the gateway; done ends its connections.
func (g *ground) models() (c *gateway.Client, done func()) {
	address := strings.TrimPrefix(g.door.URL, "http://")
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}
	return gateway.New(&http.Client{Transport: tr}), tr.CloseIdleConnections
}

// follow calls fn for every event of the log, straight from the store.
func (g *ground) follow(ctx context.Context, fn func(choir.Event) error) error {
	for e, err := range g.Follow(ctx, 0) {
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
