package associate_test

import (
	"context"
	"errors"
	"log/slog"
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
	begun chan begun
	lost  atomic.Bool
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
)

func task(run, id choir.ID) bus.Delivery {
	return bus.Delivery{Kind: bus.DeliverTask, Event: &choir.Event{Run: run, Task: id}}
}

// serve starts a service; the returned function ends it and waits.
func serve(t *testing.T) (*doer, chan<- bus.Delivery, func() error) {
	t.Helper()
	d, deliveries, ended := &doer{begun: make(chan begun)}, make(chan bus.Delivery), make(chan error)
	ctx, stop := context.WithCancel(context.Background())
	s := associate.New(d, slog.New(slog.DiscardHandler))
	go func() { ended <- s.Serve(ctx, deliveries) }()
	return d, deliveries, func() error {
		stop()
		return <-ended
	}
}

func TestNothingBeginsBesideWhatWasLeft(t *testing.T) {
	t.Parallel()
	d, deliveries, ended := &doer{begun: make(chan begun)}, make(chan bus.Delivery), make(chan error)
	go func() {
		ended <- associate.New(d, slog.New(slog.DiscardHandler)).Serve(context.Background(), deliveries)
	}()
	deliveries <- task(runA, one)
	first := <-d.begun
	deliveries <- task(runA, two)
	d.lost.Store(true)
	first.end <- nil
	// The second would wait for the test to take it.
	if err := <-ended; !errors.Is(err, associate.ErrLost) {
		t.Errorf("the service ended with %v", err)
	}
}

func TestOneTaskAtATimeEachOnce(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	first := <-d.begun
	deliver <- task(runA, two)
	deliver <- task(runA, one) // again, while it runs
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
	deliver <- task(runA, one) // again, after its end
	second.end <- errors.New("no result")
	for again := false; !again; { // what got no result is done again
		select {
		case deliver <- task(runA, two):
		case b := <-d.begun:
			again = true
			if b.task != two {
				t.Errorf("%s ran again", b.task)
			}
			b.end <- nil
		}
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCancelReachesRunningAndWaitingTasks(t *testing.T) {
	t.Parallel()
	d, deliver, end := serve(t)
	deliver <- task(runA, one)
	first := <-d.begun
	deliver <- task(runB, two)
	deliver <- bus.Delivery{Kind: bus.DeliverCancel, Run: runA, Task: two}
	deliver <- bus.Delivery{Kind: bus.DeliverCancel, Run: runB}
	if first.work.Err() != nil {
		t.Error("another task's cancel ended this one")
	}
	deliver <- bus.Delivery{Kind: bus.DeliverCancel, Run: runA}
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
