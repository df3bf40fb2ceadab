package taskrunner

import (
	"context"
	"os"
	"strings"
	"time"

	"choiros/internal/agentloop"
	"choiros/internal/associate/command"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// job is one execution of one task. It decides what happens in which order; each of its parts
// does one thing.
type job struct {
	cfg   *Config
	life  context.Context // of the process; for work that the task's budget does not bound
	event choir.Event
	task  choir.DirectorTask

	rec      *record
	report   *report
	gate     gate // of its run's pauses
	place    *place
	compared *comparison // of the place with the task's base
	calls    *toolCalls
	commands *command.Commands
	programs *command.Programs
	checks   *verification
	landing  *landing
	commits  *checkpoints
	talk     *dialogue

	begun   int             // how often the task was begun, this time included
	clock   *clock          // of the task's times
	work    context.Context // ends with the task's budgets
	attempt *change         // the change of a failed task; nil until computed
}

// newJob returns an execution of the task of a task.dispatched event, with its parts.
func (r *Runner) newJob(life context.Context, dispatched choir.Event) *job {
	j := &job{cfg: &r.cfg, life: life, event: dispatched}
	j.rec = &record{life: life, event: dispatched, log: r.cfg.Log, blobs: r.cfg.Blobs, now: r.cfg.Now}
	j.gate = gate{&r.paused, dispatched.Run}
	j.report = newReport(j.rec)
	j.place = &place{scopes: r.scopes, workspace: r.cfg.Workspace, env: r.cfg.Env, life: life, task: dispatched.Task}
	j.compared = &comparison{life: life, task: dispatched.Task, tree: r.cfg.Tree, blobs: r.cfg.Blobs, place: j.place}
	j.landing = &landing{
		life: life, task: dispatched.Task, tree: r.cfg.Tree, gate: j.gate,
		rebase: func(base choir.Digest) { j.compared.base = base },
	}
	j.commits = &checkpoints{
		rec: j.rec, place: j.place, tree: r.cfg.Tree, shared: &r.committed, above: r.above, task: &j.task, land: j.landing.bringCommitted,
	}
	j.calls = &toolCalls{rec: j.rec, gate: j.gate}
	live := func(text string) { r.cfg.Live(dispatched.Run, text) }
	call := func() int { return j.calls.made }
	j.programs = command.NewPrograms(j.place, call)
	j.commands = command.New(command.Config{
		Life: life, Task: dispatched.Task, Place: j.place, Screen: r.cfg.Screen, Ends: &r.ends, Now: r.cfg.Now,
		Live: live, Wait: j.gate.waitUntilResumed, Call: call, Store: j.rec.storeBlob,
		Ran: func(run choir.CommandRun) { j.report.result.CommandsRun = append(j.report.result.CommandsRun, run) },
	})
	j.checks = &verification{
		rec: j.rec, place: j.place, calls: j.calls, commands: j.commands, programs: j.programs, compared: j.compared, memory: &r.checked,
		task: &j.task, byModel: func() bool { return j.talk.made > 0 }, outcome: unverified(),
	}
	j.talk = &dialogue{
		rec: j.rec, task: &j.task, place: j.place, gate: j.gate, calls: j.calls, commands: j.commands, programs: j.programs,
		models: r.cfg.Models, steering: r.cfg.Tree, maxSteps: r.cfg.MaxSteps, live: live, announced: j.checks.announced, review: j.review,
	}
	return j
}

// run executes the task in a scope of its own and makes its report. The error is
// errAnswered, or one after which the task has to be executed again.
func (j *job) run(work context.Context) error {
	if f := j.read(); f != nil {
		j.endFailed(f)
		return nil
	}
	// Its processes start while the control plane looks at the workspace.
	if err := j.place.open(); err != nil {
		return err
	}
	// A process that does not end was the task's failure already, see conclude.
	defer j.place.close()
	return j.runInScope(work)
}

// unverified returns the outcome of a verification that did not take place.
func unverified() choir.VerifyOutcome {
	return choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown, Log: "nothing was verified"}
}

