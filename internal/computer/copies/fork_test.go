package copies

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// pauses counts who lets collections wait.
type pauses struct {
	Collections
	open int
}

func (p *pauses) Pause() func() {
	resume := p.Collections.Pause()
	p.open++
	return func() {
		p.open--
		resume()
	}
}

func TestNothingIsCollectedWhileAForkIsMade(t *testing.T) {
	l := newLab(t)
	l.holds(map[string]string{"a": "a\n"})
	counted := &pauses{Collections: l.collections}
	l.collections = counted
	n := newOne(t)
	n.User = l.User
	n.OpenBlobs = func(dir string) (blob.Store, error) {
		if counted.open != 1 {
			t.Error("a collection may come between")
		}
		return openFS(dir)
	}
	if err := l.ForkInto(l.Within(), must(l.FindFork(l.Within(), 0))(t), n); err != nil || counted.open != 0 {
		t.Errorf("%v; %d are still paused", err, counted.open)
	}
}

// TestAForkOfAMomentWithoutItsFilesHasWhatIsLeft forks a computer that itself came
// without a file: what it lacks, its fork lacks too, and says so.
func TestAForkOfAMomentWithoutItsFilesHasWhatIsLeft(t *testing.T) {
	l := newLab(t)
	l.holds(map[string]string{"a": "a\n", ".env": "SECRET=1\n"})
	l.cfg.Available = func(_ context.Context, root choir.Digest) (choir.Digest, []string, error) {
		return root, []string{"lost"}, nil
	}
	p := must(l.FindFork(l.Within(), 0))(t)
	if len(p.Withheld) != 2 || p.Withheld[0] != ".env" || p.Withheld[1] != "lost" {
		t.Errorf("withheld are %q", p.Withheld)
	}
}

func TestAForkOfWhatHadNoWorkspaceHasNone(t *testing.T) {
	l := newLab(t)
	n := newOne(t)
	n.User = l.User
	if err := l.ForkInto(l.Within(), must(l.FindFork(l.Within(), 1))(t), n); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(n.Dir, RestoreFile)); !os.IsNotExist(err) {
		t.Errorf("its workspace is to be filled: %v", err)
	}
}
