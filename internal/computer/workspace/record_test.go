package workspace

import (
	"context"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// gone is a replica that cannot be reached; waited are the events that somebody waited for.
type gone struct{ waited []uint64 }

func (g *gone) Wait(_ context.Context, seq uint64) error {
	g.waited = append(g.waited, seq)
	return choir.E("lab", choir.CodeUnavailable, "the replica cannot be reached")
}

// TestWhatIsRecordedIsRecordedOnceWithoutTheReplica records changes of the owner while the
// replica is away. They are in the log with their snapshot, and a second look tells nothing.
func TestWhatIsRecordedIsRecordedOnceWithoutTheReplica(t *testing.T) {
	confined := func(cfg *Config) { cfg.Confines = func() bool { return true } }
	task := &eventstore.Task{ID: must(newTestID())(t), Run: must(newTestID())(t), Task: choir.DirectorTask{Repo: "app"}}
	for name, record := range map[string]func(l *lab) error{
		"by the owner": func(l *lab) error { return l.RecordOwners(l.within(), l.scanned()) },
		"beside a task": func(l *lab) error {
			return l.RecordTask(l.within(), l.scanned(), "task_ended", false, task, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			replica := &gone{}
			l := newReplicatedLab(t, replica, confined)
			if err := l.RecordOwners(l.within(), l.scanned()); err != nil { // the first look, which nobody waits for
				t.Fatal(err)
			}
			l.outside("workspace/other/file", "x")
			before := l.head()
			if err := record(l); err != nil {
				t.Fatal(err)
			}
			now := l.scanned()
			if last := must(l.LastSnapshot(l.within()))(t); last != now.Root || len(replica.waited) == 0 {
				t.Errorf("the last snapshot is %s, want %s; waited for %v", last, now.Root, replica.waited)
			}
			if told := l.told(before); told["workspace/other/file"] != choir.SourceUser {
				t.Errorf("the log says %v", told)
			}
			before = l.head()
			if err := record(l); err != nil || l.head() != before {
				t.Errorf("%d events more, and %v", l.head()-before, err)
			}
		})
	}
}
