package associate_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/associate"
	"choiros/internal/associate/taskrunner"
	"choiros/internal/bus"
	"choiros/internal/choir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// doer hands every task to the test and ends it as the test says.
type doer struct {
	begun    chan begun
	lost     atomic.Bool
	ended    chan [2]choir.ID    // gets the task and the call of each command to be ended; may be nil
	projects map[choir.ID]string // of tasks; never written while a service runs
}

func (d *doer) Project(e choir.Event) string { return d.projects[e.Task] }

func (d *doer) SetPaused(choir.ID, bool, uint64) {}

func (d *doer) EndCommand(task, call choir.ID) {
	if d.ended != nil {
		d.ended <- [2]choir.ID{task, call}
	}
}

func (d *doer) Lost() bool { return d.lost.Load() }

type begun struct {
	task choir.ID
	work context.Context
	end  chan error
}

func (d *doer) Do(_, work context.Context, e choir.Event) error {
	b := begun{e.Task, work, make(chan error)}
	d.begun <- b
	return <-b.end
}

const (
	runA = choir.ID("01890000-0000-7000-8000-00000000000a")
	runB = choir.ID("01890000-0000-7000-8000-00000000000b")
	one  = choir.ID("01890000-0000-7000-8000-000000000001")
	two  = choir.ID("01890000-0000-7000-8000-000000000002")

	three = choir.ID("01890000-0000-7000-8000-000000000003")
)

func task(run, id choir.ID) choir.Event {
	return choir.Event{Type: choir.TypeTaskDispatched, Run: run, Task: id}
}

func about(t choir.Type, id choir.ID) choir.Event { return choir.Event{Type: t, Run: runA, Task: id} }

// serve starts a service; the returned function ends it and waits.
func serve(t *testing.T) (*doer, chan<- choir.Event, func() error) {
	t.Helper()
	d, events, ended := &doer{begun: make(chan begun)}, make(chan choir.Event), make(chan error)
	ctx, stop := context.WithCancel(context.Background())
	s := associate.New(d, nil, slog.New(slog.DiscardHandler))
	go func() { ended <- s.Serve(ctx, events) }()
	return d, events, func() error {
		stop()
		return <-ended
	}
}

func TestNothingBeginsBesideWhatWasLeft(t *testing.T) {
	t.Parallel()
	d, events, ended := &doer{begun: make(chan begun)}, make(chan choir.Event), make(chan error)
	go func() {
		ended <- associate.New(d, nil, slog.New(slog.DiscardHandler)).Serve(context.Background(), events)
	}()
	events <- task(runA, one)
	first := <-d.begun
	events <- task(runA, two)
	d.lost.Store(true)
	first.end <- nil
	// The second would wait for the test to take it.
	if err := <-ended; !errors.Is(err, associate.ErrLost) {
		t.Errorf("the service ended with %v", err)
	}
}

