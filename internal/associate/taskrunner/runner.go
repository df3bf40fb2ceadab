// Package taskrunner executes DirectorTasks and makes their AssociateResults:
// it runs commands or the bounded agent loop, verifies the change, and then makes a
// checkpoint or rolls the workspace back to the task's base.
//
// It works on files and processes of the sandbox directly, and on log, model and
// snapshots through the interfaces below.
package taskrunner

import (
	"context"
	"errors"
	"fmt"

	"choiros/internal/associate/command"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/scope"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Log appends events durably, all or none; a draft whose id is already in the log is appended once.
type Log interface {
	Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Tree requests operations on the workspace's snapshots from the control plane.
// BeginTask starts a task and compares its base with the snapshot since, unless that is
// empty; code conflict: the task has its result. Commit scans only the folders only
// (escaped), unless there are none: the caller vouches that nothing else changed.
type Tree interface {
	BeginTask(ctx context.Context, task choir.ID, since choir.Digest) (choir.TaskBeginReply, error)
	// BeginCopied is BeginTask with a copy of its project, for a task with worktree or after a
	// reply with Aside.
	BeginCopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error)
	// BeginUncopied is BeginTask after a reply with Aside where no copy can be made.
	BeginUncopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error)
	// Land merges a task's change from its copy into the workspace, without the paths in
	// leave. Code unavailable: another task works in the project.
	// With a reply that has Aside the task goes on in its copy.
	Land(ctx context.Context, task choir.ID, leave []string) (choir.TaskLandReply, error)
	// LandCommitted brings exactly what is in the copy into the workspace, after a reply with
	// Aside. It replies Aside if the result will be held.
	LandCommitted(ctx context.Context, task choir.ID) (choir.TaskLandReply, error)
	Changes(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error)
	Rollback(ctx context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error)
	Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error)
	// RestoreAttempt restores the attempt that the task names. Code invalid or not_found:
	// there is none.
	RestoreAttempt(ctx context.Context, task choir.ID) (choir.TaskAttemptReply, error)
	// Steering returns what the request of a model call of the task says of what people
	// added to the run. For the same call it returns at least the same.
	Steering(ctx context.Context, task choir.ID, call int) (choir.TaskSteeringReply, error)
}

// Models calls a model through the gateway.
type Models interface {
	Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Blobs stores content that is too large for an event, and reads content by digest.
type Blobs interface {
	PutBlob(ctx context.Context, content []byte) (choir.Digest, error)
	GetBlob(ctx context.Context, d choir.Digest) ([]byte, error)
}

// Config configures a Runner. All fields are required unless noted.
type Config struct {
	Log    Log
	Tree   Tree
	Models Models
	Blobs  Blobs
	Screen command.Screen
	// Live shows text of a run while it happens. It must not block.
	Live func(run choir.ID, text string)
	Now  func() choir.Time

	Workspace string   // the workspace's folder
	Scratch   string   // folder for caches and scratch files, outside the workspace
	Worktrees string   // folder for copies of projects in which tasks work, outside the workspace
	Env       []string // environment of commands
	TreeArgv  []string // starts a process that calls proctree.Serve; its last arguments are added
	Lock      string   // name of a lock, unique to the workspace
	Shared    []string // folders that commands of every project may write to; optional

	MaxSteps int // model calls in one task; default 60
}

// ErrCancelled is the cancellation cause of a task's context when the task was stopped.
var ErrCancelled = choir.E("task", choir.CodeCancelled, "the task was stopped")

// Runner runs tasks. Its methods are safe for concurrent use by tasks of different projects.
type Runner struct {
	cfg       Config
	committed commits
	checked   verify.Memory
	scopes    *scope.Set
	paused    pauses
	ends      command.Ends
	// above is a one-place queue for the commits in the workspace's own repository, each of
	// which has a scope of the whole workspace.
	above chan struct{}
}

// New returns a Runner, with the process already started that starts commands in the
// whole workspace. The error is that of starting it.
func New(cfg Config) (*Runner, error) {
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = 60
	}
	scopes, err := scope.NewSet(scope.Config{
		Workspace: cfg.Workspace, Scratch: cfg.Scratch, Worktrees: cfg.Worktrees, Env: cfg.Env, TreeArgv: cfg.TreeArgv, Lock: cfg.Lock, Shared: cfg.Shared,
	})
	return &Runner{cfg: cfg, scopes: scopes, above: make(chan struct{}, 1)}, err
}

// Close kills every process that tasks left.
func (r *Runner) Close() error { return r.scopes.Close() }

// Lost reports whether a tree process was killed: the processes below it may still run.
func (r *Runner) Lost() bool { return r.scopes.Lost() }

// Project returns the project of the task of a task.dispatched event, if the kernel confines
// the task's commands to it; else "", as for an event that cannot be read. A task with worktree
// has a project of its own.
func (r *Runner) Project(dispatched choir.Event) string {
	var p choir.TaskDispatched
	if !proctree.Confines() || choir.DecodeDurable(dispatched.Payload, &p) != nil {
		return ""
	}
	if p.Task.Worktree {
		return p.Task.Repo + "/" + string(dispatched.Task)
	}
	return p.Task.Repo
}

// Do executes the task of a task.dispatched event and appends its result. work is derived
// from ctx and is cancelled with cause ErrCancelled when a person stops the task. Do
// returns nil without doing anything if the task has a result. An error means that no
// result was appended: the caller retries.
func (r *Runner) Do(ctx, work context.Context, dispatched choir.Event) error {
	j := r.newJob(ctx, dispatched)
	defer j.place.closeCopy()
	err := j.run(work)
	if errors.Is(err, errAnswered) {
		return nil
	}
	switch {
	case choir.CodeOf(err) == choir.CodeCorrupt:
		err = j.giveUp("what the task began with is damaged", err)
	case j.begun >= maxAttempts && lasting(err) && ctx.Err() == nil:
		err = j.giveUp(fmt.Sprintf("the task was begun %d times and could not be ended", j.begun), err)
	}
	if err != nil {
		return err
	}
	return j.report.answer()
}

// EndCommand ends the running command that a tool call of a task started, because a person wants
// it. Without such a command it does nothing.
func (r *Runner) EndCommand(_, call choir.ID) { r.ends.End(call) }

// maxAttempts limits how often a task is begun that fails by an error of choir itself.
// Without the limit it would be retried for ever and block all other tasks.
const maxAttempts = 10

// lasting reports whether err may recur at each attempt: it is not nil and not caused by
// a missing connection, a full disk or a cancellation.
func lasting(err error) bool {
	code := choir.CodeOf(err)
	return err != nil && !code.Retry() && code != choir.CodeUnavailable && code != choir.CodeCancelled
}

// errAnswered is returned by a job whose task already has its result.
var errAnswered = errors.New("the task has been answered already")
