package projects

import (
	"testing"
	"time"

	"choiros/internal/choir"
)

// TestWhatIsPushedFollowsFromTheLog folds checkpoints and the ends of pushes.
func TestWhatIsPushedFollowsFromTheLog(t *testing.T) {
	var s pushes
	const first, second = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	s.committed(choir.Commit{Repo: "", Commit: first}) // the workspace's own repository
	if len(s) != 0 {
		t.Errorf("%+v", s)
	}
	s.committed(choir.Commit{Repo: "p", Commit: first})
	s.failed(choir.RepoPushFailed{Name: "p", Commit: first, Attempts: 2, Said: "no"})
	if got := s["p"]; !got.Pending() || got.Attempts != 2 || got.Said != "no" {
		t.Errorf("after two failures %+v", got)
	}
	s.committed(choir.Commit{Repo: "p", Commit: second})
	s.failed(choir.RepoPushFailed{Name: "p", Commit: first, Attempts: 3}) // of the commit before
	if got := s["p"]; !got.Pending() || got.Attempts != 0 || got.Wanted != second {
		t.Errorf("with a new commit %+v", got)
	}
	s.pushed(choir.RepoPushed{Name: "p", URL: "u", Commit: first})
	if got := s["p"]; !got.Pending() {
		t.Errorf("an old commit was pushed: %+v", got)
	}
	s.pushed(choir.RepoPushed{Name: "p", URL: "u", Commit: second})
	if got := s["p"]; got.Pending() || got.URL != "u" {
		t.Errorf("the new commit was pushed: %+v", got)
	}
}

func TestTheWaitsBetweenPushesGrow(t *testing.T) {
	last := time.Duration(0)
	for attempts := 1; attempts <= 200; attempts++ {
		wait := waitAfter(attempts)
		if wait < last || wait < firstWait || wait > longWait {
			t.Fatalf("after %d attempts %s, after one less %s", attempts, wait, last)
		}
		last = wait
	}
	if last != longWait {
		t.Errorf("it ends at %s", last)
	}
}
