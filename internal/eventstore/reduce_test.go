package eventstore

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

func TestARunGoesFromPromptToOutcome(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run := newID()
	question := choir.Question{ID: "q1", Text: "Which?"}
	steps := []struct {
		p    choir.Payload
		want RunState
	}{
		{choir.PromptSubmitted{Text: "do it", Repo: "demo"}, RunPlanning},
		{choir.SteeringSubmitted{Text: "gently"}, RunPlanning},
		{choir.PlanMade{Goal: "done", Steps: []choir.PlanStep{{ID: "1", Title: "t", Kind: "run", Instruction: "i", AcceptanceCriteria: []string{"c"}}}}, RunRunning},
		{choir.QuestionAsked{Question: question}, RunWaiting},
		{choir.QuestionAnswered{Question: "q1", Text: "this"}, RunRunning},
		{choir.ModelReturned{Call: newID(), Caller: "director", Provider: "p", Model: "m", InputTokens: 5, CostUSD: 0.5}, RunRunning},
		{choir.ModelReturned{Call: newID(), Caller: "director", Provider: "p", Model: "m", OutputTokens: 2, CostUSD: 0.25, Code: choir.CodeProvider}, RunRunning},
		{choir.RunFinished{Outcome: choir.OutcomeDone, Status: choir.AnsweredPartly, Answer: "there", Signature: "s"}, RunDone},
		{choir.RunDismissed{}, RunDone},
	}
	var last choir.Receipt
	for _, step := range steps {
		last = add(t, s, run, "", step.p)
		if got := must[Run](t)(s.Run(ctx, run)); got.State != step.want || got.LastSeq != last.Seq {
			t.Fatalf("after %s: %s at %d, wanted %s at %d", step.p.EventType(), got.State, got.LastSeq, step.want, last.Seq)
		}
		if open := must[[]Run](t)(s.OpenRuns(ctx)); (len(open) == 1) != step.want.Open() {
			t.Errorf("after %s: %d open runs", step.p.EventType(), len(open))
		}
	}
	got := must[Run](t)(s.Run(ctx, run))
	want := Run{
		ID: run, Prompt: "do it", Repo: "demo", Source: choir.SourceUser, Dismissed: true, State: RunDone, Status: choir.AnsweredPartly, Answer: "there", Signature: "s", FirstSeq: 1, LastSeq: last.Seq,
		StartedAt: got.StartedAt, FinishedAt: got.FinishedAt,
		Usage: Usage{Calls: 2, Failed: 1, InputTokens: 5, OutputTokens: 2, CostUSD: 0.75},
	}
	if diff := cmp.Diff(want, got); diff != "" || got.FinishedAt <= got.StartedAt {
		t.Error(diff)
	}
	var said []string
	for _, m := range must[[]Message](t)(s.Messages(ctx, run)) {
		said = append(said, string(m.From)+": "+m.Text)
	}
	if got := strings.Join(said, "; "); got != "user: do it; user: gently; director: Which?; user: this; director: there" {
		t.Error(got)
	}
	if c := must[[]Conversation](t)(s.Conversations(ctx, 10, 0)); len(c) != 1 || c[0].Title != "do it" {
		t.Errorf("conversations %+v", c)
	}
	add(t, s, "", "", choir.ModelReturned{Call: newID(), Caller: "tool", Provider: "p", Model: "m", CostUSD: 1})
	if u := must[Usage](t)(s.Usage(ctx, "")); u.Calls != 3 || u.CostUSD != 1.75 {
		t.Errorf("usage of the computer %+v", u)
	}
	_, err := s.Run(ctx, newID())
	wantCode(t, err, choir.CodeNotFound)
}

