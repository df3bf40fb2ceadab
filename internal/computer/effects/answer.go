package effects

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// Waiting is a result that waits for the owner. What its task and result say is of guests and
// models: untrusted.
type Waiting struct {
	Task eventstore.Task
	At   choir.Time // when it was held
	Held choir.EffectHeld
}

// List returns the results that wait, the oldest first.
func (e *Effects) List(ctx context.Context) ([]Waiting, error) {
	open, err := e.log.OpenTasks(ctx)
	if err != nil {
		return nil, err
	}
	var out []Waiting
	for _, t := range open {
		if !t.Waits() {
			continue
		}
		w, err := e.read(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Waiting) int { return int(a.Task.HeldSeq) - int(b.Task.HeldSeq) })
	return out, nil
}

// Count returns how many results wait.
func (e *Effects) Count(ctx context.Context) (int, error) {
	open, err := e.log.OpenTasks(ctx)
	return len(slices.DeleteFunc(open, func(t eventstore.Task) bool { return !t.Waits() })), err
}

// Find returns the result of a task that waits. Code not_found: it does not.
func (e *Effects) Find(ctx context.Context, id choir.ID) (Waiting, error) {
	t, err := e.log.Task(ctx, id)
	if choir.CodeOf(err) == choir.CodeNotFound || err == nil && t.HeldSeq == 0 {
		return Waiting{}, choir.Refuse("computer.effect", choir.ReasonEffectNone, choir.TextOf("id", id))
	}
	if err != nil {
		return Waiting{}, err
	}
	return e.read(ctx, t)
}

// read returns the result of a task that was held.
func (e *Effects) read(ctx context.Context, t eventstore.Task) (Waiting, error) {
	ev, err := e.log.First(ctx, choir.TypeEffectHeld, string(t.ID))
	if err != nil {
		return Waiting{}, err
	}
	p, err := choir.ReadPayload(ev.Type, ev.Payload)
	if err != nil {
		return Waiting{}, err
	}
	return Waiting{Task: t, At: ev.Time, Held: *p.(*choir.EffectHeld)}, nil
}

// Diff returns what a result that waits would change, as text; cut reports that there is more.
// Of .git folders it has what makes git run programs, such as hooks and settings; inGit is the
// number of the other paths in them.
func (e *Effects) Diff(ctx context.Context, w Waiting) (files []moments.FileDiff, inGit int, cut bool, err error) {
	changes, err := snapshot.Diff(ctx, e.keeper, w.Held.Base, w.Held.Snapshot)
	if err != nil {
		return nil, 0, false, err
	}
	// A rename between the two kinds would hide one of its sides.
	changes = slices.DeleteFunc(snapshot.Apart(changes), func(ch snapshot.Change) bool { return !workspace.IsOfFile(&ch) })
	all := len(changes)
	changes = slices.DeleteFunc(changes, func(ch snapshot.Change) bool { return workspace.IsKeptByGit(ch.Path) })
	inGit = all - len(changes)
	files, cut, err = moments.TextDiffOf(ctx, e.keeper, snapshot.PairRenames(changes), workspace.IsOfFile)
	return files, inGit, cut, err
}

// Approve lands the result of a task that waits in the workspace: exactly what the task left, and
// nothing runs again. A second approval changes nothing. Code not_found: nothing
// waits; conflict: it was answered otherwise, its run was stopped or has ended, a task works, or
// the workspace moved on at one of its paths.
func (e *Effects) Approve(ctx context.Context, role choir.Role, id choir.ID) error {
	return e.answer(ctx, id, choir.EffectApprove, func(w Waiting) error {
		if err := e.mustNotBeStopped(ctx, w); err != nil {
			return err
		}
		done, err := e.merger.ApplyHeld(ctx, role, e.step(ctx, w), false)
		if err != nil || done.Receipt.Seq > 0 {
			return err
		}
		// It is all there already.
		return e.append(ctx, role, w, choir.EffectAnswered{Answer: choir.EffectApprove, Before: done.From, Snapshot: done.From})
	})
}

