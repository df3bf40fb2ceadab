package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

func respond(t testing.TB, s *hub.Server, h bustest.Home, handle bus.Handler) *hub.Responder {
	t.Helper()
	r, err := hub.Respond(s, h.User, h.Computer, handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestAnAnswerAndARefusalReachTheCaller(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	respond(t, s, home, func(_ context.Context, c choir.Caller, v choir.Verb, body []byte) (any, error) {
		var req choir.AppendRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		if c.Role != choir.RoleDirector || v != choir.VerbAppend {
			t.Errorf("asked by %s for %s", c.Role, v)
		}
		return choir.AppendReply{Receipts: []choir.Receipt{{Seq: 7, ID: req.Drafts[0].ID}}}, nil
	})
	c := bustest.Dial(t, s, choir.RoleDirector, home)
	id := bustest.NewID(t)
	got, err := c.Append(bustest.Within(t), choir.Draft{ID: id, Type: "plan.made", Payload: []byte(`{}`)})
	if err != nil || len(got) != 1 || got[0].Seq != 7 || got[0].ID != id {
		t.Fatalf("got %+v, %v", got, err)
	}
	_, err = c.Append(bustest.Within(t), choir.Draft{ID: "x", Type: "plan.made", Payload: []byte(`{}`)})
	var e *choir.Error
	if !asError(err, &e) || e.Code != choir.CodeInvalid || e.Path != "drafts[0].id" {
		t.Fatalf("got %v, want a refusal that names drafts[0].id", err)
	}
}

func TestARoleIsRefusedAVerbThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	respond(t, s, home, func(context.Context, choir.Caller, choir.Verb, []byte) (any, error) {
		t.Error("the handler was asked")
		return nil, nil
	})
	nc, err := s.Unbound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	for _, ask := range []struct {
		role choir.Role
		verb choir.Verb
	}{
		{choir.RoleDesktop, choir.VerbAppend},
		{choir.RoleDirector, choir.VerbTaskBegin},
		{choir.RoleAssociate, "drop-tables"},
		{choir.RolePool, choir.VerbEventsAfter},
	} {
		caller := choir.Caller{User: home.User, Computer: home.Computer, Role: ask.role, Connection: nc.Opts.Name}
		var r choir.Reply
		m := request(t, nc, caller, ask.verb)
		if err := json.Unmarshal(m.Data, &r); err != nil || r.Error == nil || r.Error.Code != choir.CodeForbidden {
			t.Errorf("%s by %s: got %s", ask.verb, ask.role, m.Data)
		}
	}
}

func TestAForgedReplySubjectGetsNoAnswer(t *testing.T) {
	t.Parallel()
	s, home, other := bustest.Start(t), bustest.NewHome(t), bustest.NewHome(t)
	asked := make(chan struct{}, 16)
	respond(t, s, home, func(context.Context, choir.Caller, choir.Verb, []byte) (any, error) {
		asked <- struct{}{}
		return choir.Done{}, nil
	})
	victim := connect(t, s, choir.RoleShell, other)
	heard, err := victim.SubscribeSync("user." + string(other.User) + "." + string(other.Computer) + ".>")
	if err != nil {
		t.Fatal(err)
	}
	stranger := connect(t, s, choir.RoleShell, home)
	inbox, err := stranger.SubscribeSync(stranger.Opts.InboxPrefix + ".>")
	if err != nil {
		t.Fatal(err)
	}
	attacker := connect(t, s, choir.RoleDirector, home)
	flush(t, victim, stranger, attacker)
	caller := choir.Caller{User: home.User, Computer: home.Computer, Role: choir.RoleDirector, Connection: attacker.Opts.Name}
	for _, reply := range []string{
		"user." + string(other.User) + "." + string(other.Computer) + ".prompt.submitted",
		"agent." + string(home.User) + "." + string(home.Computer) + "." + string(home.User) + ".plan.made",
		"agent." + string(home.User) + "." + string(home.Computer) + "." + string(home.User) + ".task.dispatched",
		stranger.Opts.InboxPrefix + ".x",
		attacker.Opts.InboxPrefix,       // the prefix alone is not inside it
		attacker.Opts.InboxPrefix + "x", // nor is a longer token
		"$JS.API.STREAM.PURGE.EVENTS", "_INBOX.x",
	} {
		if err := attacker.PublishRequest(bus.CommandSubject(caller, choir.VerbEventsAfter), reply, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := attacker.Publish(bus.CommandSubject(caller, choir.VerbEventsAfter), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	// One honest request behind them: the responder takes them in order.
	if m := request(t, attacker, caller, choir.VerbEventsAfter); m == nil {
		t.Fatal("the honest request got no answer")
	}
	if len(asked) != 1 {
		t.Errorf("the handler was asked %d times, want once", len(asked))
	}
	flush(t, victim, stranger)
	for _, sub := range []*nats.Subscription{heard, inbox} {
		if n, _, _ := sub.Pending(); n != 0 {
			t.Errorf("%d messages reached %s", n, sub.Subject)
		}
	}
}

func TestAFloodIsRefusedAsBusyWithoutHoldingUpOthers(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	hold := make(chan struct{})
	respond(t, s, home, func(ctx context.Context, c choir.Caller, _ choir.Verb, _ []byte) (any, error) {
		if c.Role == choir.RoleAssociate {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		return choir.EventsAfterReply{}, nil
	})
	flooder := connect(t, s, choir.RoleAssociate, home)
	caller := choir.Caller{User: home.User, Computer: home.Computer, Role: choir.RoleAssociate, Connection: flooder.Opts.Name}
	replies, err := flooder.SubscribeSync(flooder.Opts.InboxPrefix + ".flood")
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		if err := flooder.PublishRequest(bus.CommandSubject(caller, choir.VerbTasksAfter), flooder.Opts.InboxPrefix+".flood", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := replies.NextMsg(bustest.Patience)
	if err != nil || !strings.Contains(string(m.Data), `"code":"busy"`) {
		t.Fatalf("got %v, %v, want busy", m, err)
	}
	if _, err := bustest.Dial(t, s, choir.RoleDirector, home).EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatalf("the director waits behind the associate: %v", err)
	}
	close(hold)
	for answered := 1; answered < 400; answered++ {
		if _, err := replies.NextMsg(bustest.Patience); err != nil {
			t.Fatalf("%d of 400 were answered: %v", answered, err)
		}
	}
}

func TestAPanicInOneCommandIsAnInternalError(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	respond(t, s, home, func(context.Context, choir.Caller, choir.Verb, []byte) (any, error) { panic("boom") })
	_, err := bustest.Dial(t, s, choir.RoleDirector, home).EventsAfter(bustest.Within(t), 0, 1)
	if choir.CodeOf(err) != choir.CodeInternal || strings.Contains(err.Error(), "boom") {
		t.Fatalf("got %v", err)
	}
}

func TestAReplyThatDoesNotFitSaysSo(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	respond(t, s, home, func(context.Context, choir.Caller, choir.Verb, []byte) (any, error) {
		return strings.Repeat("x", bus.MaxPayload), nil
	})
	_, err := bustest.Dial(t, s, choir.RoleDirector, home).EventsAfter(bustest.Within(t), 0, 1)
	if choir.CodeOf(err) != choir.CodeTooLarge {
		t.Fatalf("got %v", err)
	}
}

func TestACallWaitsForAComputerThatAnswersLater(t *testing.T) {
	t.Parallel()
	s, home := bustest.Start(t), bustest.NewHome(t)
	c := bustest.Dial(t, s, choir.RoleDirector, home)
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.EventsAfter(short, 0, 1); choir.CodeOf(err) != choir.CodeTimeout {
		t.Fatalf("got %v, want a timeout", err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := c.EventsAfter(bustest.Within(t), 0, 1)
		got <- err
	}()
	first := respond(t, s, home, func(ctx context.Context, _ choir.Caller, _ choir.Verb, _ []byte) (any, error) {
		<-ctx.Done() // closed in the middle of it
		return nil, ctx.Err()
	})
	first.Close()
	respond(t, s, home, func(context.Context, choir.Caller, choir.Verb, []byte) (any, error) {
		return choir.EventsAfterReply{}, nil
	})
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}
