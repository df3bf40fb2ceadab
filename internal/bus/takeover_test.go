package bus_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// mintFor makes the director's credentials that live for ttl.
func mintFor(t *testing.T, s *hub.Server, h bustest.Home, ttl time.Duration) bus.Credentials {
	t.Helper()
	creds, err := s.Mint(choir.RoleDirector, h.User, h.Computer, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return creds
}

// dialBriefly returns a client whose credentials expire soon. A busy machine can take longer than
// they live to connect, and is given longer ones then.
func dialBriefly(t *testing.T, s *hub.Server, h bustest.Home) *bus.Client {
	t.Helper()
	ctx := bustest.Within(t)
	for ttl := time.Second; ; ttl *= 2 {
		creds := mintFor(t, s, h, ttl)
		c, err := bus.Dial(ctx, bus.DialConfig{Dial: s.Dial, Credentials: creds, User: h.User, Computer: h.Computer, Role: choir.RoleDirector})
		if err == nil {
			t.Cleanup(func() { c.Close() })
			return c
		}
		if time.Now().Before(creds.Expires.Std()) {
			t.Fatal(err)
		}
	}
}

func TestAnExpiryNeverEndsAStep(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	relay(t, s, l)
	const ttl, renewBefore = 3 * time.Second, 2 * time.Second
	creds := mintFor(t, s, l.Home, ttl)
	c := bustest.DialWith(t, s.Dial, creds, choir.RoleDirector, l.Home)
	f := follow(t, c, 0)
	ctx := bustest.Within(t)
	asked, renewed := 0, 0
	var end time.Time // the first two are dead by then
	for renewed < 2 || time.Now().Before(end) {
		if asked%50 == 0 {
			l.Append(1)
		}
		if time.Until(creds.Expires.Std()) < renewBefore {
			if renewed < 2 {
				end = creds.Expires.Std().Add(500 * time.Millisecond)
			}
			creds = mintFor(t, s, l.Home, ttl)
			if err := c.UseCredentials(ctx, creds); err != nil {
				t.Fatal(err)
			}
			renewed++
		}
		// One attempt, not Call: it hides a loss by asking again.
		if err := c.AskOnce(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{Seq: l.Head()}); err != nil {
			t.Fatalf("request %d, after %d renewals: %v", asked, renewed, err)
		}
		asked++
	}
	f.upTo(l.Head())
	t.Logf("%d requests, %d renewals", asked, renewed)
}

func TestACallInFlightEndsOnTheConnectionItBeganOn(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	began, release := make(chan string, 4), make(chan struct{})
	var asked atomic.Int32
	serve(t, s, l, func(ctx context.Context, c choir.Caller) {
		asked.Add(1)
		began <- c.Connection
		<-release
	})
	old := mintFor(t, s, l.Home, time.Hour)
	c := bustest.DialWith(t, s.Dial, old, choir.RoleDirector, l.Home)
	ctx := bustest.Within(t)
	slow := make(chan error, 1)
	go func() { slow <- c.Call(ctx, choir.VerbHello, choir.HelloRequest{PublicKey: "k"}, nil) }()
	if got := <-began; got != old.Connection {
		t.Fatalf("asked on %s, want %s", got, old.Connection)
	}
	taken := make(chan error, 1)
	fresh := mintFor(t, s, l.Home, time.Hour)
	go func() { taken <- c.UseCredentials(ctx, fresh) }()
	for { // until new calls go over the new connection
		var reply choir.EventsAfterReply
		if err := c.Call(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{}, &reply); err != nil {
			t.Fatal(err)
		}
		if c.Connection() == fresh.Connection {
			break
		}
	}
	close(release)
	if err := errors.Join(<-slow, <-taken); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 1 {
		t.Errorf("the slow call was made %d times", asked.Load())
	}
}

func TestNewCredentialsBringAnExpiredClientBack(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	relay(t, s, l)
	c := dialBriefly(t, s, l.Home)
	f := follow(t, c, 0)
	ctx := bustest.Within(t)
	for c.AskOnce(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{}) == nil {
	}
	l.Append(5)
	pending := make(chan error, 1)
	go func() { pending <- c.Call(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{}, nil) }()
	lines, control := io.Pipe()
	renewed := make(chan error, 1)
	go func() { renewed <- c.Renew(ctx, bufio.NewReader(lines)) }()
	if err := json.NewEncoder(control).Encode(mintFor(t, s, l.Home, time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := <-pending; err != nil {
		t.Fatal(err)
	}
	f.upTo(5)
	control.Close()
	if err := <-renewed; err != nil {
		t.Fatal(err)
	}
}

func TestCredentialsThatDoNotHoldLeaveTheClientAsItWas(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	c := bustest.DialWith(t, through(t, s), bustest.Mint(t, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
	ctx := bustest.Within(t)
	forged := mintFor(t, s, l.Home, time.Hour)
	forged.Seed = mintFor(t, s, l.Home, time.Hour).Seed
	for _, creds := range []bus.Credentials{{}, forged} {
		if err := c.UseCredentials(ctx, creds); err == nil {
			t.Errorf("%s were taken", creds)
		}
	}
	if _, err := c.EventsAfter(ctx, 0, 1); err != nil {
		t.Fatal(err)
	}
}

func relay(t *testing.T, s *hub.Server, l *bustest.Log) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = hub.NewRelay(s, l, bustest.Cursor(filepath.Join(t.TempDir(), "relay.json")), l.Home.User, l.Home.Computer).Serve(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// through dials over a bridge, as a sandbox does.
func through(t *testing.T, s *hub.Server) func(context.Context) (net.Conn, error) {
	t.Helper()
	var bridges sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); bridges.Wait() })
	return func(context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		bridges.Go(func() { _ = s.Bridge(ctx, far) })
		return near, nil
	}
}