// TestAnUndoneRunSaysSoUntilTheUndoIsTakenBack: the mark follows the files through
// rewinds, also through a rewind of a rewind and after a rebuild.
func TestAnUndoneRunSaysSoUntilTheUndoIsTakenBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run, other := newID(), newID()
	add(t, s, run, "", choir.PromptSubmitted{Text: "do it"})
	add(t, s, other, "", choir.PromptSubmitted{Text: "do that"})
	done := add(t, s, run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "there"})
	undone := func(of choir.ID) choir.Receipt {
		return add(t, s, "", "", choir.TimelineUndone{Of: of, Snapshot: choir.DigestOf(nil), Before: choir.DigestOf(nil)})
	}
	rewound := func(to uint64) choir.Receipt {
		return add(t, s, "", "", choir.TimelineRewound{ToSeq: to, Snapshot: choir.DigestOf(nil), Before: choir.DigestOf(nil)})
	}
	says := func(when string, want uint64) {
		t.Helper()
		got := uint64(0)
		if u := must[Run](t)(s.Run(ctx, run)).Undone; u != nil {
			got = u.Seq
		}
		if got != want {
			t.Errorf("%s: undone by event %d, wanted %d", when, got, want)
		}
	}
	says("before", 0)
	first := undone(run)
	says("undone", first.Seq)
	back := rewound(done.Seq)
	says("the undo was rewound", 0)
	rewound(back.Seq - 1)
	says("that rewind was rewound", first.Seq)
	rewound(done.Seq)
	undone(newID()) // another action
	says("another action was undone", 0)
	second := undone(run)
	rewound(second.Seq)
	says("undone again", second.Seq)
	if err := s.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	says("rebuilt", second.Seq)
	if u := must[Run](t)(s.Run(ctx, other)).Undone; u != nil {
		t.Errorf("the other run is undone by %+v", u)
	}
}

func result(task, run choir.ID, summary string) choir.AssociateResult {
	return choir.AssociateResult{
		Version: 1, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: summary,
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}
}

func TestATaskKeepsItsFirstBaseAndItsFirstResult(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run, task := newID(), newID()
	a, b := choir.DigestOf([]byte("a")), choir.DigestOf([]byte("b"))
	dispatched := choir.TaskDispatched{Task: choir.DirectorTask{Version: 1, TaskID: task, RunID: run, Kind: choir.TaskRun, Instruction: "i"}, Step: "1"}
	add(t, s, run, task, dispatched)
	if got := must[[]Task](t)(s.OpenTasks(ctx)); len(got) != 1 || got[0].State != TaskDispatched {
		t.Errorf("open tasks %+v", got)
	}
	started := add(t, s, run, task, choir.TaskStarted{Base: a, Attempt: 1})
	add(t, s, run, task, choir.TaskStarted{Base: b, Attempt: 2})
	add(t, s, run, task, choir.TaskReturned{Result: result(task, run, "first")})
	_, err := s.Append(ctx, choir.RoleControl, draft(t, choir.TaskReturned{Result: result(task, run, "second")}, run, task))
	wantCode(t, err, choir.CodeConflict)
	_, err = s.Append(ctx, choir.RoleDirector, draft(t, dispatched, run, task))
	wantCode(t, err, choir.CodeConflict)
	add(t, s, run, task, choir.TaskJudged{Task: task, Step: "1", Verdict: choir.VerdictAccept, Reason: "r"})
	got := must[Task](t)(s.Task(ctx, task))
	if got.State != TaskReturned || got.Base != a || got.Attempt != 2 || got.Summary != "first" || got.Verdict != choir.VerdictAccept || got.Result.Summary != "first" {
		t.Errorf("task %+v", got)
	}
	if open := must[[]Task](t)(s.OpenTasks(ctx)); len(open) != 0 {
		t.Errorf("open tasks %+v", open)
	}
	snap, at, err := s.SnapshotAt(ctx, started.Seq)
	if err != nil || snap.Snapshot != a || at != started.Seq {
		t.Errorf("snapshot %+v at %d: %v", snap, at, err)
	}
	_, _, err = s.SnapshotAt(ctx, started.Seq-1)
	wantCode(t, err, choir.CodeNotFound)
}

func written(paths ...string) choir.FileWritten {
	out := choir.FileWritten{Snapshot: choir.DigestOf(nil)}
	for _, p := range paths {
		path, content, _ := strings.Cut(p, "=")
		out.Files = append(out.Files, choir.FileState{Path: path, Kind: "file", Mode: 0o644, Digest: choir.DigestOf([]byte(content))})
	}
	return out
}

