package associate_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"

	"choiros/internal/associate"
	"choiros/internal/associate/taskrunner"
	"choiros/internal/choir"
)

// bench is a service whose tasks the test ends. It is used in a synctest bubble, where
// started says what runs once nothing can happen by itself any more.
type bench struct {
	*testing.T
	doer   *doer
	events chan<- choir.Event
	seq    uint64
	ended  chan error
	stop   context.CancelFunc
	open   map[choir.ID]begun
}

// inBench calls test in a bubble with a service of tasks in projects, of which a former
// process began some.
func inBench(t *testing.T, projects map[choir.ID]string, former []choir.ID, test func(*bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := make(chan choir.Event)
		b := &bench{T: t, doer: &doer{begun: make(chan begun), projects: projects}, events: events, ended: make(chan error, 1), open: map[choir.ID]begun{}}
		var ctx context.Context
		ctx, b.stop = context.WithCancel(t.Context())
		go func() {
			b.ended <- associate.New(b.doer, former, slog.New(slog.DiscardHandler)).Serve(ctx, events)
		}()
		test(b)
		b.stop()
		for id := range b.open {
			b.endTask(id, nil)
		}
		synctest.Wait()
	})
}

// dispatch sends the dispatch of tasks to the service.
func (b *bench) dispatch(tasks ...choir.ID) {
	for _, id := range tasks {
		b.seq++
		e := task(runA, id)
		e.Seq = b.seq
		b.events <- e
	}
}

// started fails the test unless these tasks begin now, in this order or at once, and no
// others.
func (b *bench) started(want ...choir.ID) {
	b.Helper()
	got := map[choir.ID]bool{}
	for more := true; more; {
		synctest.Wait()
		select {
		case one := <-b.doer.begun:
			got[one.task], b.open[one.task] = true, one
		default:
			more = false
		}
	}
	for _, id := range want {
		if !got[id] {
			b.Fatalf("%s did not begin; those that did: %v", id, got)
		}
	}
	if len(got) != len(want) {
		b.Fatalf("%v began, want %v", got, want)
	}
}

// endTask ends a running task with Do's error.
func (b *bench) endTask(id choir.ID, err error) {
	b.open[id].end <- err
	delete(b.open, id)
}

func TestTasksOfTwoProjectsRunAtOnce(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "a"}, nil, func(b *bench) {
		b.dispatch(one, three, two)
		b.started(one, two)
		b.endTask(two, nil)
		b.started() // the second of a project waits for the first
		b.endTask(one, nil)
		b.started(three)
	})
}

func TestATaskOfTheWholeWorkspaceRunsAloneInItsPlace(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", three: "b"}, nil, func(b *bench) {
		b.dispatch(one, two, three) // the second is one of the whole workspace
		b.started(one)
		b.endTask(one, nil)
		b.started(two)
		b.endTask(two, nil)
		b.started(three)
	})
}

func TestNoMoreTasksRunAtOnceThanTheLimit(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "c"}, nil, func(b *bench) {
		b.dispatch(one, two, three)
		b.started(one, two)
		b.endTask(two, nil)
		b.started(three)
	})
}

// TestATaskThatIsTriedAgainHoldsUpItsProjectOnly has one task fail again and again, while
// tasks of another project come and go.
func TestATaskThatIsTriedAgainHoldsUpItsProjectOnly(t *testing.T) {
	projects := map[choir.ID]string{one: "a", two: "a"}
	others := make([]choir.ID, 5)
	for i := range others {
		others[i] = choir.DeriveID(runA, strconv.Itoa(i))
		projects[others[i]] = "b"
	}
	inBench(t, projects, nil, func(b *bench) {
		b.dispatch(one, two)
		b.started(one)
		for _, other := range others {
			b.endTask(one, errors.New("no result"))
			b.dispatch(other)
			b.started(other)
			b.endTask(other, nil)
			again := <-b.doer.begun // when its wait is over, by the clock of the bubble
			if b.open[again.task] = again; again.task != one {
				b.Fatalf("%s began in place of the one that failed", again.task)
			}
		}
		b.events <- about(choir.TypeTaskReturned, one)
		b.endTask(one, errors.New("answered by the control plane"))
		b.started(two)
	})
}

func TestACancelOfOneTaskLeavesTheOther(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b"}, nil, func(b *bench) {
		b.dispatch(one, two)
		b.started(one, two)
		b.events <- about(choir.TypeTaskCancelRequested, two)
		synctest.Wait()
		if b.open[one].work.Err() != nil || !errors.Is(context.Cause(b.open[two].work), taskrunner.ErrCancelled) {
			b.Errorf("the tasks end with %v and %v", context.Cause(b.open[one].work), context.Cause(b.open[two].work))
		}
	})
}

// TestALostTreeProcessLetsTheOtherTaskEnd has processes of one task be left: nothing
// begins any more, and the service ends after the other task.
func TestALostTreeProcessLetsTheOtherTaskEnd(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "c"}, nil, func(b *bench) {
		b.dispatch(one, two, three)
		b.started(one, two)
		b.doer.lost.Store(true)
		b.endTask(one, nil)
		b.started()
		if b.open[two].work.Err() != nil {
			b.Error("the other task was ended")
		}
		b.endTask(two, nil)
		if err := <-b.ended; !errors.Is(err, associate.ErrLost) {
			b.Errorf("the service ended with %v", err)
		}
	})
}

// TestTwoTasksThatEndAtOnce ends both before the service hears of either, one without a
// result.
func TestTwoTasksThatEndAtOnce(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "b"}, nil, func(b *bench) {
		b.dispatch(one, two, three)
		b.started(one, two)
		b.endTask(one, errors.New("no result"))
		b.endTask(two, nil)
		b.started(three)
		again := <-b.doer.begun
		if b.open[again.task] = again; again.task != one {
			b.Errorf("%s began again", again.task)
		}
	})
}

// TestWhatAFormerProcessBeganIsExecutedAlone has two tasks at work when a process ends: one
// of them may have ended it, and must not do so to the other once more.
func TestWhatAFormerProcessBeganIsExecutedAlone(t *testing.T) {
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "c"}, []choir.ID{one, two}, func(b *bench) {
		b.dispatch(one, two, three)
		b.started(one)
		b.endTask(one, errors.New("no result")) // it is innocent: it runs beside others again
		b.started(two)
		b.endTask(two, nil)
		b.started(three)
		again := <-b.doer.begun
		if b.open[again.task] = again; again.task != one {
			b.Errorf("%s began again", again.task)
		}
	})
}

// A paused run's tasks hold up their own projects, and no others.
func TestTheTasksOfAPausedRunDoNotCount(t *testing.T) {
	four := choir.DeriveID(runA, "four")
	inBench(t, map[choir.ID]string{one: "a", two: "b", three: "c", four: "a"}, nil, func(b *bench) {
		b.dispatch(one, two)
		b.started(one, two)
		b.events <- choir.Event{Type: choir.TypeRunPaused, Run: runA, Seq: 10}
		e := task(runB, three)
		e.Seq = 11
		b.events <- e
		e.Task, e.Seq = four, 12
		b.events <- e
		b.started(three)
		b.events <- choir.Event{Type: choir.TypeRunResumed, Run: runA, Seq: 13}
		b.endTask(two, nil)
		b.endTask(one, nil)
		b.started(four)
	})
}
