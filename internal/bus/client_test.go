package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// serve answers events-after and blobs from memory; hello goes through hold.
func serve(t testing.TB, s *hub.Server, l *bustest.Log, hold func(context.Context, choir.Caller)) {
	t.Helper()
	blobs := bustest.NewBlobs()
	r, err := hub.Respond(s, l.Home.User, l.Home.Computer, func(ctx context.Context, c choir.Caller, v choir.Verb, body []byte) (any, error) {
		switch v {
		case choir.VerbEventsAfter:
			return l.Answer(ctx, body)
		case choir.VerbTasksAfter:
			return l.AnswerTasks(ctx, body)
		case choir.VerbBlobPut, choir.VerbBlobGet:
			return blobs.Answer(v, body)
		case choir.VerbHello:
			hold(ctx, c)
		}
		return choir.Done{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
}

// following checks that events come in order, each once.
type following struct {
	t    testing.TB
	mu   sync.Mutex
	last uint64
	more chan struct{} // holds at most one
}

func follow(t testing.TB, c *bus.Client, seq uint64) *following {
	t.Helper()
	f := &following{t: t, last: seq, more: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Follow(ctx, seq, f.take) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("follow ended with %v", err)
		}
	})
	return f
}

func (f *following) take(e choir.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq != f.last+1 {
		f.t.Errorf("event %d came after event %d", e.Seq, f.last)
	}
	f.last = e.Seq
	select {
	case f.more <- struct{}{}:
	default:
	}
	return nil
}

// upTo waits until the event was seen.
func (f *following) upTo(seq uint64) {
	f.t.Helper()
	ctx := bustest.Within(f.t)
	for {
		f.mu.Lock()
		last := f.last
		f.mu.Unlock()
		if last >= seq {
			return
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			f.t.Fatalf("followed to event %d of %d", last, seq)
		}
	}
}

func TestFollowReadsTheLogThenListens(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Append(2500) // more than one page
	serve(t, s, l, nil)
	relay(t, s, l)
	c := bustest.Dial(t, s, choir.RoleShell, l.Home)
	all, late := follow(t, c, 0), follow(t, c, 2490)
	all.upTo(2500)
	for range 20 {
		l.Append(7)
		all.upTo(l.Head())
	}
	late.upTo(l.Head())
}

// TestEventsReadsARangeInPages asks for more than one page, and leaves out what comes
// after the reading began.
func TestEventsReadsARangeInPages(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Append(2500)
	serve(t, s, l, nil)
	c := bustest.Dial(t, s, choir.RoleShell, l.Home)
	for _, r := range []struct{ from, to, first, last uint64 }{
		{0, 0, 1, 2500}, {1, 9, 1, 9}, {1000, 1001, 1000, 1001}, {2400, 9999, 2400, 2500}, {1501, 0, 1501, 2500}, {9, 8, 9, 8}, {2501, 0, 2501, 2500},
	} {
		next := r.first
		for e, err := range c.Events(bustest.Within(t), r.from, r.to) {
			if err != nil || e.Seq != next {
				t.Fatalf("%+v: event %d, wanted %d: %v", r, e.Seq, next, err)
			}
			next++
		}
		if next != r.last+1 {
			t.Errorf("%+v: ended before event %d", r, next)
		}
	}
	n := 0
	for _, err := range c.Events(bustest.Within(t), 1, 0) {
		if n++; err != nil || n > 2500 {
			t.Fatalf("event %d: %v", n, err)
		}
		if n%500 == 1 {
			l.Append(300)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if events, err := choir.Collect(c.Events(gone, 1, 0), 0); err == nil || len(events) > 0 {
		t.Errorf("%d events with a context that has ended: %v", len(events), err)
	}
}

func TestFollowReadsFromTheLogWhatItDidNotHear(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	c := bustest.Dial(t, s, choir.RoleShell, l.Home)
	f := follow(t, c, 0)
	l.Append(1)
	control, err := s.Connect(bustest.Mint(t, s, choir.RoleControl, l.Home))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(control.Close)
	// Only every fifth event is delivered, twice, and no relay helps.
	for range 10 {
		l.Append(5)
		events, err := l.EventsAfter(t.Context(), l.Head()-1, 1)
		if err != nil {
			t.Fatal(err)
		}
		body, err := choir.Canonical(events[0])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := control.Publish(bus.SubjectFor(events[0]), body); err != nil {
				t.Fatal(err)
			}
		}
		f.upTo(l.Head())
	}
}

// TestASlowReaderThatLostMessagesReadsThemFromTheLog has the reader stop twice:
// at the first event, so that its buffer overflows, and at the end of the catch-up
// that follows, so that it overflows again without anybody being told.
func TestASlowReaderThatLostMessagesReadsThemFromTheLog(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t)
	rounds := 8 // what is told, and when, is up to the scheduler
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		l := bustest.NewLog(bustest.NewHome(t))
		serve(t, s, l, nil)
		relay(t, s, l)
		onlooker := follow(t, bustest.Dial(t, s, choir.RoleShell, l.Home), 0)
		ctx, cancel := context.WithCancel(bustest.Within(t))
		stopped, goOn, seen := make(chan struct{}), make(chan struct{}), uint64(0)
		done := make(chan error, 1)
		c := bustest.Dial(t, s, choir.RoleShell, l.Home)
		go func() {
			done <- c.Follow(ctx, 0, func(e choir.Event) error {
				if e.Seq == 1 || e.Seq == 1500 {
					stopped <- struct{}{}
					<-goOn
				}
				if seen = e.Seq; seen == 3000 {
					cancel()
				}
				return nil
			})
		}()
		l.Append(1)
		for _, n := range []int{1499, 1500} {
			<-stopped
			l.Append(n)
			onlooker.upTo(l.Head())
			goOn <- struct{}{}
		}
		if err := <-done; !errors.Is(err, context.Canceled) || seen != 3000 {
			t.Fatalf("it read to event %d: %v", seen, err)
		}
	}
}

