package taskrunner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"choiros/internal/associate/git"
	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// run makes the result. The error is errAnswered, or something for which the
// task must be delivered again.
func (j *job) run(work context.Context) (choir.AssociateResult, error) {
	j.result = choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: j.event.Task, RunID: j.event.Run, Status: choir.StatusOK,
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown, Log: "nothing was verified"},
	}
	if f := j.read(); f != nil {
		return j.failedResult(f), nil
	}
	begun, err := j.startTask()
	if choir.CodeOf(err) == choir.CodeConflict {
		return j.result, errAnswered
	}
	if f := noBase(err); f != nil {
		return j.failedResult(f), nil
	}
	if err != nil {
		return j.result, err
	}
	j.base, j.begun = begun.Base, begun.Attempt
	if j.procs, err = j.processes(); err != nil {
		return j.result, err
	}
	// A former task may have cleared it away.
	if err := os.MkdirAll(j.cfg.Scratch, 0o700); err != nil {
		return j.result, choir.Wrap("task.run", choir.CodeNoSpace, err, "make the scratch folder")
	}
	j.git = &git.Git{Tree: j.procs, Env: j.cfg.Env, Temp: j.cfg.Scratch}
	work, cancel := context.WithTimeoutCause(work, time.Duration(j.budget())*time.Second, errBudget)
	defer cancel()
	err = j.resume(begun)
	if err == nil {
		// A task that was stopped while it waited still has to take back what an
		// earlier attempt left.
		err = work.Err()
	}
	if err == nil {
		err = j.guard(work)
	}
	if err == nil {
		err = j.execute(work)
	}
	return j.conclude(work, err)
}

// noBase is the failure of a task that cannot begin, because the workspace cannot
// be taken as its base however often that is tried; else nil.
func noBase(err error) *failure {
	switch choir.CodeOf(err) {
	case choir.CodeTooLarge, choir.CodeForbidden:
		return fail(choir.ResultLimit, "the task could not begin, because the workspace cannot be recorded: %v", err)
	case choir.CodeNoSpace:
		return fail(choir.ResultDiskFull, "the task could not begin, because the workspace cannot be recorded: %v", err)
	}
	return nil
}

// startTask starts the task. For a checkpoint it asks at once what changed since
// everything was last committed.
func (j *job) startTask() (choir.TaskBeginReply, error) {
	var since choir.Digest
	if j.task.GitAction == choir.GitCheckpoint {
		since = j.known.snapshot
	}
	begun, err := j.cfg.Tree.BeginTask(j.life, j.event.Task, since)
	if err == nil && begun.Compared {
		j.since, err = rawPaths(begun.Changed)
		j.told = err == nil
	}
	return begun, err
}

func rawPaths(escaped []string) ([]string, error) {
	raw := make([]string, 0, len(escaped))
	for _, p := range escaped {
		b, err := snapshot.UnescapePath(p)
		if err != nil {
			return nil, err
		}
		raw = append(raw, string(b))
	}
	return raw, nil
}