// runInScope starts the task, executes it within its time budget, and commits its
// changes or rolls them back. It returns as run does; j.place.scope must be open.
func (j *job) runInScope(work context.Context) error {
	defer j.gate.pauses.watch(j.event.Run)()
	begun, err := j.startTask()
	if choir.CodeOf(err) == choir.CodeConflict {
		return errAnswered
	}
	if f := noBase(err); f != nil {
		j.endFailed(f)
		return nil
	}
	if err != nil {
		return err
	}
	j.compared.base, j.begun, j.place.online = begun.Base, begun.Attempt, begun.Online
	work, stop := context.WithCancelCause(work)
	defer stop(nil)
	if begun.Cancelled {
		// The event that says so may come after the event of the task.
		stop(ErrCancelled)
	}
	mayStop := work
	work, j.clock = startClock(work, time.Duration(timeBudget(&j.task))*time.Second, choir.ModelWaitS*time.Second)
	defer j.clock.stop()
	defer j.gate.pauses.add(j.event.Run, j.clock)()
	j.work = work
	j.landing.work, j.landing.clock = work, j.clock
	j.talk.mayStop, j.talk.clock, j.talk.begun = mayStop, j.clock, begun.Attempt
	if begun.PausedSeq > 0 {
		j.gate.pauses.set(j.event.Run, true, begun.PausedSeq)
	}
	err = j.resume(begun)
	if err == nil {
		// A task that was stopped while it waited still has to take back what an
		// earlier attempt left.
		err = work.Err()
	}
	if err == nil {
		err = j.guard(work, begun.EgressWider)
	}
	if err == nil && j.talk.past == nil {
		err = j.restoreAttempt()
	}
	if err == nil {
		err = j.gate.waitUntilResumed(work)
	}
	if err == nil {
		err = j.execute(work)
	}
	return j.conclude(work, err)
}

// noBase returns the failure for a task whose base cannot be recorded, because the
// workspace is too large or the disk is full; nil for other errors, which are retried.
func noBase(err error) *failure {
	switch choir.CodeOf(err) {
	case choir.CodeTooLarge, choir.CodeForbidden:
		return fail(choir.ResultLimit, "the task could not begin, because the workspace cannot be recorded: %v", err)
	case choir.CodeNoSpace:
		return fail(choir.ResultDiskFull, "the task could not begin, because the workspace cannot be recorded: %v", err)
	}
	return nil
}

// startTask asks the control plane to begin the task and returns its reply. For a
// checkpoint it also passes on the paths changed since the last one.
func (j *job) startTask() (choir.TaskBeginReply, error) {
	since := j.commits.compareSince()
	if j.place.scope.Worktree {
		return j.startInWorktree()
	}
	begun, err := j.cfg.Tree.BeginTask(j.life, j.event.Task, since)
	if err == nil && begun.Aside {
		return j.startAside()
	}
	if err == nil && begun.Compared {
		err = j.commits.setChanged(begun.Changed)
	}
	return begun, err
}

// rawPaths returns escaped paths of snapshots unescaped.
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

// read decodes the task from the event. It returns a failure if the payload is invalid
// or its ids are not the event's.
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
	j.place.repo, j.place.worktree = p.Task.Repo, p.Task.Worktree
	return nil
}

// resume handles a task that a former process began and did not end. If no tool was
// called, it rolls the workspace back and returns nil, so that the task runs again; where its
// run was paused meanwhile, it goes on from the log; else it returns a failure.
func (j *job) resume(begun choir.TaskBeginReply) error {
	if !begun.Resumed {
		return nil
	}
	// Whatever the former process left must not write any more.
	if _, err := j.place.scope.Clear(); err != nil {
		return err
	}
	if j.talk.past = begun.GoesOn; j.talk.past != nil {
		return nil
	}
	made, why := begun.Calls, ""
	if begun.OutOfMemory > 0 {
		why = ", because programs took more memory than its sandbox may have"
	}
	if made == 0 && len(begun.UnfinishedCalls) == 0 {
		if begun.Attempt > maxResumed || begun.OutOfMemory > maxOutOfMemory {
			return fail(choir.ResultCrashed, "the Associate ended %d times in the middle of this task%s; it is not begun again", begun.Attempt-1, why)
		}
		_, err := j.cfg.Tree.Rollback(j.life, j.event.Task, nil)
		return err
	}
	f := fail(choir.ResultCrashed, "the Associate ended in the middle of this task, after %d tool calls%s; it was not repeated", made, why)
	if n := len(begun.UnfinishedCalls); n > 0 {
		ids := make([]string, n)
		for i, id := range begun.UnfinishedCalls {
			ids[i] = string(id)
		}
		f.summary += ", because the outcome of these calls is unknown: " + strings.Join(ids, ", ")
	}
	return f
}

// maxResumed limits how often a task is begun again after the Associate ended in the
// middle of it. Without the limit, a task that crashes the Associate would block others.
const maxResumed = 5

