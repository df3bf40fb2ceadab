package session

import (
	"context"
	"crypto/rand"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// lab is a log on which control planes come and go.
type lab struct {
	t      *testing.T
	log    *eventstore.Store
	events *appender.Appender
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	id := must(newID())(t)
	log := must(eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: id, User: id, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{t: t, log: log, events: appender.New(log, id, newID, slog.New(slog.DiscardHandler))}
}

func newID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// session is that of a control plane since a start of the machine.
func (l *lab) session(boot string) *Session { return New(l.log, l.events, "test", boot) }

// append appends events of no run.
func (l *lab) append(payloads ...choir.Payload) []choir.Receipt {
	l.t.Helper()
	return must(l.events.Append(l.t.Context(), choir.RoleControl, payloads...))(l.t)
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// nothingLost is what a killed session left open that left nothing.
func nothingLost(iter.Seq2[choir.Event, error]) ([]choir.Payload, error) { return nil, nil }

func TestALogThatIsOpenedGetsWhatTheSessionBeforeDidNotAppend(t *testing.T) {
	l := newLab(t)
	lost := choir.TerminalClosed{Terminal: choir.DeriveID("", "t"), Reason: choir.TerminalLost}
	opening := Opening{Name: "lab", Repairs: []choir.LogRepaired{{From: 1, To: 1, Copy: "sqlite", Damage: "x"}}}
	opening.Lost = func(events iter.Seq2[choir.Event, error]) ([]choir.Payload, error) {
		open, err := choir.Collect(events, 10)
		if err != nil || len(open) != 1 || open[0].Type != choir.TypeTerminalClosed {
			t.Errorf("the killed session has %+v, %v", open, err)
		}
		return []choir.Payload{lost}, nil
	}
	opened := func(want ...choir.Type) {
		t.Helper()
		head, _ := l.log.Head()
		must(l.session("").OpenLog(t.Context(), opening))(t)
		var got []choir.Type
		for e, err := range l.log.Events(t.Context(), head+1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("appended are %q, want %q", got, want)
		}
	}
	opened(choir.TypeComputerCreated, choir.TypeLogRepaired)
	l.append(choir.SessionStarted{Version: "1", Isolation: "x"}, choir.TerminalClosed{Terminal: choir.DeriveID("", "other"), Reason: choir.TerminalExited})
	opened(choir.TypeTerminalClosed, choir.TypeLogRepaired)
	l.append(choir.SessionEnded{Reason: "x"})
	opening.Repairs = nil
	opened()
}

func TestASessionSaysHowTheOneBeforeEnded(t *testing.T) {
	started := choir.SessionStarted{Version: "1", Isolation: "x", Boot: "a"}
	for _, c := range []struct {
		name string
		log  []choir.Payload
		boot string
		want Before
	}{
		{"none before", []choir.Payload{choir.ComputerCreated{Name: "lab", Format: 1}}, "a", Before{}},
		{"ended in order", []choir.Payload{started, choir.SessionEnded{Reason: "x"}}, "b", Before{}},
		{"only choir ended", []choir.Payload{started, choir.TerminalClosed{Terminal: choir.DeriveID("", "t"), Reason: choir.TerminalExited}}, "a", Before{Killed: true, Seq: 1}},
		{"the machine went down", []choir.Payload{started}, "b", Before{Killed: true, Seq: 1, MachineWentDown: true}},
		{"nobody knew the machine's start", []choir.Payload{choir.SessionStarted{Version: "1", Isolation: "x"}}, "b", Before{Killed: true, Seq: 1}},
		{"nobody knows it now", []choir.Payload{started}, "", Before{Killed: true, Seq: 1}},
		{"of the computer that this one was forked from", []choir.Payload{started, choir.ComputerForked{From: choir.DeriveID("", "c"), Seq: 1, Hash: choir.DigestOf(nil), Name: "x"}}, "b", Before{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.append(c.log...)
			s := l.session(c.boot)
			if got := must(s.OpenLog(t.Context(), Opening{Lost: nothingLost}))(t); got != c.want || s.Recovered() != c.want.Killed {
				t.Errorf("%+v, recovered %t; want %+v", got, s.Recovered(), c.want)
			}
		})
	}
}

// TestASessionIsStartedAndEndedInTheLog serves a computer twice after a kill, as a Serve that
// is called again does.
func TestASessionIsStartedAndEndedInTheLog(t *testing.T) {
	l := newLab(t)
	l.append(choir.SessionStarted{Version: "1", Isolation: "x"})
	s := l.session("a")
	must(s.OpenLog(t.Context(), Opening{Lost: nothingLost}))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, because := range []string{"it was idle", ""} {
		if err := s.Start(t.Context(), "none"); err != nil {
			t.Fatal(err)
		}
		if because != "" {
			s.EndBecause(because)
		}
		if err := s.End(ended); err != nil { // it was stopped by its context
			t.Fatal(err)
		}
	}
	var recovered []bool
	var reasons []string
	var last choir.Type
	for e, err := range l.log.Events(t.Context(), 2, 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = e.Type
		if e.Type == choir.TypeSessionEnded {
			reasons = append(reasons, must(choir.ReadPayload(e.Type, e.Payload))(t).(*choir.SessionEnded).Reason)
		}
		if e.Type != choir.TypeSessionStarted {
			continue
		}
		p := must(choir.ReadPayload(e.Type, e.Payload))(t).(*choir.SessionStarted)
		recovered = append(recovered, p.Recovered)
		if p.Version != "test" || p.Isolation != "none" || p.Boot != "a" {
			t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(reasons, []string{"it was idle", "choir was stopped"}) {
		t.Errorf("the sessions ended because %q", reasons)
	}
	if !slices.Equal(recovered, []bool{true, false}) || last != choir.TypeSessionEnded {
		t.Errorf("the sessions are recovered %v; the log ends with %s", recovered, last)
	}
}

func TestCallsThatAKilledSessionLeftOpenAreListed(t *testing.T) {
	l := newLab(t)
	s := l.session("")
	call := func(answered bool) choir.ID {
		d := must(l.events.Draft(choir.ModelCalled{Call: must(newID())(t), Caller: "director", Provider: "p", Model: "m", Request: choir.DigestOf(nil)}))(t)
		must(l.log.Append(t.Context(), choir.RoleControl, d))(t)
		if answered {
			r := must(l.events.Draft(choir.ModelReturned{Call: must(newID())(t), Caller: "director", Provider: "p", Model: "m"}))(t)
			must(l.log.Append(t.Context(), choir.RoleControl, r.CausedBy(d.ID)))(t)
		}
		return d.ID
	}
	wants := func(want ...choir.ID) {
		t.Helper()
		var open []choir.ID
		for _, e := range must(s.UnreturnedCalls(t.Context()))(t) {
			open = append(open, e.ID)
		}
		if !slices.Equal(open, want) {
			t.Errorf("open are %v, want %v", open, want)
		}
	}
	call(false) // of a session that nothing is known of
	wants()
	l.append(choir.SessionStarted{Version: "test", Isolation: "none"})
	call(true)
	first := call(false)
	call(true)
	second := call(false)
	wants(first, second)
	l.append(choir.SessionEnded{Reason: "test"})
	wants()
}
