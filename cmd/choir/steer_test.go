package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"choiros/internal/control/api"
	"choiros/internal/director/runscript"
	"choiros/internal/model/wiretest"
)

// gate holds model calls whose request has some text until it is opened.
type gate struct {
	text            string
	reached, opened chan struct{}
	once            sync.Once
}

func newGate(text string) *gate {
	return &gate{text: text, reached: make(chan struct{}), opened: make(chan struct{})}
}

func (g *gate) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has gone
		}
		if bytes.Contains(body, []byte(g.text)) {
			g.once.Do(func() { close(g.reached) })
			<-g.opened
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// TestWhatTheOwnerAddsIsInTheNextCall: the owner adds something while a task
// works; the next call of the Director's model has it.
func TestWhatTheOwnerAddsIsInTheNextCall(t *testing.T) {
	const added = "Be polite about it."
	s := scriptNamed(t, "two_dependent_tasks")
	m := newMachine(t, "")
	server := m.model(s)
	g := newGate(`"model":"associate"`)
	server.Config.Handler = g.before(server.Config.Handler)
	open := sync.OnceFunc(func() { close(g.opened) })
	t.Cleanup(open)
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	run := begin(t, c, s)
	<-g.reached
	if err := c.post(t.Context(), c.path("/runs/"+string(run)+"/steer"), api.Words{Text: added}, nil); err != nil {
		t.Fatal(err)
	}
	open()
	m.play(c, s, run)
	if calls := judging(server.Requests()); len(calls) == 0 || !strings.Contains(calls[0].Last().Text, "The user adds:\n\n"+added) {
		t.Errorf("the call after the task ends with %q", calls[0].Last().Text)
	}
	if v := c.view(t, run); v.State != "done" {
		t.Errorf("the run is %s: %s", v.State, v.Answer)
	}
}

// judging are the calls of the Director's model that bring a task's result.
func judging(all []wiretest.Seen) (calls []wiretest.Seen) {
	for _, s := range all {
		if strings.Contains(s.Model, "director") && strings.Contains(s.Last().Text, "Result of step") {
			calls = append(calls, s)
		}
	}
	return calls
}

func scriptNamed(t *testing.T, name string) runscript.Script {
	t.Helper()
	scripts, err := runscript.Load(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no script %s", name)
	return runscript.Script{}
}