// maxOutOfMemory limits how often of these it was for the memory of the sandbox. The program may
// have been another's, in a terminal say, so that a task is begun again once.
const maxOutOfMemory = 1

// guard checks the task's preconditions: the project exists, the egress profile is no wider
// than the computer's policy, which the control plane says in wider, and the base is the
// expected one. It returns a *failure if one is not met.
func (j *job) guard(ctx context.Context, wider string) error {
	if info, err := os.Lstat(j.place.scope.Root); err != nil || !info.IsDir() {
		return fail(choir.ResultInvalidTask, "the task was refused: repo: there is no project %q in the workspace", j.task.Repo)
	}
	if wider != "" {
		return fail(choir.ResultEgressRefused, "the task wants to reach more than the computer may: %s", wider)
	}
	return j.guardBase(ctx)
}

// guardBase compares the task's base_ref, a snapshot or a git revision, with the
// workspace. It returns a *failure if they differ.
func (j *job) guardBase(ctx context.Context) error {
	want := j.task.BaseRef
	switch {
	case want == "":
		return nil
	case choir.Digest(want).Valid():
		if !j.compared.equalsBase(choir.Digest(want)) {
			return fail(choir.ResultStaleBase, "the task expects snapshot %s, and the workspace is %s", want, j.compared.base)
		}
		return nil
	}
	expected, err := j.place.git.Resolve(ctx, j.place.scope.Root, want)
	if err != nil {
		return fail(choir.ResultStaleBase, "the task expects %s, which is no commit here", want)
	}
	if head, err := j.place.git.Resolve(ctx, j.place.scope.Root, "HEAD"); err != nil || head != expected {
		return fail(choir.ResultStaleBase, "the task expects %s (%s), and HEAD is %s", want, expected, head)
	}
	return nil
}

// execute runs the task's git action or commands, or the agent loop.
func (j *job) execute(ctx context.Context) error {
	switch {
	case j.task.Kind == choir.TaskGit:
		run, text, err := j.commits.runAction(ctx, j.compared.base)
		j.report.result.CommandsRun = append(j.report.result.CommandsRun, run)
		j.report.result.Summary, j.report.result.Committed = text, j.commits.committed
		return err
	case len(j.task.Commands) > 0:
		return j.runCommands(ctx)
	}
	out, err := j.talk.hold(ctx)
	if out != nil {
		j.recordTalk(out)
	}
	return err
}

// recordTalk puts what came of the dialogue with the model into the report.
func (j *job) recordTalk(out *agentloop.Outcome) {
	u := &j.report.result.Usage
	u.Model, u.InputTokens, u.OutputTokens = out.Model, out.Usage.Input, out.Usage.Output
	u.CachedTokens, u.CostUSD = out.Usage.CacheRead, out.Usage.CostUSD
	if j.talk.past != nil {
		u.InputTokens, u.OutputTokens = u.InputTokens+j.talk.past.InputTokens, u.OutputTokens+j.talk.past.OutputTokens
	}
	j.report.result.Summary = out.Final
	j.report.result.Questions = j.talk.questions
}

// timeBudget returns the time budget of a task in seconds.
func timeBudget(task *choir.DirectorTask) int {
	if task.TimeBudgetS == 0 {
		return choir.DefaultTimeBudgetS
	}
	return task.TimeBudgetS
}

// conclude kills the task's processes, then commits its changes, or rolls them back if
// err or the verification is a failure. It returns as run does.
func (j *job) conclude(work context.Context, err error) error {
	clearErr := j.place.clear()
	f := j.failed(work, err)
	switch {
	case err != nil && f == nil:
		return err
	case clearErr != nil && f == nil:
		f = fail(choir.ResultCrashed, "%v", clearErr)
	}
	if f == nil {
		if err = j.keepChange(work); err != nil {
			if f = j.failed(work, err); f == nil {
				return err
			}
		}
	}
	if f != nil {
		return j.takeBack(f)
	}
	j.finish()
	return nil
}

// endFailed ends a task that failed with f.
func (j *job) endFailed(f *failure) {
	j.report.setFailure(f)
	j.finish()
}

// finish completes the report of a task that has ended.
func (j *job) finish() {
	u := &j.report.result.Usage
	u.CPUMS, u.MaxRSSBytes = j.place.cpuMS, j.place.maxRSS
	j.report.result.Verify = j.checks.outcome
	j.report.setDuration()
}
