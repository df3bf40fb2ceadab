package hub_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

var _ bus.EventSource = (*eventstore.Store)(nil)

func openStore(t *testing.T, dir string, h bustest.Home) *eventstore.Store {
	t.Helper()
	store, err := eventstore.Open(t.Context(), dir, eventstore.Config{
		Computer: h.Computer, User: h.User, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestTheRealLogOverTheBus: directors append over a bus that goes down under
// them, and a shell sees each event once, in the order of the log.
func TestTheRealLogOverTheBus(t *testing.T) {
	t.Parallel()
	s, home, dir := bustest.Start(t), bustest.NewHome(t), t.TempDir()
	store := openStore(t, dir, home)
	respond(t, s, home, func(ctx context.Context, c choir.Caller, v choir.Verb, body []byte) (any, error) {
		return answerFromStore(ctx, store, c, v, body)
	})
	stop := serveRelay(t, s, store, home, filepath.Join(dir, "relay.json"))
	shell := bustest.Dial(t, s, choir.RoleShell, home)
	ctx := bustest.Within(t)

	const writers, each = 6, 40
	group, gctx := errgroup.WithContext(ctx)
	for w := range writers {
		c := bustest.Dial(t, s, choir.RoleDirector, home)
		run := bustest.NewID(t)
		group.Go(func() error {
			for n := range each {
				d, err := choir.NewDraft(choir.DeriveID(run, fmt.Sprint(w, n)), choir.PlanRefused{Problems: []string{"a problem"}})
				if err != nil {
					return err
				}
				if _, err := c.Append(gctx, d.ForRun(run, "")); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range 3 {
			if err := store.WaitPast(gctx, writers); err != nil {
				return err
			}
			if err := s.Restart(gctx); err != nil {
				return err
			}
		}
		return nil
	})
	seen := uint64(0)
	fctx, enough := context.WithCancel(ctx)
	defer enough()
	err := shell.Follow(fctx, 0, func(e choir.Event) error {
		if seen++; e.Seq != seen {
			return fmt.Errorf("event %d at place %d", e.Seq, seen)
		}
		if seen == writers*each {
			enough()
		}
		return nil
	})
	if fctx.Err() == nil || ctx.Err() != nil {
		t.Fatalf("after %d events: %v", seen, err)
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if head, _ := store.Head(); head != writers*each {
		t.Errorf("the log has %d events for %d drafts", head, writers*each)
	}
	stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func answerFromStore(ctx context.Context, store *eventstore.Store, c choir.Caller, v choir.Verb, body []byte) (any, error) {
	if v == choir.VerbAppend {
		var req choir.AppendRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		receipts, err := store.Append(ctx, c.Role, req.Drafts...)
		return choir.AppendReply{Receipts: receipts}, err
	}
	var req choir.EventsAfterRequest
	if err := choir.DecodeStrict(body, &req); err != nil {
		return nil, err
	}
	events, err := store.EventsAfter(ctx, req.Seq, choir.MaxEventsAfter)
	head, _ := store.Head()
	return choir.EventsAfterReply{Events: bus.Fit(events), Head: head}, err
}

func serveRelay(t *testing.T, s *hub.Server, src bus.EventSource, h bustest.Home, cursor string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = hub.NewRelay(s, src, bustest.Cursor(cursor), h.User, h.Computer).Serve(ctx)
	}()
	return func() { cancel(); <-done }
}
