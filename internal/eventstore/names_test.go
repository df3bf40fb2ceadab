package eventstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
)

// dispatched puts a task into the log and gives its ids.
func dispatched(t testing.TB, s *Store) (run, task choir.ID) {
	t.Helper()
	run, task = newID(), newID()
	add(t, s, run, task, choir.TaskDispatched{Task: choir.DirectorTask{
		Version: 1, TaskID: task, RunID: run, Kind: choir.TaskRun, Instruction: "x",
	}})
	return run, task
}

func returned(t testing.TB, run, task choir.ID, summary string) choir.Draft {
	t.Helper()
	return draft(t, choir.TaskReturned{Result: choir.AssociateResult{
		Version: 1, TaskID: task, RunID: run, Status: choir.StatusFailed, Code: choir.ResultCrashed, Summary: summary,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown}, Questions: []choir.Question{},
	}}, run, task)
}

func TestAnIdThatAnotherRoleTookIsAConflictAndNoDuplicate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	run, task := dispatched(t, s)
	squat := draft(t, choir.TaskProgressed{Kind: "progress", Text: "mine"}, run, task)
	squat.ID = choir.DeriveID(task, "returned")
	first := must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, squat))[0]
	check := func(s *Store) {
		t.Helper()
		head, _ := s.Head()
		real := returned(t, run, task, "stood in")
		real.ID = squat.ID
		other := draft(t, choir.SnapshotTaken{Snapshot: choir.DigestOf(nil), Reason: "created"}, "", "")
		_, err := s.Append(ctx, choir.RoleControl, other, real)
		wantCode(t, err, choir.CodeConflict)
		at := choir.FirstOf(err)
		if at == nil || at.Seq != first.Seq || at.ID != squat.ID || at.Source != choir.SourceAssociate || at.Type != "task.progressed" || at.Hash != first.Hash {
			t.Errorf("%v names %+v", err, at)
		}
		if e := new(choir.Error); !errors.As(err, &e) || e.Path != "drafts[1].source" {
			t.Errorf("the path is %q", e.Path)
		}
		if now, _ := s.Head(); now != head {
			t.Errorf("%d events of a refused append are in the log", now-head)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	check(s)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleControl, returned(t, run, task, "stood in")))
}

func TestADuplicateSaysTheSameInEveryField(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	run, task := newID(), newID()
	d := draft(t, choir.TaskProgressed{Kind: "progress", Text: "one"}, run, task).CausedBy(run)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, d))
	spaced := d
	spaced.Payload = []byte(`{ "text" : "one", "kind" : "progress" }`)
	changes := map[string]func(*choir.Draft){
		"run":     func(d *choir.Draft) { d.Run = newID() },
		"task":    func(d *choir.Draft) { d.Task = newID() },
		"cause":   func(d *choir.Draft) { d.Cause = "" },
		"payload": func(d *choir.Draft) { d.Payload = []byte(`{"kind":"progress","text":"two"}`) },
		"blob":    func(d *choir.Draft) { d.Blob = choir.DigestOf(nil) },
		"type": func(d *choir.Draft) {
			d.Type, d.Payload = "tool.returned", []byte(`{"call":"`+string(run)+`","duration_ms":0,"ok":true}`)
		},
	}
	for range 2 {
		if r := must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, spaced))[0]; !r.Duplicate || r.Seq != 1 {
			t.Errorf("the same in other white space: %+v", r)
		}
		for field, change := range changes {
			other := d
			change(&other)
			_, err := s.Append(ctx, choir.RoleAssociate, other)
			wantCode(t, err, choir.CodeConflict)
			if e := new(choir.Error); !errors.As(err, &e) || e.Path != field || e.Remedy == "" {
				t.Errorf("another %s: %v", field, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir)
	}
	other := draft(t, choir.TaskProgressed{Kind: "progress", Text: "x"}, run, task)
	twin := draft(t, choir.TaskProgressed{Kind: "progress", Text: "y"}, run, task)
	twin.ID = other.ID
	_, err := s.Append(ctx, choir.RoleAssociate, other, twin)
	wantCode(t, err, choir.CodeConflict)
	if seq, _ := s.Head(); seq != 1 {
		t.Errorf("head is %d", seq)
	}
}

func TestATaskReturnsOnceWhoeverSaysIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	run, task := dispatched(t, s)
	var first choir.Receipt
	var won atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		role := choir.RoleAssociate
		if i%2 == 0 {
			role = choir.RoleControl
		}
		d := returned(t, run, task, "one of many")
		wg.Go(func() {
			r, err := s.Append(ctx, role, d)
			if err == nil {
				won.Add(1)
				first = r[0]
				return
			}
			if choir.CodeOf(err) != choir.CodeConflict || choir.FirstOf(err) == nil {
				t.Errorf("refused as %v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d results of one task", won.Load())
	}
	check := func(s *Store) {
		t.Helper()
		_, err := s.Append(ctx, choir.RoleControl, returned(t, run, task, "once more"))
		wantCode(t, err, choir.CodeConflict)
		if at := choir.FirstOf(err); at == nil || at.Receipt() != first {
			t.Errorf("%v names %+v, the first is %+v", err, at, first)
		}
		e, err := s.First(ctx, "task.returned", string(task))
		if err != nil || e.Seq != first.Seq {
			t.Errorf("First found event %d, %v", e.Seq, err)
		}
	}
	check(s)
	if err := s.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	check(s)
}

func TestWhatAnswersNothingIsRefused(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run, task := newID(), newID()
	_, err := s.Append(ctx, choir.RoleAssociate, returned(t, run, task, "too early"))
	wantCode(t, err, choir.CodeNotFound)
	_, err = s.Append(ctx, choir.RoleDirector, draft(t, choir.RunFinished{Outcome: choir.OutcomeDone}, run, ""))
	wantCode(t, err, choir.CodeNotFound)
	_, err = s.Append(ctx, choir.RoleDesktop, draft(t, choir.QuestionAnswered{Question: "q1", Text: "x"}, run, ""))
	wantCode(t, err, choir.CodeNotFound)
	// A result for another run would leave the task's own run waiting for ever.
	run, task = dispatched(t, s)
	other := add(t, s, newID(), "", choir.PromptSubmitted{Text: "x"})
	e := must[choir.Event](t)(s.Event(ctx, other.ID))
	_, err = s.Append(ctx, choir.RoleAssociate, returned(t, e.Run, task, "of another run"))
	wantCode(t, err, choir.CodeNotFound)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, returned(t, run, task, "in time")))
}

// TestALogFromBeforeTheTableOfFirstsKeepsItsRules: what is there already counts,
// though the copy was written by a choir without the table.
func TestALogFromBeforeTheTableOfFirstsKeepsItsRules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	run, task := dispatched(t, s)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, returned(t, run, task, "first")))
	open1, task1 := dispatched(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, stamp := range []string{"PRAGMA application_id = 0", "PRAGMA application_id = 7"} {
		sqlIn(t, dir, "DROP TABLE firsts")
		sqlIn(t, dir, "DROP TABLE undos") // which came later
		sqlIn(t, dir, "PRAGMA user_version = 6")
		sqlIn(t, dir, stamp)
		s = open(t, dir)
		_, err := s.Append(ctx, choir.RoleControl, returned(t, run, task, "second"))
		wantCode(t, err, choir.CodeConflict)
		if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
			t.Errorf("%+v %v", report, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleControl, returned(t, open1, task1, "of a task that was open")))
}

// holdCopy keeps transactions from the SQLite copy, as if one took for ever, until
// release is called.
func holdCopy(s *Store) (release func()) {
	held, released := make(chan struct{}), make(chan struct{})
	go func() { // whose lock it is: the caller's come before it
		s.applier.connMu.Lock()
		defer s.applier.connMu.Unlock()
		close(held)
		<-released
	}()
	<-held
	return sync.OnceFunc(func() { close(released) })
}

// What a task's dispatch, its delivery and whoever waits for its answer ask of the log
// is there as soon as it is durable, however long the SQLite copy takes.
func TestTheAnswerToATaskNeedsNoCopy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, dir)
	release := holdCopy(s)
	defer release()
	run, task := dispatched(t, s)
	if _, err := s.First(ctx, "task.dispatched", string(task)); err != nil {
		t.Error(err)
	}
	_, err := s.Result(ctx, task)
	wantCode(t, err, choir.CodeNotFound)
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, returned(t, run, task, "done")))
	if got, err := s.Result(ctx, task); err != nil || got.Summary != "done" {
		t.Errorf("%v, %v", got, err)
	}
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir) // which remembers nothing
	if got, err := s.Result(ctx, task); err != nil || got.Summary != "done" {
		t.Errorf("after a start: %v, %v", got, err)
	}
}

func TestTheCopyCatchesUpBeforeItsMoment(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.CatchUp() // of nothing: the next event waits for others all the same
	s.applier.mu.Lock()
	if s.applier.ripe {
		t.Error("an empty queue is ripe")
	}
	s.applier.mu.Unlock()
	defer holdCopy(s)()
	dispatched(t, s)
	s.CatchUp()
	s.applier.mu.Lock()
	if !s.applier.due() {
		t.Error("no transaction is due")
	}
	s.applier.mu.Unlock()
}

// TestAnAnswerDoesNotWaitForTheCopy answers an event that the newest events in
// memory no longer have, while the SQLite copy stands still.
func TestAnAnswerDoesNotWaitForTheCopy(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	run, task := dispatched(t, s)
	first, _ := s.Head()
	for text := strings.Repeat("x", 4000); ; {
		if _, there := s.tail.at(first); !there {
			break
		}
		must[[]choir.Receipt](t)(s.Append(t.Context(), choir.RoleAssociate, draft(t, choir.TaskProgressed{Kind: "progress", Text: text}, run, task)))
	}
	defer holdCopy(s)()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	must[[]choir.Receipt](t)(s.Append(ctx, choir.RoleAssociate, returned(t, run, task, "done")))
}