func TestEveryMethodSurvivesALostConnection(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	relay(t, s, l)
	cutter := &cutter{dial: s.Dial}
	c := bustest.DialWith(t, cutter.Dial, bustest.Mint(t, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
	f := follow(t, c, 0)
	ctx := bustest.Within(t)
	for range 5 {
		cutter.cut()
		l.Append(10)
		content := bytes.Repeat([]byte(bustest.NewID(t)), 40_000) // three chunks
		d, err := c.PutBlob(ctx, content)
		if err != nil {
			t.Fatal(err)
		}
		cutter.cut()
		if back, err := c.GetBlob(ctx, d); err != nil || !bytes.Equal(back, content) {
			t.Fatalf("got %d bytes, %v", len(back), err)
		}
		f.upTo(l.Head())
		if _, err := c.EventsAfter(ctx, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// cutter dials, and cuts what it dialled.
type cutter struct {
	dial func(context.Context) (net.Conn, error)
	mu   sync.Mutex
	open []net.Conn
}

func (c *cutter) Dial(ctx context.Context) (net.Conn, error) {
	nc, err := c.dial(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, nc)
	return nc, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, nc := range c.open {
		nc.Close()
	}
	c.open = nil
}

func TestListeningBeginsWhenTheBusIsBack(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	relay(t, s, l)
	cutter := &cutter{dial: s.Dial}
	c := bustest.DialWith(t, cutter.Dial, bustest.Mint(t, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
	for range 20 {
		cutter.cut()
		f := follow(t, c, l.Head())
		l.Append(3)
		f.upTo(l.Head())
	}
}

func TestBlobsOfEverySizeComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	serve(t, s, l, nil)
	c := bustest.Dial(t, s, choir.RoleAssociate, l.Home)
	ctx := bustest.Within(t)
	for _, size := range []int{0, 1, choir.BlobChunk - 1, choir.BlobChunk, choir.BlobChunk + 1, 3 * choir.BlobChunk} {
		content := bytes.Repeat([]byte{7}, size)
		d, err := c.PutBlob(ctx, content)
		if err != nil || d != choir.DigestOf(content) {
			t.Fatalf("%d bytes: %s, %v", size, d, err)
		}
		if back, err := c.GetBlob(ctx, d); err != nil || !bytes.Equal(back, content) {
			t.Fatalf("%d bytes: got %d, %v", size, len(back), err)
		}
	}
	if _, err := c.GetBlob(ctx, choir.DigestOf([]byte("nobody's"))); choir.CodeOf(err) != choir.CodeNotFound {
		t.Fatalf("got %v", err)
	}
}

// TestWhatDoesNotFitIntoAMessageGoesThroughTheBlobStore sends and gets lists of any
// length.
func TestWhatDoesNotFitIntoAMessageGoesThroughTheBlobStore(t *testing.T) {
	t.Parallel()
	s, home, blobs := bustest.Start(t), bustest.NewHome(t), bustest.NewBlobs()
	var longest atomic.Int64 // of the requests
	r, err := hub.Respond(s, home.User, home.Computer, func(_ context.Context, _ choir.Caller, v choir.Verb, body []byte) (any, error) {
		longest.Store(max(longest.Load(), int64(len(body))))
		if v != choir.VerbTaskRollback {
			return blobs.Answer(v, body)
		}
		var at choir.LargeRequest
		if choir.DecodeStrict(body, &at) == nil {
			body = blobs.Content(at.Large)
		}
		var req choir.TaskRollbackRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		reply, err := json.Marshal(choir.TaskRollbackReply{Conflicts: req.Keep})
		if err != nil || len(reply) <= choir.LargeBody {
			return json.RawMessage(reply), err
		}
		return bus.Large(blobs.Put(reply)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := bustest.Dial(t, s, choir.RoleAssociate, home)
	task := choir.ID("01a1fc66-455c-725b-b446-026efbb4ef29")
	for _, n := range []int{1, choir.LargeBody/1000 - 10, choir.LargeBody / 1000, 3_000} {
		req := choir.TaskRollbackRequest{Task: task}
		for i := range n {
			req.Keep = append(req.Keep, fmt.Sprintf("%0997d", i))
		}
		var reply choir.TaskRollbackReply
		if err := c.Call(bustest.Within(t), choir.VerbTaskRollback, req, &reply); err != nil || !slices.Equal(reply.Conflicts, req.Keep) {
			t.Fatalf("%d paths: got %d, %v", n, len(reply.Conflicts), err)
		}
	}
	if n := longest.Load(); n > choir.LargeBody {
		t.Errorf("a message had %d bytes", n)
	}
	req := choir.TaskRollbackRequest{Task: task, Keep: []string{strings.Repeat("x", choir.MaxLargeBody)}}
	if err := c.Call(bustest.Within(t), choir.VerbTaskRollback, req, nil); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestWhatARoleMayNotAskIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s, h := bustest.Start(t), bustest.NewHome(t)
	c := bustest.Dial(t, s, choir.RoleDesktop, h)
	if _, err := c.Append(bustest.Within(t), choir.Draft{}); choir.CodeOf(err) != choir.CodeForbidden {
		t.Fatalf("got %v", err)
	}
	worker := bustest.Dial(t, s, choir.RoleAssociate, h)
	err := worker.Follow(bustest.Within(t), 0, func(choir.Event) error { return nil })
	if choir.CodeOf(err) != choir.CodeForbidden {
		t.Fatalf("got %v for an associate that follows", err)
	}
	c.Close()
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("got %v from a closed client", err)
	}
}

func TestLiveTextReachesWhoWatches(t *testing.T) {
	t.Parallel()
	s, h := bustest.Start(t), bustest.NewHome(t)
	nc, err := s.Connect(bustest.Mint(t, s, choir.RoleShell, h))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync("live." + string(h.User) + "." + string(h.Computer) + ".*.*")
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	run := bustest.NewID(t)
	if err := bustest.Dial(t, s, choir.RoleAssociate, h).Live(run, "grün"); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsgWithContext(bustest.Within(t))
	if err != nil || string(m.Data) != "grün" || m.Subject != bus.LiveSubject(h.User, h.Computer, choir.RoleAssociate, run) {
		t.Fatalf("got %v, %v", m, err)
	}
}