// read decodes the task. The log has checked it already, so a refusal means a
// newer or a damaged sender.
func (j *job) read() *failure {
	var p choir.TaskDispatched
	err := choir.DecodeDurable(j.event.Payload, &p)
	if err == nil && p.Task.TaskID != j.event.Task {
		err = choir.Invalid("task.task_id", "is %s, but the event is about %s", p.Task.TaskID, j.event.Task)
	}
	if err == nil && p.Task.RunID != j.event.Run {
		err = choir.Invalid("task.run_id", "is %s, but the event is about %s", p.Task.RunID, j.event.Run)
	}
	if err != nil {
		return fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	j.task = p.Task
	j.root = j.cfg.Workspace
	if j.task.Repo != "" {
		j.root = filepath.Join(j.cfg.Workspace, "workspace", j.task.Repo)
	}
	return nil
}

func (j *job) budget() int {
	if j.task.TimeBudgetS == 0 {
		return choir.DefaultTimeBudgetS
	}
	return j.task.TimeBudgetS
}

// resume decides about a task that was taken up before and did not end. Where
// no tool ran, nothing but the workspace can have changed: it is put back and
// the task runs again. Where one did, it is said rather than repeated.
func (j *job) resume(begun choir.TaskBeginReply) error {
	if !begun.Resumed {
		return nil
	}
	// Whatever the former process left must not write any more.
	if _, err := j.procs.Clear(); err != nil {
		return err
	}
	made, err := j.formerCalls()
	if err != nil {
		return err
	}
	if made == 0 && len(begun.UnfinishedCalls) == 0 {
		if begun.Attempt > maxResumed {
			return fail(choir.ResultCrashed, "the Associate ended %d times in the middle of this task; it is not begun again", begun.Attempt-1)
		}
		_, err := j.cfg.Tree.Rollback(j.life, j.event.Task, nil)
		return err
	}
	f := fail(choir.ResultCrashed, "the Associate ended in the middle of this task, after %d tool calls; it was not repeated", made)
	if n := len(begun.UnfinishedCalls); n > 0 {
		ids := make([]string, n)
		for i, id := range begun.UnfinishedCalls {
			ids[i] = string(id)
		}
		f.summary += ", because the outcome of these calls is unknown: " + strings.Join(ids, ", ")
	}
	return f
}

// maxResumed is how often a task is begun whose Associate ends in the middle of it:
// a task that ends it every time would keep every other from its turn.
const maxResumed = 5

// formerCalls counts the tool calls that an earlier attempt recorded.
func (j *job) formerCalls() (int, error) {
	n := 0
	for e, err := range j.cfg.Log.Events(j.life, j.event.Seq+1, 0) {
		if err != nil {
			return n, err
		}
		if e.Task == j.event.Task && e.Type == choir.TypeToolCalled {
			n++
		}
	}
	return n, nil
}

// guard refuses a task whose conditions do not hold.
func (j *job) guard(ctx context.Context) error {
	if info, err := os.Stat(j.root); err != nil || !info.IsDir() {
		return fail(choir.ResultInvalidTask, "the task was refused: repo: there is no project %q in the workspace", j.task.Repo)
	}
	// The computer's policy is none, so anything asked for explicitly is wider.
	if p := j.task.EgressProfile; p != nil && p.Mode != choir.EgressNone {
		return fail(choir.ResultEgressRefused, "the task wants the egress profile %s, and the computer's policy is none: nothing outside can be reached", p.Mode)
	}
	return j.guardBase(ctx)
}

// guardBase compares the state the task expects with the one there is.
func (j *job) guardBase(ctx context.Context) error {
	want := j.task.BaseRef
	switch {
	case want == "":
		return nil
	case choir.Digest(want).Valid():
		if choir.Digest(want) != j.base {
			return fail(choir.ResultStaleBase, "the task expects snapshot %s, and the workspace is %s", want, j.base)
		}
		return nil
	}
	expected, err := j.git.Resolve(ctx, j.root, want)
	if err != nil {
		return fail(choir.ResultStaleBase, "the task expects %s, which is no commit here", want)
	}
	if head, err := j.git.Resolve(ctx, j.root, "HEAD"); err != nil || head != expected {
		return fail(choir.ResultStaleBase, "the task expects %s (%s), and HEAD is %s", want, expected, head)
	}
	return nil
}

// execute does what the task asks for.
func (j *job) execute(ctx context.Context) error {
	switch {
	case j.task.Kind == choir.TaskGit:
		return j.gitAction(ctx)
	case len(j.task.Commands) > 0:
		return j.runCommands(ctx)
	}
	return j.runAgent(ctx)
}

// conclude ends every process of the task, and then keeps or takes back what
// it did.
func (j *job) conclude(work context.Context, err error) (choir.AssociateResult, error) {
	used, clearErr := j.procs.Clear()
	j.used(used)
	f := j.failed(work, err)
	switch {
	case err != nil && f == nil:
		return j.result, err
	case clearErr != nil && f == nil:
		f = fail(choir.ResultCrashed, "%v", clearErr)
	}
	if f == nil {
		if err = j.keepChange(work); err != nil {
			if f = j.failed(work, err); f == nil {
				return j.result, err
			}
		}
	}
	if f != nil {
		return j.takeBack(f)
	}
	return j.finished(), nil
}

func (j *job) used(u proctree.Usage) {
	j.result.Usage.CPUMS += u.CPU.Milliseconds()
	j.result.Usage.MaxRSSBytes = max(j.result.Usage.MaxRSSBytes, u.MaxRSS)
}

// finished fills in what every result carries.
func (j *job) finished() choir.AssociateResult {
	j.result.Usage.WallMS = max(0, int64(j.cfg.Now()-j.started))
	return j.result
}

// failedResult is the result of a task of which nothing is kept.
func (j *job) failedResult(f *failure) choir.AssociateResult {
	j.result.Status, j.result.Code, j.result.Summary = choir.StatusFailed, f.code, f.summary
	j.result.SuggestedNext = suggest(f.code)
	return j.finished()
}
