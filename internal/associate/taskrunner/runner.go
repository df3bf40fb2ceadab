// Package taskrunner executes one DirectorTask at a time and makes its one
// AssociateResult: deterministic commands or the bounded agent loop, then
// verification, then a checkpoint, or a rollback to exactly where it started.
//
// It works on files and processes of the sandbox directly, and reaches
// everything else through the small interfaces below.
package taskrunner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"sync"

	"choiros/internal/associate/git"
	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Log appends events durably: all or none, once per draft id. Events reads a range
// in order, both ends included; to 0 means all.
type Log interface {
	Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// Tree is the control plane's hold on the workspace of a task. Begin answers
// code conflict for a task that has its result already; it compares the base
// with a snapshot, when one is given. Commit looks only at the given folders
// (escaped), when there are any: the caller knows that nothing ran that could
// have changed others since the tree was last looked at.
type Tree interface {
	BeginTask(ctx context.Context, task choir.ID, since choir.Digest) (choir.TaskBeginReply, error)
	Changes(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error)
	Rollback(ctx context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error)
	Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error)
}

// Models calls a model through the gateway.
type Models interface {
	Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Blobs keeps content that is too large for an event, and reads that of
// snapshots.
type Blobs interface {
	PutBlob(ctx context.Context, content []byte) (choir.Digest, error)
	GetBlob(ctx context.Context, d choir.Digest) ([]byte, error)
}

// Config of a Runner. Everything is required but what says otherwise.
type Config struct {
	Log    Log
	Tree   Tree
	Models Models
	Blobs  Blobs
	// Live shows text of a run while it happens; nobody may be watching. It must
	// not block.
	Live func(run choir.ID, text string)
	Now  func() choir.Time

	Workspace string   // the workspace's folder
	Scratch   string   // folder for caches and scratch files, outside the workspace
	Env       []string // environment of commands
	TreeArgv  []string // starts a process that calls proctree.Serve; the lock's name is added
	Lock      string   // one name for one workspace

	MaxSteps int // model calls in one task; default 60
}

// ErrCancelled is the cause a task's context ends with when a person stopped it.
var ErrCancelled = choir.E("task", choir.CodeCancelled, "the task was stopped")

// Runner runs tasks, one at a time.
type Runner struct {
	cfg   Config
	known known // used by the one task that runs

	mu   sync.Mutex // guards tree
	tree *proctree.Tree
}

// New makes a runner. It starts the process below which commands run, so that
// the first task need not wait for it.
func New(cfg Config) (*Runner, error) {
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = 60
	}
	r := &Runner{cfg: cfg}
	_, err := r.processes()
	return r, err
}

// Close ends every process that a task left.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tree == nil {
		return nil
	}
	err := r.tree.Close()
	r.tree = nil
	return err
}

// Lost reports that the tree process was killed: what ran below it still may.
func (r *Runner) Lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tree != nil && r.tree.Lost()
}

// processes is the tree process; a lost one is replaced.
func (r *Runner) processes() (*proctree.Tree, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tree != nil && !r.tree.Lost() {
		return r.tree, nil
	}
	if r.tree != nil {
		_ = r.tree.Close() // it is gone; how it went was the error of the task
	}
	tree, err := proctree.Start(append(r.cfg.TreeArgv[:len(r.cfg.TreeArgv):len(r.cfg.TreeArgv)], r.cfg.Lock), r.cfg.Env)
	r.tree = tree
	return tree, err
}

// Do executes the task of a task.dispatched event and appends its result. work
// is derived from ctx and ends, with ErrCancelled as its cause, when a person
// stops the task. A task that has its result already is no error and does
// nothing. An error means that no result was appended: the task will be
// delivered again.
func (r *Runner) Do(ctx, work context.Context, dispatched choir.Event) error {
	j := &job{Runner: r, life: ctx, event: dispatched, started: r.cfg.Now()}
	result, err := j.run(work)
	if errors.Is(err, errAnswered) {
		return nil
	}
	switch {
	case choir.CodeOf(err) == choir.CodeCorrupt:
		result, err = j.giveUp("what the task began with is damaged", err)
	case j.begun >= maxAttempts && lasting(err) && ctx.Err() == nil:
		result, err = j.giveUp(fmt.Sprintf("the task was begun %d times and could not be ended", j.begun), err)
	}
	if err != nil {
		return err
	}
	return j.answer(result)
}

// maxAttempts is how often a task is begun that something in choir itself keeps
// from its end: what fails as often fails for ever, and no other task could run.
const maxAttempts = 10

// lasting says of an error that it may come again however often a task is begun:
// it is not the lack of a connection, of room or of time.
func lasting(err error) bool {
	code := choir.CodeOf(err)
	return err != nil && !code.Retry() && code != choir.CodeUnavailable && code != choir.CodeCancelled
}

// errAnswered ends a job whose task has its result already.
var errAnswered = errors.New("the task has been answered already")

// job is one execution of one task.
type job struct {
	*Runner
	life    context.Context // of the process; work beyond the task's budget uses it
	event   choir.Event
	task    choir.DirectorTask
	started choir.Time
	root    string // the task's folder
	base    choir.Digest
	begun   int      // times, this one included
	since   []string // raw paths that differ between what is known and base
	told    bool     // since is whole
	procs   *proctree.Tree
	git     *git.Git
	calls   int      // tool calls recorded
	models  int      // model calls made
	refused int      // tool calls refused
	egress  bool     // something wanted out
	attempt *change  // what a failed task changed, once known
	made    git.Made // by git_checkpoint
	only    []string // folders, escaped, in which alone git_checkpoint changed something
	subject string   // of git_checkpoint
	result  choir.AssociateResult
	drafts  []choir.Draft // appended together with the result
}

// answer appends the result, and what belongs to it, in one step.
func (j *job) answer(result choir.AssociateResult) error {
	if err := j.fit(&result); err != nil {
		return err
	}
	d, err := choir.NewDraft(choir.DeriveID(j.event.Task, "returned"), choir.TaskReturned{Result: result})
	if err != nil {
		return err
	}
	err = j.appendEvents(append(j.drafts, j.mine(d))...)
	if first := choir.FirstOf(err); first != nil && first.Type == d.Type {
		return nil // the control plane answered in its place
	}
	return err
}

// appendEvents appends events of the task. Their ids follow from the task's, which others
// know; an id that somebody else holds is replaced by a fresh one.
func (j *job) appendEvents(drafts ...choir.Draft) error {
	fresh := func(*choir.First) (choir.ID, error) { return choir.NewID(j.cfg.Now(), rand.Reader) }
	_, _, err := choir.AppendAs(j.life, choir.SourceAssociate, drafts, fresh, j.cfg.Log.Append)
	return err
}

// mine marks a draft as belonging to this task.
func (j *job) mine(d choir.Draft) choir.Draft {
	return d.ForRun(j.event.Run, j.event.Task).CausedBy(j.event.ID)
}