func TestOneTaskAtATimeInTheOrderOfTheLog(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	first := <-d.begun
	deliver <- task(runA, two)
	deliver <- about(choir.TypeTaskReturned, one) // while it ends
	select {
	case b := <-d.begun:
		t.Fatalf("%s began while %s runs", b.task, first.task)
	default:
	}
	first.end <- nil
	second := <-d.begun
	if first.task != one || second.task != two {
		t.Errorf("order %s, %s", first.task, second.task)
	}
	second.end <- nil
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestATaskWithoutAResultIsTriedAgain has one fail twice: no other goes before it.
func TestATaskWithoutAResultIsTriedAgain(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	deliver <- task(runA, two)
	for range 2 {
		b := <-d.begun
		if b.task != one {
			t.Errorf("%s runs", b.task)
		}
		b.end <- errors.New("no result")
	}
	deliver <- about(choir.TypeTaskReturned, one) // the control plane has answered it
	b := <-d.begun
	if b.task != two {
		t.Errorf("%s runs after it was answered", b.task)
	}
	b.end <- nil
	end()
}

func TestAnAnsweredTaskIsNotBegun(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	first := <-d.begun
	deliver <- task(runB, two)
	deliver <- about(choir.TypeTaskReturned, two)
	deliver <- task(runB, three)
	first.end <- nil
	b := <-d.begun
	if b.task != three {
		t.Errorf("%s runs", b.task)
	}
	b.end <- nil
	end()
}

func TestTheEndOfACommandReachesItsTask(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	d.ended = make(chan [2]choir.ID, 2)
	deliver <- task(runA, one)
	first := <-d.begun
	unread := about(choir.TypeCommandEndRequested, one)
	unread.Payload = []byte(`{"call":7}`)
	deliver <- unread
	asked := about(choir.TypeCommandEndRequested, one)
	asked.Payload = []byte(`{"call":"` + string(three) + `"}`)
	deliver <- asked
	if got := <-d.ended; got != [2]choir.ID{one, three} || first.work.Err() != nil {
		t.Errorf("ended are %v, the task with %v", got, first.work.Err())
	}
	first.end <- nil
	end()
}

func TestCancelReachesRunningAndWaitingTasks(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	first := <-d.begun
	deliver <- task(runB, two)
	deliver <- about(choir.TypeTaskCancelRequested, two)
	if first.work.Err() != nil {
		t.Error("another task's cancel ended this one")
	}
	deliver <- about(choir.TypeTaskCancelRequested, one)
	<-first.work.Done()
	first.end <- nil
	second := <-d.begun
	for _, b := range []begun{first, second} {
		if !errors.Is(context.Cause(b.work), taskrunner.ErrCancelled) {
			t.Errorf("%s ends with %v", b.task, context.Cause(b.work))
		}
	}
	second.end <- nil
	end()
}

func TestServeWaitsForTheRunningTask(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	b := <-d.begun
	ended := make(chan error)
	go func() { ended <- end() }()
	<-b.work.Done()
	if errors.Is(context.Cause(b.work), taskrunner.ErrCancelled) {
		t.Error("the end of the process looks like a person's cancel")
	}
	select {
	case <-ended:
		t.Fatal("Serve returned while the task runs")
	default:
	}
	b.end <- nil
	<-ended
}

// feed is a feed of fixed events whose breaks end with the given errors, one after the
// other: each after one more event.
type feed struct {
	events []choir.Event // numbered from 1
	breaks []error
	from   []uint64 // where it was followed from
}

func (f *feed) FollowTasks(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	f.from = append(f.from, seq)
	for i, e := range f.events[seq:] {
		if i == 1 && len(f.breaks) > 0 {
			break
		}
		e.Seq = seq + uint64(i) + 1
		if err := fn(e); err != nil {
			return err
		}
	}
	if len(f.breaks) == 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	err := f.breaks[0]
	f.breaks = f.breaks[1:]
	return err
}

// TestAFeedThatBreaksGoesOnAndItsTaskToo has the log unreadable for a moment while a task
// works.
func TestAFeedThatBreaksGoesOnAndItsTaskToo(t *testing.T) {
	t.Parallel()
	lost := choir.E("x", choir.CodeNoSpace, "the copy cannot be written")
	f := &feed{events: []choir.Event{task(runA, one), task(runA, two), about(choir.TypeTaskCancelRequested, one)}, breaks: []error{lost, lost}}
	d, ended := &doer{begun: make(chan begun)}, make(chan error)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- associate.New(d, nil, slog.New(slog.DiscardHandler)).Follow(ctx, f, 0) }()
	b := <-d.begun
	<-b.work.Done() // by the event that came after both breaks
	if !errors.Is(context.Cause(b.work), taskrunner.ErrCancelled) {
		t.Errorf("the task ended with %v", context.Cause(b.work))
	}
	b.end <- nil
	second := <-d.begun
	stop()
	second.end <- nil
	if err := <-ended; !errors.Is(err, context.Canceled) || !slices.Equal(f.from, []uint64{0, 1, 2}) {
		t.Errorf("it ended with %v, followed from %v", err, f.from)
	}
}

func TestAClosedFeedEndsTheRole(t *testing.T) {
	t.Parallel()
	d, ended := &doer{begun: make(chan begun)}, make(chan error)
	f := &feed{events: []choir.Event{task(runA, one)}, breaks: []error{bus.ErrClosed}}
	go func() {
		ended <- associate.New(d, nil, slog.New(slog.DiscardHandler)).Follow(context.Background(), f, 0)
	}()
	b := <-d.begun
	<-b.work.Done()
	b.end <- nil
	if err := <-ended; !errors.Is(err, bus.ErrClosed) {
		t.Errorf("it ended with %v", err)
	}
}