// step returns the step that lands a result.
func (e *Effects) step(ctx context.Context, w Waiting) treemerge.Step {
	return treemerge.Step{
		Base: w.Held.Base, Theirs: w.Held.Snapshot, Run: w.Task.Run, Task: w.Task.ID, Reason: "approved", Exact: true,
		Terminal: choir.TerminalTaken, Words: "An approved result came into the workspace; this terminal has ended.",
		Check: func(now snapshot.Result) error { return e.mustNotHaveMoved(ctx, w, now) },
		Record: func(before, now choir.Digest, files int64) choir.Payload {
			return choir.EffectAnswered{Answer: choir.EffectApprove, Before: before, Snapshot: now, Files: files}
		},
	}
}

// mustNotBeStopped returns code conflict if the run of a result was stopped or has ended since its
// task was dispatched. The task gets the result of a stopped one a moment later.
func (e *Effects) mustNotBeStopped(ctx context.Context, w Waiting) error {
	dispatched, err := e.log.First(ctx, choir.TypeTaskDispatched, string(w.Task.ID))
	if err != nil {
		return err
	}
	for ev, err := range e.log.EventsOfRun(ctx, w.Task.Run, dispatched.Seq) {
		if err != nil {
			return err
		}
		if ev.Type == choir.TypeRunCancelRequested || ev.Type == choir.TypeRunFinished {
			return choir.Refuse("computer.effect", choir.ReasonRunEnded, choir.TextOf("run", w.Task.Run))
		}
	}
	return nil
}

// mustNotHaveMoved returns code conflict if the tree now has other changes since the base of a
// result than its own: at a path that the result changes, above it, or below a path that it removes.
// A path beyond the limits of a snapshot, such as a large file, counts as a change: the step would
// leave it as it is.
func (e *Effects) mustNotHaveMoved(ctx context.Context, w Waiting, now snapshot.Result) error {
	wanted, err := e.changedPaths(ctx, w.Held.Base, w.Held.Snapshot)
	if err != nil {
		return err
	}
	since, err := e.changedPaths(ctx, w.Held.Base, now.Root)
	if err != nil {
		return err
	}
	left, err := e.changedPaths(ctx, w.Held.Snapshot, now.Root)
	if err != nil {
		return err
	}
	var both []string
	for _, o := range now.Over {
		if concerns(wanted, o.Path, false) {
			both = append(both, o.Path)
		}
	}
	for p, isFolder := range since {
		if _, other := left[p]; other && concerns(wanted, p, isFolder) {
			both = append(both, p)
		}
	}
	if len(both) == 0 {
		return nil
	}
	slices.Sort(both)
	return e.moved(w, slices.Compact(both))
}

// concerns reports whether a change at p is at a path of a result, above it, unless p is a folder,
// or below a path that is no folder in the result. wanted has the paths of the result, and which of
// them are folders there.
func concerns(wanted map[string]bool, p string, isFolder bool) bool {
	if _, same := wanted[p]; same {
		return true
	}
	for above := workspace.Parent(p); above != ""; above = workspace.Parent(above) {
		if folder, found := wanted[above]; found && !folder {
			return true
		}
	}
	for path := range wanted {
		if !isFolder && workspace.Below(path, []string{p}) {
			return true
		}
	}
	return false
}

// changedPaths returns the paths at which two trees differ in more than times, and which of them
// are folders in the tree b.
func (e *Effects) changedPaths(ctx context.Context, a, b choir.Digest) (map[string]bool, error) {
	changes, err := snapshot.Diff(ctx, e.keeper, a, b)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, ch := range snapshot.Apart(changes) {
		if ch.Path != "" && !ch.TimeOnly() {
			paths[ch.Path] = workspace.IsFolder(ch.After)
		}
	}
	return paths, nil
}

// maxNamed is the largest number of paths that a refusal names.
const maxNamed = 3

func (e *Effects) moved(w Waiting, paths []string) error {
	named := strings.Join(paths[:min(len(paths), maxNamed)], ", ")
	if len(paths) > maxNamed {
		named += ", ..."
	}
	return choir.Refuse("computer.effect", choir.ReasonEffectMoved, choir.TextOf("paths", named), choir.TextOf("id", w.Task.ID))
}

