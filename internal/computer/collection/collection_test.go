package collection

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const day = 24 * time.Hour

// lab is a Collector of a workspace of which nothing else runs.
type lab struct {
	*workspacetest.Lab
	*Collector
	blobs *mem.Store
	now   time.Time // of the Collector; what is stored is of the machine's time
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{blobs: mem.New(mem.Config{}), now: time.Now()}
	l.Lab = workspacetest.New(t, l.blobs)
	l.Collector = New(l.Log, l.blobs, l.Keeper, l.Workspace, Config{Now: func() time.Time { return l.now }, Logger: slog.New(slog.DiscardHandler)})
	return l
}

// recordChanges records what differs from the last snapshot, and returns the moment after it.
func (l *lab) recordChanges(reason string) uint64 {
	l.T.Helper()
	unlock, err := l.Lock(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	defer unlock()
	now, _, err := l.Scan(l.Within())
	if err == nil {
		err = l.RecordFor(l.Within(), now, reason, nil)
	}
	if err != nil {
		l.T.Fatal(err)
	}
	return l.Head()
}

// call is what a tool call leaves: a file that only its moment has, and one that each
// changes. It returns the moment.
func (l *lab) call(n int) uint64 {
	l.T.Helper()
	l.WriteOutside("only", fmt.Sprintf("big-%d", n))
	l.WriteOutside("counter", fmt.Sprint(n))
	return l.recordChanges("tool_returned")
}

// whole verifies the tree of a moment. Code not_found when it was collected.
func (l *lab) whole(seq uint64) error {
	l.T.Helper()
	taken, _, err := l.Log.SnapshotAt(l.Within(), seq)
	if err == nil {
		_, _, err = l.Keeper.Verify(l.Within(), taken.Snapshot)
	}
	return err
}

// mustCollect collects with moments of tool calls kept for a month.
func (l *lab) mustCollect(dryRun bool) Collected {
	l.T.Helper()
	got, err := l.Collect(l.Within(), 30*day, dryRun)
	if err != nil {
		l.T.Fatal(err)
	}
	return got
}

func TestACollectionLetsGoOfOldToolCallsOnly(t *testing.T) {
	l := newLab(t)
	l.Write("kept", "kept")
	begun := l.recordChanges("task_started")
	var middle []uint64
	for n := range 4 {
		middle = append(middle, l.call(n))
	}
	l.WriteOutside("only", "at the end")
	ended := l.recordChanges("task_ended")

	// What is fresh stays, and so does what a dry run finds.
	for _, dry := range []bool{false, true} {
		if dry {
			l.now = l.now.Add(60 * day)
		}
		got := l.mustCollect(dry)
		if dry == (got.Removed == 0) || dry == (got.Moments == 0) || got.DryRun != dry {
			t.Errorf("dry run %v: %+v", dry, got)
		}
		for _, seq := range middle {
			if err := l.whole(seq); err != nil {
				t.Errorf("dry run %v took event %d: %v", dry, seq, err)
			}
		}
	}
	would := l.mustCollect(true)
	got := l.mustCollect(false)
	if got.Moments != 3 || got.Removed == 0 || got.Bytes == 0 || got.Removed != would.Removed || got.Bytes != would.Bytes {
		t.Errorf("it removed %+v, the dry run says %+v", got, would)
	}
	for _, seq := range middle[:3] {
		if err := l.whole(seq); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("event %d is still there: %v", seq, err)
		}
	}
	for _, seq := range []uint64{begun, middle[3], ended} {
		if err := l.whole(seq); err != nil {
			t.Errorf("the moment of event %d: %v", seq, err)
		}
	}
	// What was removed is stored again when it comes back, though init has seen it.
	l.WriteOutside("only", "big-1")
	l.WriteOutside("counter", "1")
	if err := l.whole(l.recordChanges(workspace.ReasonOutside)); err != nil {
		t.Errorf("after the collection: %v", err)
	}
	if again := l.mustCollect(false); again.Removed != 0 {
		t.Errorf("once more it removes %+v", again)
	}
}

