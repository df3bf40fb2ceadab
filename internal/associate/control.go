package associate

import (
	"context"

	"choiros/internal/choir"
)

// Caller asks the computer for a verb; the bus client is one.
type Caller interface {
	Call(ctx context.Context, verb choir.Verb, req, resp any) error
}

// Control is the control plane's hold on the workspace, asked for by verbs. It
// implements taskrunner.Tree.
type Control struct{ Bus Caller }

// BeginTask starts a task, and compares its base with the snapshot since, if any.
func (c Control) BeginTask(ctx context.Context, task choir.ID, since choir.Digest) (reply choir.TaskBeginReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskBegin, choir.TaskBeginRequest{Task: task, Since: since}, &reply)
	return reply, err
}

// Changes compares the workspace with the base of the task.
func (c Control) Changes(ctx context.Context, task choir.ID) (reply choir.TaskTreeReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskTree, choir.TaskTreeRequest{Task: task}, &reply)
	return reply, err
}

// Rollback puts the workspace back, except for what the owner wrote and the
// kept paths.
func (c Control) Rollback(ctx context.Context, task choir.ID, keep []string) (reply choir.TaskRollbackReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskRollback, choir.TaskRollbackRequest{Task: task, Keep: keep}, &reply)
	return reply, err
}

// Commit takes a snapshot and makes the change part of the log. Only the given
// folders are looked at, when there are any.
func (c Control) Commit(ctx context.Context, task choir.ID, reason string, only []string) (reply choir.TaskCommitReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskCommit, choir.TaskCommitRequest{Task: task, Reason: reason, Only: only}, &reply)
	return reply, err
}
