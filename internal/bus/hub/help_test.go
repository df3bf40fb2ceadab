package hub_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

func asError(err error, into **choir.Error) bool { return errors.As(err, into) }

// connect opens a raw NATS connection in a role.
func connect(t testing.TB, s *hub.Server, role choir.Role, h bustest.Home, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := s.Connect(bustest.Mint(t, s, role, h), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func flush(t testing.TB, all ...*nats.Conn) {
	t.Helper()
	for _, nc := range all {
		if err := nc.FlushTimeout(bustest.Patience); err != nil {
			t.Fatal(err)
		}
	}
}

// request asks for a verb the raw way; nil when nobody answers.
func request(t testing.TB, nc *nats.Conn, caller choir.Caller, verb choir.Verb) *nats.Msg {
	t.Helper()
	m, err := nc.RequestWithContext(bustest.Within(t), bus.CommandSubject(caller, verb), []byte(`{}`))
	if errors.Is(err, nats.ErrNoResponders) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answerFrom answers events-after from a log.
func answerFrom(t testing.TB, s *hub.Server, l *bustest.Log) {
	t.Helper()
	respond(t, s, l.Home, func(ctx context.Context, _ choir.Caller, _ choir.Verb, body []byte) (any, error) {
		return l.Answer(ctx, body)
	})
}