// Refuse answers a result that waits with no: nothing of it is in the workspace, and the task fails
// with reason, which may be empty. Errors are those of Approve.
func (e *Effects) Refuse(ctx context.Context, role choir.Role, id choir.ID, reason string) error {
	return e.answer(ctx, id, choir.EffectRefuse, func(w Waiting) error {
		return e.append(ctx, role, w, choir.EffectAnswered{Answer: choir.EffectRefuse, Reason: reason})
	})
}

// Again lets another task do what a task did whose result waits, on the workspace as it is now,
// and returns its id. Its result becomes that of the first. Errors are those of Approve.
func (e *Effects) Again(ctx context.Context, role choir.Role, id choir.ID) (choir.ID, error) {
	again := choir.DeriveID(id, "again")
	return again, e.answer(ctx, id, choir.EffectAgain, func(w Waiting) error {
		if err := e.mustNotBeStopped(ctx, w); err != nil {
			return err
		}
		task := w.Task.Task
		task.TaskID, task.BaseRef, task.FromAttempt = again, "", ""
		dispatched, err := choir.NewDraft(choir.DeriveID(again, "dispatched"), choir.TaskDispatched{Task: task, Step: w.Task.Step})
		if err != nil {
			return err
		}
		answered, err := e.events.Draft(choir.EffectAnswered{Answer: choir.EffectAgain, Again: again})
		if err == nil {
			_, err = e.events.AppendAs(ctx, role, answered.ForRun(w.Task.Run, w.Task.ID), dispatched.ForRun(w.Task.Run, again))
		}
		return err
	})
}

// answeredBefore has the reason of a refusal for each answer that a result had before.
var answeredBefore = map[choir.EffectAnswer]choir.Reason{
	choir.EffectApprove: choir.ReasonEffectApproved,
	choir.EffectRefuse:  choir.ReasonEffectRefused,
	choir.EffectAgain:   choir.ReasonEffectAgain,
}

// answer calls do with the result of a task that waits, and holds the tree's lock meanwhile, so that
// each result has one answer. It returns nil for a result that has the same answer already.
func (e *Effects) answer(ctx context.Context, id choir.ID, answer choir.EffectAnswer, do func(Waiting) error) error {
	unlock, err := e.workspace.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	w, err := e.Find(ctx, id)
	if err != nil {
		return err
	}
	given, err := e.answerTo(ctx, id)
	switch {
	case err != nil:
		return err
	case given == answer:
		return nil
	case given != "":
		return choir.Refuse("computer.effect", answeredBefore[given])
	}
	if _, err := e.log.First(ctx, choir.TypeTaskReturned, string(id)); choir.CodeOf(err) != choir.CodeNotFound {
		if err == nil {
			err = choir.Refuse("computer.effect", choir.ReasonEffectNone, choir.TextOf("id", id))
		}
		return err // it was stopped
	}
	if unfinished, err := e.workspace.UnfinishedIntent(); err != nil || unfinished {
		if err == nil {
			err = choir.Refuse("computer.effect", choir.ReasonComputerNotStarted)
		}
		return err // which may be the answer to this
	}
	return do(w)
}

// answerTo returns the owner's answer to the result of a task; "" for none yet.
func (e *Effects) answerTo(ctx context.Context, id choir.ID) (choir.EffectAnswer, error) {
	p, _, err := e.answered(ctx, id)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return p.Answer, err
}

// answered returns the owner's answer to the result of a task, and the event's id. Code not_found:
// there is none.
func (e *Effects) answered(ctx context.Context, id choir.ID) (choir.EffectAnswered, choir.ID, error) {
	ev, err := e.log.First(ctx, choir.TypeEffectAnswered, string(id))
	if err != nil {
		return choir.EffectAnswered{}, "", err
	}
	p, err := choir.ReadPayload(ev.Type, ev.Payload)
	if err != nil {
		return choir.EffectAnswered{}, "", err
	}
	return *p.(*choir.EffectAnswered), ev.ID, nil
}

// append appends the answer to a result.
func (e *Effects) append(ctx context.Context, role choir.Role, w Waiting, p choir.EffectAnswered) error {
	d, err := e.events.Draft(p)
	if err == nil {
		_, err = e.events.AppendAs(ctx, role, d.ForRun(w.Task.Run, w.Task.ID))
	}
	return err
}
