package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/wiretest"
	"choiros/internal/sandbox/sandboxtest"
)

// firstWords notes when a provider sent the first words of its last answer.
type firstWords struct {
	mu sync.Mutex // guards at
	at time.Time
}

// watch puts itself before a provider's answers.
func (f *firstWords) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&notingWriter{ResponseWriter: w, note: f}, r)
	})
}

func (f *firstWords) sent() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

type notingWriter struct {
	http.ResponseWriter
	note *firstWords
	said bool
}

// Unwrap lets the answer be flushed.
func (w *notingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *notingWriter) Write(p []byte) (int, error) {
	if !w.said && bytes.Contains(p, []byte("text_delta")) {
		w.said = true
		w.note.mu.Lock()
		w.note.at = time.Now()
		w.note.mu.Unlock()
	}
	return w.ResponseWriter.Write(p)
}

// TestTheFirstWordsReachTheBrowserAtOnce: provider, model gateway, Director in
// its sandbox, bus, WebSocket. Of five runs the median counts.
func TestTheFirstWordsReachTheBrowserAtOnce(t *testing.T) {
	const target = 100 * time.Millisecond
	script, err := wiretest.ParseScript([]byte(`{"rules":[{"match":{},"respond":{"text":"Good morning to you.","tool_calls":[{"name":"show_toast","input":{"text":"Hello."}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.NewScripted(script)
	t.Cleanup(server.Close)
	words := &firstWords{}
	server.Config.Handler = words.watch(server.Config.Handler)
	cfg := controltest.Config(t, sandboxtest.DataDir(t)+"/data")
	provider := anthropic.New(anthropic.Config{BaseURL: server.URL, Key: func(context.Context) (string, error) { return "k", nil }})
	models := config.Models{Director: "test/m", Providers: []config.Provider{{Name: "test", Kind: "anthropic", Free: true}}}
	cfg.Connections = controltest.Connections(t, cfg.Data, models, func(config.Provider, model.KeySource) (model.Provider, error) { return provider, nil })
	p := controltest.StartWith(t, cfg)
	p.Healthy()
	live := listen(t, p)
	var took []time.Duration
	for range 5 {
		if res, body := p.Do(req{Method: "POST", Path: p.Base() + "/prompts", Body: api.PromptRequest{Text: "hello"}}); res.StatusCode != http.StatusAccepted {
			t.Fatalf("%s %s", res.Status, body)
		}
		first := must(live.NextMsg(controltest.Patience))(t)
		took = append(took, time.Since(words.sent()))
		for said := string(first.Data); said != "Good morning to you."; {
			said += string(must(live.NextMsg(controltest.Patience))(t).Data)
		}
	}
	slices.Sort(took)
	t.Logf("from the provider's first words to the browser's: %v (target %v)", took, target)
	if took[len(took)/2] > target {
		t.Errorf("the median is %v", took[len(took)/2])
	}
}

// listen follows the Director's words as a browser does.
func listen(t *testing.T, p *controltest.Plane) *nats.Subscription {
	t.Helper()
	res, body := p.Do(req{Method: "POST", Path: p.Base() + "/bus"})
	var g api.Grant
	if err := json.Unmarshal(body, &g); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	nc := must(nats.Connect("nats://gateway:1", nats.SetCustomDialer(dialer{t, p, nil}), nats.UserJWTAndSeed(g.JWT, g.Seed),
		nats.CustomInboxPrefix(g.Inbox), nats.NoReconnect()))(t)
	t.Cleanup(nc.Close)
	sub := must(nc.SubscribeSync("live." + string(g.User) + "." + string(g.Computer) + ".*.*"))(t)
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}
