// Package bustest gives tests a real bus, a real client and a log in memory.
package bustest

import (
	"context"
	"crypto/rand"
	"net"
	"sync"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// Patience is how long a test waits for what must happen.
const Patience = 20 * time.Second

// Start starts a bus in a folder of the test and ends it with the test.
func Start(t testing.TB) *hub.Server {
	t.Helper()
	s, err := hub.Start(t.Context(), hub.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// NewID makes an id.
func NewID(t testing.TB) choir.ID {
	t.Helper()
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Home is a user and a computer of theirs.
type Home struct{ User, Computer choir.ID }

// NewHome makes up a user and a computer.
func NewHome(t testing.TB) Home { return Home{NewID(t), NewID(t)} }

// Mint makes credentials for an hour.
func Mint(t testing.TB, s *hub.Server, role choir.Role, h Home) bus.Credentials {
	t.Helper()
	creds, err := s.Mint(role, h.User, h.Computer, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return creds
}

// Dial connects a client in process and closes it with the test.
func Dial(t testing.TB, s *hub.Server, role choir.Role, h Home) *bus.Client {
	t.Helper()
	return DialWith(t, s.Dial, Mint(t, s, role, h), role, h)
}

// DialWith connects a client by any way and closes it with the test.
func DialWith(t testing.TB, dial func(context.Context) (net.Conn, error), creds bus.Credentials, role choir.Role, h Home) *bus.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	c, err := bus.Dial(ctx, bus.DialConfig{Dial: dial, Credentials: creds, User: h.User, Computer: h.Computer, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Within is a context that ends the test when something that must happen does not.
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Log is a log in memory: an EventSource without a disk.
type Log struct {
	Home Home

	mu     sync.Mutex
	events []choir.Event
	grown  chan struct{} // closed and replaced at every append
}

// NewLog makes an empty log.
func NewLog(h Home) *Log { return &Log{Home: h, grown: make(chan struct{})} }

// Append adds n events, every third one with a run.
func (l *Log) Append(t testing.TB, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		seq := uint64(len(l.events) + 1)
		e := choir.Event{
			Seq: seq, ID: NewID(t), Time: choir.TimeOf(time.Now()), Computer: l.Home.Computer, User: l.Home.User,
			Source: choir.SourceSystem, Type: "session.started", Payload: []byte(`{}`),
			PrevHash: choir.ZeroHash, Hash: choir.ZeroHash,
		}
		if seq%3 == 0 {
			e.Type, e.Run = "tool.called", e.ID
		}
		l.events = append(l.events, e)
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// Head is the newest sequence number.
func (l *Log) Head() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.events))
}

// EventsAfter satisfies hub.EventSource.
func (l *Log) EventsAfter(_ context.Context, seq uint64, limit int) ([]choir.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq >= uint64(len(l.events)) {
		return nil, nil
	}
	rest := l.events[seq:]
	return append([]choir.Event(nil), rest[:min(limit, len(rest))]...), nil
}

// WaitPast satisfies hub.EventSource.
func (l *Log) WaitPast(ctx context.Context, seq uint64) error {
	for {
		l.mu.Lock()
		head, grown := uint64(len(l.events)), l.grown
		l.mu.Unlock()
		if head > seq {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