// TestTheAttemptOfATaskIsNotCollected: the log leads to it by the task's result alone.
func TestTheAttemptOfATaskIsNotCollected(t *testing.T) {
	l := newLab(t)
	for _, named := range []bool{false, true} {
		l.WriteOutside("tried", fmt.Sprint("only the attempt has this: ", named))
		tried, err := l.Client.Scan(l.Within(), l.Keeper)
		if err != nil {
			t.Fatal(err)
		}
		l.WriteOutside("tried", "before")
		if named {
			result := choir.AssociateResult{
				Version: choir.ContractVersion, TaskID: workspacetest.NewID(t), Status: choir.StatusFailed, Code: choir.ResultVerifyFailed, Attempt: tried.Root,
				FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
				Verify: choir.VerifyOutcome{Mode: choir.VerifySmoke, Status: choir.VerifyFail},
			}
			result.RunID = choir.DeriveID(result.TaskID, "run")
			task := choir.DirectorTask{Version: choir.ContractVersion, TaskID: result.TaskID, RunID: result.RunID, Kind: choir.TaskEditRepo, Instruction: "x"}
			if _, err := l.Events.AppendToRun(l.Within(), choir.RoleCLI, workspacetest.NewID(t), task.RunID, task.TaskID, choir.TaskDispatched{Task: task}); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Events.AppendToRun(l.Within(), choir.RoleAssociate, workspacetest.NewID(t), task.RunID, task.TaskID, choir.TaskReturned{Result: result}); err != nil {
				t.Fatal(err)
			}
		}
		l.now = time.Now().Add(60 * day)
		l.mustCollect(false)
		if _, _, err := l.Keeper.Verify(l.Within(), tried.Root); (choir.CodeOf(err) == choir.CodeNotFound) == named {
			t.Errorf("named by a result %v: %v", named, err)
		}
	}
}

func TestWhileOneNeedsWhatIsThereNothingIsCollected(t *testing.T) {
	l := newLab(t)
	first, second := l.Refuse(), l.Refuse()
	first()
	first()
	if _, err := l.Collect(l.Within(), 0, false); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("with one left: %v", err)
	}
	second()
	if _, err := l.Collect(l.Within(), 0, false); err != nil {
		t.Errorf("with none: %v", err)
	}
	resume := l.Pause()
	if l.mu.TryLock() {
		t.Error("a collection does not wait for who paused it")
	}
	resume()
}

// tree is a workspace with an intent that was not finished.
type tree struct {
	Workspace
	held func() // is called while a collection is under way
}

func (w tree) UnfinishedIntent() (bool, error) {
	w.held()
	return true, nil
}

func TestNothingIsCollectedBeforeAnIntentIsFinished(t *testing.T) {
	l := newLab(t)
	paused := false
	l.workspace = tree{l.workspace, func() { paused = l.mu.TryRLock() }}
	if _, err := l.Collect(l.Within(), 0, false); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("%v", err)
	}
	if paused {
		t.Error("a look at the tree does not wait for the collection")
	}
}

func TestAStoreThatRemovesNothingIsNotCollected(t *testing.T) {
	l := newLab(t)
	l.Collector.blobs = struct{ blob.Store }{l.blobs}
	if _, err := l.Collect(l.Within(), 0, false); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// busyLog is a log with an open task for as long as the first questions.
type busyLog struct {
	Log
	left atomic.Int64
	idle func() // is called when there is none any more
}

func (b *busyLog) OpenTasks(ctx context.Context) ([]eventstore.Task, error) {
	if b.left.Add(-1) >= 0 {
		return []eventstore.Task{{}}, nil
	}
	b.idle()
	return b.Log.OpenTasks(ctx)
}

func TestACollectionComesByItselfOnceNoTaskIsOpen(t *testing.T) {
	l := newLab(t)
	first := l.call(1)
	l.call(2)
	l.now = l.now.Add(2 * day)
	l.cfg.KeepCalls, l.cfg.Every = 1, time.Millisecond
	log := &busyLog{Log: l.Collector.log}
	log.left.Store(3)
	var early error
	ctx, cancel := context.WithCancel(l.Within())
	log.idle = func() {
		if log.left.Load() == -1 {
			early = l.whole(first)
			return
		}
		cancel() // by now one collection has ended
	}
	l.Collector.log = log
	if err := l.Serve(ctx); err != nil {
		t.Error(err)
	}
	if early != nil {
		t.Errorf("it was collected while a task was open: %v", early)
	}
	if err := l.whole(first); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the moment is still there: %v", err)
	}
}