func TestARewindPutsBackFilesAndDocumentsAndCanBeUndone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run, doc, late := newID(), newID(), newID()
	files := func(asOf uint64) string {
		t.Helper()
		var out []string
		for _, f := range must[[]choir.FileState](t)(s.Files(ctx, asOf, "", 0, "")) {
			out = append(out, f.Path+"="+string(f.Digest[:4]))
		}
		return strings.Join(out, " ")
	}
	docs := func(asOf uint64) string {
		t.Helper()
		var out []string
		for _, d := range must[[]Document](t)(s.Documents(ctx, asOf)) {
			full := must[Document](t)(s.Document(ctx, d.ID, d.Version))
			out = append(out, full.Content)
		}
		return strings.Join(out, " ")
	}
	add(t, s, "", "", written("keep=1", "change=1", "gone=1"))
	add(t, s, run, "", choir.DocumentCreated{Document: doc, Title: "d", Content: "v0"})
	then := add(t, s, run, "", choir.DocumentVersioned{Document: doc, Version: 1, Content: "v1"}).Seq
	filesThen, docsThen := files(0), docs(0)
	add(t, s, "", "", written("change=2", "new=1"))
	add(t, s, "", "", choir.FileRemoved{Paths: []string{"gone", "never"}, Snapshot: choir.DigestOf(nil)})
	add(t, s, run, "", choir.DocumentVersioned{Document: doc, Version: 2, Content: "v2"})
	before := add(t, s, run, "", choir.DocumentCreated{Document: late, Title: "late", Content: "l0"}).Seq
	filesBefore, docsBefore := files(0), docs(0)
	if filesBefore == filesThen || docsBefore != "v2 l0" {
		t.Fatalf("%s; %s", filesBefore, docsBefore)
	}

	d := choir.DigestOf([]byte("snapshot"))
	add(t, s, "", "", choir.TimelineRewound{ToSeq: then, Snapshot: d, Before: d})
	if files(0) != filesThen || docs(0) != docsThen || docsThen != "v1" {
		t.Errorf("rewound: %s; %s", files(0), docs(0))
	}
	if files(before) != filesBefore || docs(before) != docsBefore {
		t.Error("the rewind changed the past")
	}
	if got := must[Document](t)(s.Document(ctx, doc, -1)); got.Version != 3 || got.Content != "v1" {
		t.Errorf("the document now is %+v, wanted the old content as version 3", got)
	}
	_, err := s.Document(ctx, late, -1)
	wantCode(t, err, choir.CodeNotFound)

	add(t, s, "", "", choir.TimelineRewound{ToSeq: before, Snapshot: d, Before: d})
	if files(0) != filesBefore || docs(0) != docsBefore {
		t.Errorf("undone: %s; %s", files(0), docs(0))
	}
	// A writer that does not know of the rewinds asks for a number that is taken.
	add(t, s, run, "", choir.DocumentVersioned{Document: doc, Version: 3, Content: "next"})
	if got := must[[]Document](t)(s.DocumentVersions(ctx, doc)); len(got) != 6 || got[3].Content != "v1" || got[5].Content != "next" {
		t.Errorf("versions %+v", got)
	}
	if got := must[[]choir.FileState](t)(s.Files(ctx, 0, "c", 1, "")); len(got) != 1 || got[0].Path != "change" {
		t.Errorf("files below a prefix %+v", got)
	}
}

func TestListsArePaged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	run := newID()
	for range 5 {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: "p"})
		add(t, s, run, "", choir.SteeringSubmitted{Text: "s"})
		add(t, s, "", "", choir.CheckpointCreated{Checkpoint: newID(), Snapshot: choir.DigestOf(nil), Subject: "s", Trigger: "manual"})
	}
	seen := 0
	for before := uint64(0); ; seen++ {
		page := must[[]Run](t)(s.Runs(ctx, 1, before))
		if len(page) == 0 {
			break
		}
		before = page[0].FirstSeq
	}
	if seen != 5 {
		t.Errorf("%d runs in pages of one", seen)
	}
	c := must[[]Checkpoint](t)(s.Checkpoints(ctx, 2, 0))
	if len(c) != 2 || c[0].Seq < c[1].Seq {
		t.Errorf("checkpoints %+v", c)
	}
	if got := must[Checkpoint](t)(s.Checkpoint(ctx, c[1].ID)); got.Seq != c[1].Seq {
		t.Errorf("checkpoint %+v", got)
	}
	if e := must[[]choir.Event](t)(choir.Collect(s.EventsOfRun(ctx, run, 5), 2)); len(e) != 2 || e[0].Seq != 8 {
		t.Errorf("events of a run %+v", e)
	}
}
