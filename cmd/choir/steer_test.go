package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
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

// TestWhatTheOwnerAddsIsInTheNextCall: the owner adds something while a task works; the
// next call of its model has it, once, and so does the next one of the Director's model,
// which is told that the task heard it.
func TestWhatTheOwnerAddsIsInTheNextCall(t *testing.T) {
	t.Parallel()
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
	if calls := judging(server.Requests()); !strings.Contains(calls[0].Last().Text, "The worker was told while it worked what the user added: "+added) {
		t.Errorf("the Director is told %q", calls[0].Last().Text)
	}
	if told := working(server.Requests(), added); len(told) == 0 || told[0] != 2 {
		t.Errorf("calls %v of the task are told it last, want 2", told)
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

// working are the numbers of the calls of the Associate's model, from 1, whose last message
// is the first to have a text.
func working(all []wiretest.Seen, text string) (numbers []int) {
	n := 0
	for _, s := range all {
		if !strings.Contains(s.Model, "associate") {
			continue
		}
		if n++; strings.Contains(s.Last().Text, text) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// TestAStoppedRunIsStillWithinASecond: from the owner's word in the log to the answer of
// its task, whose command would sleep for ten minutes.
func TestAStoppedRunIsStillWithinASecond(t *testing.T) {
	s := scriptNamed(t, "cancelled")
	s.User = []runscript.Reaction{{After: choir.TypeTaskStarted, Cancel: true}}
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	run := begin(t, c, s)
	m.play(c, s, run)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var asked, ended choir.Time
	err := c.follow(ctx, run, 0, func(e choir.Event) (bool, error) {
		switch e.Type {
		case choir.TypeRunCancelRequested:
			asked = e.Time
		case choir.TypeTaskReturned:
			ended = e.Time
		}
		return asked > 0 && ended > 0, nil
	})
	if err != nil || ended-asked >= 1000 {
		t.Errorf("its task has ended %d ms after the stop: %v", ended-asked, err)
	}
	t.Logf("its task has ended %d ms after the stop", ended-asked)
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
