package rewind

import (
	"context"
	"testing"

	"choiros/internal/choir"
)

// served serves the Rewinder until the test ends.
func (l *lab) served() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- l.Serve(ctx) }()
	l.T.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			l.T.Error(err)
		}
	})
}

func TestARewindGoesOnWhenItsCallerHasGone(t *testing.T) {
	l := newLab(t)
	l.served()
	l.Write("x", "then\n")
	then := l.Head()
	l.Write("x", "now\n")
	ctx, leave := context.WithCancel(l.Within())
	job := must(l.Start(ctx, choir.RoleCLI, then))(t)
	leave()
	<-job.Done()
	if r, err := job.Result(); err != nil || r.ToSeq != then || !job.Ended() || l.Last() != job {
		t.Errorf("%+v, %v", r, err)
	}
	l.WantFiles(map[string]string{"x": "then\n"})
	if err := l.Cancel(l.Within()); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("one that has ended is stopped: %v", err)
	}
}

func TestOneRewindIsUnderWayUntilItIsStopped(t *testing.T) {
	l := newLab(t)
	l.served()
	l.Write("x", "then\n")
	then := l.Head()
	l.Write("x", "now\n")
	l.startTask(l.prompt()) // and nobody ends it, so the rewind waits
	job := must(l.Start(l.Within(), choir.RoleCLI, then))(t)
	if _, err := l.Start(l.Within(), choir.RoleCLI, then); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("a second one: %v", err)
	}
	if err := l.Cancel(l.Within()); err != nil {
		t.Error(err)
	}
	if _, err := job.Result(); choir.CodeOf(err) != choir.CodeCancelled {
		t.Errorf("it ended with %v", err)
	}
	l.WantFiles(map[string]string{"x": "now\n"})
	if again, err := l.Start(l.Within(), choir.RoleCLI, then); err != nil || l.Last() != again {
		t.Errorf("another one: %v", err)
	}
}

func TestAComputerThatDoesNotRunIsNotRewound(t *testing.T) {
	l := newLab(t)
	l.Write("x", "x")
	gone, cancel := context.WithCancel(l.Within())
	cancel()
	if _, err := l.Start(gone, choir.RoleCLI, l.Head()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if job := l.Last(); job == nil || !job.Ended() {
		t.Error("the job has not ended")
	}
}
