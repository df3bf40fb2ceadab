package computer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// ask asks for a verb as a role does.
func ask[Reply any](l *lab, role choir.Role, verb choir.Verb, request any) Reply {
	l.t.Helper()
	body := must(json.Marshal(request))(l.t)
	reply := must(l.Verbs().Handle(l.within(), choir.Caller{Role: role}, verb, body))(l.t)
	var out Reply
	if err := json.Unmarshal(must(json.Marshal(reply))(l.t), &out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// TestATasksVerbsReachTheWorkspace plays the Associate: what a tool call changed is in the
// log before its end, and a rollback takes it back.
func TestATasksVerbsReachTheWorkspace(t *testing.T) {
	l := newFakeLab(t)
	l.write("x", "before")
	task := must(l.Tasks().NewTask(choir.DirectorTask{Kind: choir.TaskEditRepo, Instruction: "x"}))(t)
	must(l.Tasks().Submit(l.within(), choir.RoleCLI, task))(t)
	base := ask[choir.TaskBeginReply](l, choir.RoleAssociate, choir.VerbTaskBegin, choir.TaskBeginRequest{Task: task.TaskID}).Base
	call := newTestID(t)
	for _, p := range []choir.Payload{choir.ToolCalled{Call: call, Tool: "bash", Writes: true}, choir.ToolReturned{Call: call, OK: true}} {
		d := must(choir.NewDraft(newTestID(t), p))(t).ForRun(task.RunID, task.TaskID)
		ask[choir.AppendReply](l, choir.RoleAssociate, choir.VerbAppend, choir.AppendRequest{Drafts: []choir.Draft{d}})
		if err := os.WriteFile(filepath.Join(l.workspaceDir(), "x"), []byte("after"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := ask[choir.TaskTreeReply](l, choir.RoleAssociate, choir.VerbTaskTree, choir.TaskTreeRequest{Task: task.TaskID})
	if taken := l.all("snapshot.taken"); payload[choir.SnapshotTaken](t, taken[len(taken)-1]).Reason != "tool_returned" || tree.Snapshot == base {
		t.Errorf("no moment tells of the call: %v", l.types())
	}
	ask[choir.TaskRollbackReply](l, choir.RoleAssociate, choir.VerbTaskRollback, choir.TaskRollbackRequest{Task: task.TaskID})
	if got := ask[choir.TaskCommitReply](l, choir.RoleAssociate, choir.VerbTaskCommit, choir.TaskCommitRequest{Task: task.TaskID, Reason: "task_ended"}); got.Snapshot != base {
		t.Errorf("the workspace is %s, its base is %s", got.Snapshot, base)
	}
}
