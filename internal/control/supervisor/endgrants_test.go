package supervisor

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"choiros/internal/choir"
)

// failingLog is a log whose reads fail, each one after the events of a page.
type failingLog [][]choir.Event

// Follow implements followedLog.
func (l *failingLog) Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		if len(*l) == 0 {
			<-ctx.Done()
			yield(choir.Event{}, ctx.Err())
			return
		}
		page := (*l)[0]
		*l = (*l)[1:]
		for _, e := range page {
			if e.Seq > cursor && !yield(e, nil) {
				return
			}
		}
		yield(choir.Event{}, errors.New("the disk is full"))
	}
}

// TestTheEndsOfGrantsAreSeenAfterAnErrorOfTheLog has the log fail, as on a full disk, before the end
// of a task and after it, and demands that each end, and a beginning, is told once.
func TestTheEndsOfGrantsAreSeenAfterAnErrorOfTheLog(t *testing.T) {
	task := func(seq uint64, id choir.ID) choir.Event {
		return choir.Event{Seq: seq, Type: choir.TypeTaskReturned, Task: id}
	}
	synctest.Test(t, func(t *testing.T) {
		log := &failingLog{{}, {task(3, "one")}, {task(3, "one")}, {task(3, "one"), {Seq: 4, Type: choir.TypeTaskStarted}, task(5, "two"), {Seq: 6, Type: choir.TypeRunFinished, Run: "run"}}}
		ctx, stop := context.WithCancel(t.Context())
		ends := make(chan choir.ID)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			endGrants(ctx, log, 2, func() { ends <- "a beginning" }, func(id choir.ID) { ends <- id })
		}()
		for _, want := range []choir.ID{"one", "a beginning", "two", "run"} {
			if got := <-ends; got != want {
				t.Errorf("the end of %s, wanted that of %s", got, want)
			}
		}
		stop()
		<-ended
	})
}
