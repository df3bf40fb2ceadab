// Package controltest gives tests a real control plane: bus, log, sandboxes, API, and
// gateway on a port of its own.
package controltest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/control/auth/linklogin"
	"choiros/internal/control/connections"
	"choiros/internal/control/egress"
	"choiros/internal/control/gateway"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/supervisor"
	"choiros/internal/guestbin"
	"choiros/internal/keyring/files"
	"choiros/internal/keyring/vault"
	"choiros/internal/model"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// Patience is the maximum time for every wait.
const Patience = 60 * time.Second

// Plane is a running control plane of a test.
type Plane struct {
	*supervisor.System
	API     *api.API
	Gateway *gateway.Gateway
	// Address is the gateway's listen address, and Host the shell's name with port.
	Address, Host string
	Cookie        *http.Cookie

	t testing.TB
}

// Config returns a configuration for a data folder of a test. It skips the test if this
// machine lacks the prerequisites of sandboxes.
func Config(t testing.TB, data string) supervisor.Config {
	t.Helper()
	if _, err := guestbin.Checksum(); err != nil {
		t.Skip("the guest binaries are not built: make guest")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	return supervisor.Config{
		Data: data, File: config.Default(), Driver: local.New(local.Config{StateDir: filepath.Join(data, "sandbox")}),
		StartBus:    StartBus,
		OpenAuth:    OpenAuth,
		OpenBlobs:   func(dir string) (blob.Store, error) { return fs.Open(dir) },
		Connections: Connections(t, data, config.Models{}, nil),
		Outside:     egress.Internet(),
		Vault:       vault.New(filepath.Join(data, "keys", "vault"), time.Now),
		Demo:        supervisor.DemoConfig{Play: func([]byte, supervisor.Wait) (map[string]modelgw.Route, error) { return nil, nil }},
		Version:     "test", Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}
}

// StartBus starts the embedded bus, as cmd does, without a log.
func StartBus(ctx context.Context, at supervisor.BusFolders) (bus.Server, error) {
	return hub.Start(ctx, hub.Config{Dir: at.Dir, Keys: at.Keys, StoreMax: config.Default().Bus.StreamMB << 20})
}

// OpenAuth opens the sessions of local mode, as cmd does.
func OpenAuth(dir string, owner choir.ID) (auth.Authority, error) {
	return linklogin.OpenFolder(dir, owner, time.Now)
}

// Connections opens the models of a configuration, whose keys may be missing. provider
// returns the client of each service, also of services connected later.
func Connections(t testing.TB, data string, m config.Models, provider func(config.Provider, model.KeySource) (model.Provider, error)) *connections.Connections {
	t.Helper()
	keys := files.New(filepath.Join(data, "keys", "models"))
	c, err := connections.Open(connections.Config{
		Data: data, File: m, Keys: keys, Now: time.Now,
		Key: func(p config.Provider) api.ModelKey {
			d := keys.Describe(t.Context(), p.Name)
			return api.ModelKey{Kind: "kept", Where: d.Where, Present: d.Err == nil}
		},
		Source: func(p config.Provider) model.KeySource {
			return func(ctx context.Context) (string, error) { return keys.Read(ctx, p.Name) }
		},
		Provider: provider, Tester: provider,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Start starts a control plane, which stops at the end of the test.
func Start(t testing.TB) *Plane {
	t.Helper()
	return StartWith(t, Config(t, filepath.Join(sandboxtest.DataDir(t), "data")))
}

// StartWith starts a control plane with a configuration. It stops at the end of the
// test.
func StartWith(t testing.TB, cfg supervisor.Config) *Plane {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	sys, err := supervisor.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- sys.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, sys.Close()); err != nil {
			t.Error(err)
		}
	})
	p := &Plane{System: sys, t: t}
	p.serve(cfg)
	return p
}

// serve starts the API and the gateway, and logs in.
func (p *Plane) serve(cfg supervisor.Config) {
	p.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		p.t.Fatal(err)
	}
	l := cfg.File.Limits
	p.API = api.New(p.Edge(), api.Config{Version: "test", PromptBurst: l.PromptBurst, PromptWindow: time.Duration(l.PromptWindow) * time.Second, Now: cfg.Now})
	p.Gateway = gateway.New(gateway.Config{
		Site: gateway.NewSite(cfg.File.Listen, port), API: p.API, System: p.Edge(), Auth: p.Auth(), Bus: p.Bus(), Log: cfg.Log,
		Shell:   fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>shell</title>")}, "assets/a-1.js": {Data: []byte("1")}},
		Desktop: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>desktop</title>")}, "assets/a-1.js": {Data: []byte("1")}},
	})
	srv := httptest.NewUnstartedServer(p.Gateway)
	srv.Listener.Close()
	srv.Listener = ln
	srv.Start()
	p.t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		p.Gateway.Close()
	})
	p.Address, p.Host = ln.Addr().String(), cfg.File.Listen.Shell+":"+port
	token, err := p.NewLink()
	if err == nil {
		p.Cookie, err = p.Auth().Login(token)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Request is a request to the gateway. Absent fields have the values that the shell
// would send.
type Request struct {
	Method, Path string
	Body         any // marshalled, unless it is an io.Reader
	Host         string
	Header       http.Header // replaces; a nil value removes
	NoCookie     bool
}

// Do sends a request without following redirects, and returns the answer and its body.
func (p *Plane) Do(r Request) (*http.Response, []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), r.Method, "http://"+p.Address+r.Path, p.reader(r.Body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Host = p.Host
	if r.Host != "" {
		req.Host = r.Host
	}
	req.Header.Set("Origin", "http://"+p.Host)
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.Header {
		req.Header.Del(name)
		for _, v := range values {
			req.Header.Add(name, v)
		}
	}
	if !r.NoCookie {
		req.AddCookie(p.Cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	if at := nullIn(res, body); at != "" {
		p.t.Errorf("%s %s: null at %s of the answer, which the OpenAPI document has nowhere", r.Method, r.Path, at)
	}
	return res, body
}

// mayBeNull are the JSON members that may be null: contents of events and results, and
// members of a result.
var mayBeNull = []string{"payload", "result", "diff", "checkpoint", "suggested_next"}

// nullIn returns the path of a null in a JSON answer; "" without one. It skips the
// members of mayBeNull, which belong to another contract.
func nullIn(res *http.Response, body []byte) string {
	var v any
	if res.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &v) != nil {
		return ""
	}
	var walk func(path string, v any) string
	walk = func(path string, v any) string {
		switch v := v.(type) {
		case nil:
			return path
		case []any:
			for i, in := range v {
				if at := walk(fmt.Sprintf("%s[%d]", path, i), in); at != "" {
					return at
				}
			}
		case map[string]any:
			for name, in := range v {
				if slices.Contains(mayBeNull, name) {
					continue
				}
				if at := walk(path+"."+name, in); at != "" {
					return at
				}
			}
		}
		return ""
	}
	return walk("", v)
}

func (p *Plane) reader(body any) io.Reader {
	p.t.Helper()
	switch b := body.(type) {
	case nil:
		return nil
	case io.Reader:
		return b
	}
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return bytes.NewReader(raw)
}

// Problem decodes an answer as a problem document. The test fails if it is none or does
// not match its status.
func (p *Plane) Problem(res *http.Response, body []byte) api.Problem {
	p.t.Helper()
	var out api.Problem
	if err := json.Unmarshal(body, &out); err != nil || res.Header.Get("Content-Type") != "application/problem+json" {
		p.t.Fatalf("%s with %q is no problem document: %s", res.Status, res.Header.Get("Content-Type"), body)
	}
	if out.Status != res.StatusCode || out.Code == "" || out.Detail == "" || out.Title == "" {
		p.t.Fatalf("%s: %s", res.Status, body)
	}
	return out
}

// Base returns the API path of the first computer.
func (p *Plane) Base() string { return "/api/computers/" + string(p.Computers()[0].ID()) }

// Healthy waits until both sandboxes and their roles run.
func (p *Plane) Healthy() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), Patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		h := p.Health(ctx)
		if h.Status == "ok" {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("never healthy: %v", h.Failing)
		case <-tick.C:
		}
	}
}

// Settled waits until the log records that both sandboxes run, after which nothing is
// appended without a cause. It returns the number of the newest event.
func (p *Plane) Settled() uint64 {
	p.t.Helper()
	p.Healthy()
	ctx, cancel := context.WithTimeout(p.t.Context(), Patience)
	defer cancel()
	log := p.Computers()[0].Store()
	started := 0
	for e, err := range log.Follow(ctx, 0) {
		if err != nil {
			p.t.Fatalf("the log said of %d sandboxes that they run: %v", started, err)
		}
		if e.Type == choir.TypeSandboxStarted {
			started++
		}
		if head, _ := log.Head(); started >= 2 && e.Seq == head {
			break
		}
	}
	head, _ := log.Head()
	return head
}

// AsCLI sends a request to the API as the CLI, without a network.
func (p *Plane) AsCLI(method, path string, body any) (*http.Response, []byte) {
	p.t.Helper()
	req := httptest.NewRequestWithContext(p.t.Context(), method, path, p.reader(body))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.API.ServeHTTP(w, req.WithContext(auth.With(req.Context(), auth.Principal{Role: choir.RoleCLI, User: p.User()})))
	return w.Result(), w.Body.Bytes()
}
