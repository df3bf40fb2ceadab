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

// Patience is how long a test waits for an expected event, enough for a loaded machine
// under the race detector.
const Patience = 2 * time.Minute

// Start starts a bus in a temporary folder and closes it at the end of the test.
func Start(t testing.TB) *hub.Server {
	t.Helper()
	s, err := hub.Start(t.Context(), hub.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// NewID returns a fresh id.
func NewID(t testing.TB) choir.ID {
	t.Helper()
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Home is a user and one computer of that user.
type Home struct{ User, Computer choir.ID }

// NewHome returns a Home with fresh ids.
func NewHome(t testing.TB) Home { return Home{NewID(t), NewID(t)} }

// Mint returns credentials that are valid for an hour.
func Mint(t testing.TB, s *hub.Server, role choir.Role, h Home) bus.Credentials {
	t.Helper()
	creds, err := s.Mint(role, h.User, h.Computer, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return creds
}

// Dial returns a client connected in process, closed at the end of the test.
func Dial(t testing.TB, s *hub.Server, role choir.Role, h Home) *bus.Client {
	t.Helper()
	return DialWith(t, s.Dial, Mint(t, s, role, h), role, h)
}

// DialWith returns a client connected through dial, closed at the end of the test.
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

// Within returns a context that ends after Patience or with the test.
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}
