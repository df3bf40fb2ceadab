package choirtest

import (
	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// Entry is one draft of a history and the role that appends it.
type Entry struct {
	Role  choir.Role
	Draft choir.Draft
}

// History generates a plausible history of a computer, as drafts in the order of their
// append: it is created and started, then minRuns to maxRuns interleaved runs go from
// prompt to outcome with tasks, tool calls, model calls, files, checkpoints and
// documents. Ids that refer to each other match; everything else is random. A run may be
// left unfinished.
func History(minRuns, maxRuns int) *rapid.Generator[[]Entry] {
	return rapid.Custom(func(t *rapid.T) []Entry {
		h := &history{t: t}
		h.add(choir.RoleControl, &choir.ComputerCreated{Name: "c", Format: 1})
		h.add(choir.RoleControl, draw[choir.SessionStarted](t))
		runs := make([][]Entry, rapid.IntRange(minRuns, maxRuns).Draw(t, "runs"))
		for i := range runs {
			r := &history{t: t, run: ID().Draw(t, "run")}
			r.live()
			runs[i] = r.entries
		}
		return append(h.entries, interleave(t, runs)...)
	})
}

// interleave merges the runs' entries into one list in random order, keeping the order
// within each run.
func interleave(t *rapid.T, runs [][]Entry) (out []Entry) {
	for {
		var open []int
		for i := range runs {
			if len(runs[i]) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return out
		}
		i := rapid.SampledFrom(open).Draw(t, "next run")
		out, runs[i] = append(out, runs[i][0]), runs[i][1:]
	}
}

// history collects the entries of the computer itself, or of one run.
type history struct {
	t       *rapid.T
	run     choir.ID
	task    choir.ID
	entries []Entry
}

func draw[T any](t *rapid.T) *T {
	v := Value[T]().Draw(t, "payload")
	return &v
}

func (h *history) add(role choir.Role, p choir.Payload) {
	d, err := choir.NewDraft(ID().Draw(h.t, "id"), p)
	if err != nil {
		h.t.Fatal(err)
	}
	h.entries = append(h.entries, Entry{role, d.ForRun(h.run, h.task)})
}

func (h *history) chance(what string) bool { return rapid.Bool().Draw(h.t, what) }

// live adds the entries of one run. The run may still be open at the end.
func (h *history) live() {
	person := rapid.SampledFrom([]choir.Role{choir.RoleShell, choir.RoleDesktop, choir.RoleCLI}).Draw(h.t, "person")
	prompt := draw[choir.PromptSubmitted](h.t)
	h.add(person, prompt)
	if h.chance("greeting") {
		h.add(choir.RoleDirector, draw[choir.ToastShown](h.t))
		h.add(choir.RoleDirector, draw[choir.RunFinished](h.t))
		return
	}
	doc := &choir.DocumentCreated{Document: ID().Draw(h.t, "document"), Title: "t", Content: prompt.Text}
	h.add(choir.RoleDirector, doc)
	h.modelCall("director")
	h.add(choir.RoleDirector, draw[choir.PlanMade](h.t))
	for version := range rapid.IntRange(0, 3).Draw(h.t, "tasks") {
		h.work()
		h.add(choir.RoleDirector, &choir.DocumentVersioned{Document: doc.Document, Version: version + 1, Content: "v", Note: "n"})
		h.read(person, doc.Document, version)
	}
	if h.chance("question") {
		asked := draw[choir.QuestionAsked](h.t)
		h.add(choir.RoleDirector, asked)
		if h.chance("answer") {
			h.add(person, &choir.QuestionAnswered{Question: asked.Question.ID, Text: "yes"})
		}
	}
	if h.chance("pause") {
		h.add(choir.RoleShell, draw[choir.RunPaused](h.t))
		if h.chance("resume") {
			h.add(choir.RoleCLI, draw[choir.RunResumed](h.t))
		}
	}
	if h.chance("cancel") {
		h.add(person, draw[choir.RunCancelRequested](h.t))
	}
	if h.chance("finish") {
		h.add(choir.RoleDirector, draw[choir.RunFinished](h.t))
	}
}

// read adds a person's events about a document: an edit, a settled comment, a new title,
// a removal; each by chance.
func (h *history) read(person choir.Role, doc choir.ID, version int) {
	if h.chance("edits") {
		h.add(person, &choir.DocumentVersioned{Document: doc, Version: version + 1, Content: "mine"})
	}
	if h.chance("comments") {
		over := &choir.OverlayAdded{Overlay: ID().Draw(h.t, "overlay"), Document: doc, Version: version, Kind: choir.OverlayComment, Text: "why?"}
		h.add(person, over)
		settled := draw[choir.OverlaySettled](h.t)
		settled.Overlay, settled.Document = over.Overlay, doc
		h.add(person, settled)
	}
	if h.chance("renames") {
		h.add(person, &choir.DocumentRenamed{Document: doc, Title: "renamed"})
	}
	if h.chance("removes") {
		h.add(person, &choir.DocumentRemoved{Document: doc})
	}
}

// work adds the entries of one task, which may be left without a result.
func (h *history) work() {
	task := draw[choir.TaskDispatched](h.t)
	task.Task.TaskID, task.Task.RunID = ID().Draw(h.t, "task"), h.run
	h.task = task.Task.TaskID
	defer func() { h.task = "" }()
	h.add(choir.RoleDirector, task)
	if !h.chance("starts") {
		return
	}
	for attempt := range rapid.IntRange(1, 2).Draw(h.t, "attempts") {
		h.add(choir.RoleControl, &choir.TaskStarted{Base: Digest().Draw(h.t, "base"), Attempt: attempt + 1})
	}
	for range rapid.IntRange(0, 3).Draw(h.t, "calls") {
		h.modelCall("associate")
		h.toolCall()
	}
	if h.chance("writes") {
		h.add(choir.RoleControl, draw[choir.SnapshotTaken](h.t))
		h.add(choir.RoleControl, draw[choir.FileWritten](h.t))
		h.add(choir.RoleControl, draw[choir.FileRemoved](h.t))
		h.add(choir.RoleAssociate, draw[choir.CheckpointCreated](h.t))
	}
	if !h.chance("returns") {
		return
	}
	result := draw[choir.TaskReturned](h.t)
	result.Result.TaskID, result.Result.RunID = h.task, h.run
	h.add(choir.RoleAssociate, result)
	judged := draw[choir.TaskJudged](h.t)
	judged.Task = h.task
	h.add(choir.RoleDirector, judged)
}

func (h *history) modelCall(caller string) {
	called := draw[choir.ModelCalled](h.t)
	called.Caller = caller
	h.add(choir.RoleControl, called)
	if h.chance("model returns") {
		returned := draw[choir.ModelReturned](h.t)
		returned.Call, returned.Caller = called.Call, caller
		h.add(choir.RoleControl, returned)
	}
}

func (h *history) toolCall() {
	called := draw[choir.ToolCalled](h.t)
	h.add(choir.RoleAssociate, called)
	if h.chance("tool returns") {
		returned := draw[choir.ToolReturned](h.t)
		returned.Call = called.Call
		h.add(choir.RoleAssociate, returned)
	}
}
