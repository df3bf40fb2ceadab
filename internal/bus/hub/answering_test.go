package hub_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
)

// listenTo opens an unbound connection that hears everything.
func listenTo(t *testing.T, s *hub.Server) (*nats.Conn, *nats.Subscription) {
	t.Helper()
	nc, err := s.Unbound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	all, err := nc.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, nc)
	return nc, all
}

// spoken is what a connection brings through of what it tries to say.
func spoken(t *testing.T, s *hub.Server, nc *nats.Conn, subjects []string) map[string]bool {
	t.Helper()
	listener, all := listenTo(t, s)
	for _, subject := range subjects {
		if err := nc.Publish(subject, []byte("tried")); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, nc)
	// What the server has taken has reached the listener once its own ping is back.
	flush(t, listener)
	heard := map[string]bool{}
	for n, _, _ := all.Pending(); n > 0; n-- {
		m, err := all.NextMsg(bustest.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Data) == "tried" {
			heard[m.Subject] = true
		}
	}
	return heard
}

func everySubject(h bustest.Home) []string {
	var out []string
	for pattern := range permitted {
		out = append(out, strings.NewReplacer("<uid>", string(h.User), "<cid>", string(h.Computer), "<role>", "director",
			"<verb>", "append", "<connection>", "abc", "<run>", string(h.User), "<class>", "parse", "<type>", "a.b").Replace(pattern))
	}
	for pattern := range permittedBeside {
		if !strings.Contains(pattern, "<") && pattern != "nobodys.subject" && pattern != "_INBOX_.x" {
			out = append(out, pattern)
		}
	}
	return out
}

func TestTheAnsweringConnectionSpeaksInInboxesOnly(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	nc, err := s.Answering(home.User, home.Computer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	subjects := append(everySubject(home), everySubject(bustest.NewHome(t))...)
	heard := spoken(t, s, nc, append(subjects, "_INBOX_abc.x"))
	if !heard["_INBOX_abc.x"] || len(heard) != 1 {
		t.Errorf("it came through on %v, want _INBOX_abc.x alone", heard)
	}
}

func TestAnEmptyAllowListDeniesEverything(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	subjects := append(everySubject(home), "_INBOX_abc.x", "nobodys.subject")

	refused := make(chan error, 2*len(subjects))
	nc, err := s.Nobody(nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if heard := spoken(t, s, nc, subjects); len(heard) != 0 {
		t.Errorf("a connection that may publish nothing came through on %v", heard)
	}
	if _, err := nc.SubscribeSync(">"); err != nil {
		t.Fatal(err)
	}
	flush(t, nc)
	for n := range len(subjects) + 1 {
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Error(err)
			}
		case <-bustest.Within(t).Done():
			t.Fatalf("%d refusals, want %d", n, len(subjects)+1)
		}
	}
}
