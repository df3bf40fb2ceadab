// Package bustest gives tests a real bus, a real client and a log in memory.
package bustest

import (
	"context"
	"crypto/rand"
	"net"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// Patience is how long a test waits for what must happen: long enough for a
// loaded machine under the race detector.
const Patience = 2 * time.Minute

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
