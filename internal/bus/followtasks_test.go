package bus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
)

// tasksHeard follows the task feed of a log from a number on, and returns a channel of
// the numbers of its events.
func tasksHeard(t *testing.T, c *bus.Client, seq uint64) <-chan uint64 {
	t.Helper()
	heard := make(chan uint64)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- c.FollowTasks(ctx, seq, func(e choir.Event) error {
			if e.Type != choir.TypeTaskDispatched {
				t.Errorf("event %d is of type %s", e.Seq, e.Type)
			}
			select {
			case heard <- e.Seq:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the feed ended with %v", err)
		}
	})
	return heard
}

// expectTasks waits for the task events of a bustest.Log after one number up to another.
func expectTasks(t *testing.T, heard <-chan uint64, after, head uint64) {
	t.Helper()
	ctx := bustest.Within(t)
	for want := after - after%6 + 6; want <= head; want += 6 {
		select {
		case got := <-heard:
			if got != want {
				t.Fatalf("event %d came, wanted %d", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("event %d did not come", want)
		}
	}
}

// TestTheTaskFeedHasEachTaskOnce follows over lost connections and a relay that begins
// anew.
func TestTheTaskFeedHasEachTaskOnce(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Tasks = true
	l.Append(1000)
	serve(t, s, l, nil)
	relay(t, s, l)
	cutter := &cutter{dial: s.Dial}
	c := bustest.DialWith(t, cutter.Dial, bustest.Mint(t, s, choir.RoleAssociate, l.Home), choir.RoleAssociate, l.Home)
	heard := tasksHeard(t, c, 500)
	expectTasks(t, heard, 500, 1000)
	for i := range 10 {
		before := l.Head()
		if i%2 == 1 {
			cutter.cut()
		}
		l.Append(31)
		expectTasks(t, heard, before, l.Head())
	}
}

// TestTheTaskFeedReadsFromTheLogWhatItDidNotHear publishes some events only, with and
// without the number of the one before: no relay helps.
func TestTheTaskFeedReadsFromTheLogWhatItDidNotHear(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Tasks = true
	serve(t, s, l, nil)
	heard := tasksHeard(t, bustest.Dial(t, s, choir.RoleAssociate, l.Home), 0)
	l.Append(6)
	control, err := s.Connect(bustest.Mint(t, s, choir.RoleControl, l.Home))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(control.Close)
	publish := func(seq uint64, before string) {
		t.Helper()
		e, err := l.At(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		body, err := choir.Canonical(e)
		if err != nil {
			t.Fatal(err)
		}
		m := &nats.Msg{Subject: bus.SubjectFor(e), Data: body, Header: nats.Header{}}
		if before != "" {
			m.Header.Set(bus.BeforeHeader, before)
		}
		if err := control.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	publish(6, "")
	expectTasks(t, heard, 0, 6)
	l.Append(12)
	publish(18, "12") // 12 itself was lost
	expectTasks(t, heard, 6, 18)
	l.Append(12)
	publish(24, "18")
	publish(24, "18") // again
	publish(30, "")
	expectTasks(t, heard, 18, 30)
}

// TestTheRelaySaysWhichTaskWasBefore reads the headers of the relay's messages.
func TestTheRelaySaysWhichTaskWasBefore(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	l.Tasks = true
	nc, err := s.Connect(bustest.Mint(t, s, choir.RoleAssociate, l.Home))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync(bus.TaskFeedSubject(l.Home.User, l.Home.Computer, choir.TypeTaskDispatched))
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Append(20)
	relay(t, s, l)
	for _, want := range []string{"", "6", "12"} {
		m, err := sub.NextMsg(bustest.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header.Get(bus.BeforeHeader); got != want {
			t.Errorf("%s: before is %q, want %q", m.Data, got, want)
		}
	}
}
