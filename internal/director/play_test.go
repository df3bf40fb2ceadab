package director_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
	"choiros/internal/director/conductor"
	"choiros/internal/director/runscript"
	"choiros/internal/model/wiretest"
)

const began choir.Time = 1_795_000_000_000

// runID is the run of every played script.
var runID = choir.DeriveID(choir.ID("019f0000-0000-7000-8000-000000000000"), "run")

// play is one script being played: a real log, a real model provider on a
// scripted server, the Director under test, and a scripted Associate and user.
type play struct {
	t      *testing.T
	script runscript.Script
	ground *ground
	server *wiretest.Scripted

	killAt uint64 // the Director is killed once the log is this long; 0 never
	killed bool   // it was; only the Director's owner uses it
	before func() // runs before the prompt comes; nil for nothing
	// renewed, when given, says that a Director of another build comes after the
	// killed one, and counts the calls that go on with the conversation of the first.
	renewed *atomic.Int64
}

// killLog is the log as the Director sees it; it can kill the Director.
type killLog struct {
	conductor.Log
	killAt uint64
	kill   func()
}

// Append kills the Director right after the event it is to be killed at, before
// it learns that the append happened.
func (k killLog) Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	receipts, err := k.Log.Append(ctx, drafts...)
	for _, r := range receipts {
		if k.killAt > 0 && r.Seq >= k.killAt && !r.Duplicate {
			k.kill()
			return nil, context.Canceled
		}
	}
	return receipts, err
}

// run plays the script and returns the events of its run.
func (p *play) run() []choir.Event {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bustest.Patience)
	defer cancel()
	script, err := wiretest.ParseScript(p.script.Model)
	p.must(err)
	p.server = wiretest.NewScripted(script)
	defer p.server.Close()
	p.ground = newGround(p.t, p.server.URL)
	p.ground.look = p.script.AnswerLook
	defer p.ground.close()
	for i, name := range p.script.Repos() {
		p.append(ctx, choir.RoleCLI, "", choir.DeriveID(runID, "repo", name), &choir.RepoAdded{Name: name, Files: int64(i)})
	}
	if p.before != nil {
		p.before()
	}
	actors, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, actor := range []func(context.Context) error{p.associate, p.user, p.director} {
		group.Go(func() {
			if err := actor(actors); err != nil && actors.Err() == nil {
				p.t.Errorf("%s: %v", p.script.Name, err)
				cancel()
			}
		})
	}
	prompt := p.script.Prompt
	p.append(ctx, choir.RoleCLI, runID, choir.DeriveID(runID, "prompt"), &prompt)
	p.waitFor(ctx, "run.finished")
	stop()
	group.Wait()
	if un := p.server.Unmatched(); len(un) > 0 {
		p.t.Errorf("%s: the model was asked what the script does not know: %s", p.script.Name, un)
	}
	return p.events(context.Background())
}

func (p *play) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", p.script.Name, err)
	}
}

func (p *play) append(ctx context.Context, role choir.Role, run, id choir.ID, payload choir.Payload) {
	p.t.Helper()
	d, err := choir.NewDraft(id, payload)
	if err == nil {
		_, err = p.ground.Append(ctx, role, d.ForRun(run, taskOf(run, payload)))
	}
	p.must(err)
}

// waitFor returns when the run has an event of a type.
func (p *play) waitFor(ctx context.Context, want choir.Type) {
	p.t.Helper()
	found := errors.New("found")
	err := p.ground.follow(ctx, func(e choir.Event) error {
		if e.Type == want && e.Run == runID {
			return found
		}
		return nil
	})
	if !errors.Is(err, found) {
		p.t.Fatalf("%s: no %s: %v; there are %v; unmatched: %v", p.script.Name, want, err, types(p.events(context.Background())), p.server.Unmatched())
	}
}

func (p *play) events(ctx context.Context) (out []choir.Event) {
	all, err := p.ground.EventsAfter(ctx, 0, choir.MaxEventsAfter)
	p.must(err)
	for _, e := range all {
		if e.Run == runID {
			out = append(out, e)
		}
	}
	return out
}

// director runs the Conductor and starts a new one, with a new key and nothing
// in memory, when it was killed.
func (p *play) director(ctx context.Context) error {
	for ctx.Err() == nil {
		p.life(ctx)
	}
	return nil
}

func (p *play) life(ctx context.Context) {
	life, kill := context.WithCancel(ctx)
	defer kill()
	at := p.killAt
	if p.killed {
		at = 0
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		p.t.Error(err)
		return
	}
	client, err := p.ground.director(life, public)
	if err != nil {
		if life.Err() == nil {
			p.t.Error(err)
		}
		return
	}
	defer client.Close()
	models, done := p.ground.models()
	defer done()
	if at > 0 {
		watch := make(chan struct{})
		go func() {
			defer close(watch)
			if p.ground.WaitPast(life, at-1) == nil {
				kill()
			}
		}()
		defer func() { kill(); <-watch }()
	}
	var asked conductor.Models = models
	switch {
	case p.renewed != nil && p.killed:
		asked = otherWords{models, "second", p.renewed}
	case p.renewed != nil:
		asked = otherWords{models, "first", p.renewed}
	}
	_ = conductor.New(conductor.Config{
		Log: killLog{client, at, kill}, Models: asked, Key: key,
		Limits: p.script.Limits,
		Now:    func() choir.Time { return began },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}).Serve(life)
	p.killed = p.killed || at > 0
}

func types(events []choir.Event) (out []choir.Type) {
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}
