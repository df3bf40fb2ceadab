package associate

import (
	"context"

	"choiros/internal/choir"
)

// Caller sends a verb to the control plane and decodes its reply into resp; the bus
// client implements it.
type Caller interface {
	Call(ctx context.Context, verb choir.Verb, req, resp any) error
}

// Control implements taskrunner.Tree and taskrunner.Screen by verbs to the control plane.
type Control struct{ Bus Caller }

// BeginTask starts a task. The reply lists the changes between the snapshot since and
// the task's base, unless since is empty.
func (c Control) BeginTask(ctx context.Context, task choir.ID, since choir.Digest) (reply choir.TaskBeginReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskBegin, choir.TaskBeginRequest{Task: task, Since: since}, &reply)
	return reply, err
}

// BeginCopied starts a task in a copy that there is of its project, or of the workspace.
func (c Control) BeginCopied(ctx context.Context, task choir.ID) (reply choir.TaskBeginReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskBegin, choir.TaskBeginRequest{Task: task, Copied: true}, &reply)
	return reply, err
}

// BeginUncopied starts a task in the workspace that was to begin in a copy.
func (c Control) BeginUncopied(ctx context.Context, task choir.ID) (reply choir.TaskBeginReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskBegin, choir.TaskBeginRequest{Task: task, Uncopied: true}, &reply)
	return reply, err
}

// Land merges what a task changed in its worktree into the workspace, without the paths in leave.
func (c Control) Land(ctx context.Context, task choir.ID, leave []string) (reply choir.TaskLandReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskLand, choir.TaskLandRequest{Task: task, Leave: leave}, &reply)
	return reply, err
}

// LandCommitted brings exactly what a task changed and committed in its copy into the workspace,
// unless its result is to be held.
func (c Control) LandCommitted(ctx context.Context, task choir.ID) (reply choir.TaskLandReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskLand, choir.TaskLandRequest{Task: task, Committed: true}, &reply)
	return reply, err
}

// Changes takes a snapshot of the workspace, without ending the task. The reply has its
// digest, and the paths that the owner changed meanwhile.
func (c Control) Changes(ctx context.Context, task choir.ID) (reply choir.TaskTreeReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskTree, choir.TaskTreeRequest{Task: task}, &reply)
	return reply, err
}

// Rollback restores the workspace to the task's base, except for the owner's changes
// and the kept paths.
func (c Control) Rollback(ctx context.Context, task choir.ID, keep []string) (reply choir.TaskRollbackReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskRollback, choir.TaskRollbackRequest{Task: task, Keep: keep}, &reply)
	return reply, err
}

// Commit takes a snapshot of the workspace and records it in the log with reason. If
// only is not empty, only those folders are scanned.
func (c Control) Commit(ctx context.Context, task choir.ID, reason string, only []string) (reply choir.TaskCommitReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskCommit, choir.TaskCommitRequest{Task: task, Reason: reason, Only: only}, &reply)
	return reply, err
}

// Steering returns what the request of a model call of the task says of what people added.
func (c Control) Steering(ctx context.Context, task choir.ID, call int) (reply choir.TaskSteeringReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskSteering, choir.TaskSteeringRequest{Task: task, Call: call}, &reply)
	return reply, err
}

// ShowCommand shows people a part of the output of a command that runs.
func (c Control) ShowCommand(ctx context.Context, r choir.TaskOutputRequest) (reply choir.TaskOutputReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskOutput, r, &reply)
	return reply, err
}

// RestoreAttempt restores what the attempt that the task names changed, as the task's
// change.
func (c Control) RestoreAttempt(ctx context.Context, task choir.ID) (reply choir.TaskAttemptReply, err error) {
	err = c.Bus.Call(ctx, choir.VerbTaskAttempt, choir.TaskAttemptRequest{Task: task}, &reply)
	return reply, err
}
