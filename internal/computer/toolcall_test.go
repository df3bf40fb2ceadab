package computer

import (
	"encoding/json"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
)

// calls plays the Associate's tool calls of a task that works.
type calls struct {
	*lab
	task choir.DirectorTask
	n    int
}

// working begins a task that works until finish.
func (l *lab) working() *calls {
	l.t.Helper()
	l.sh("rm -f /tmp/go /tmp/begun")
	task := l.commands(choir.TaskEditRepo, "touch /tmp/begun; "+hold)
	l.made("/tmp/begun")
	return &calls{lab: l, task: task}
}

func (c *calls) finish() {
	c.t.Helper()
	c.sh("touch /tmp/go")
	c.result(c.task)
}

// append appends as the Associate does, over its verb.
func (c *calls) append(drafts ...choir.Draft) []choir.Receipt {
	c.t.Helper()
	for i := range drafts {
		drafts[i] = drafts[i].ForRun(c.task.RunID, c.task.TaskID)
	}
	raw, err := json.Marshal(choir.AppendRequest{Drafts: drafts})
	if err != nil {
		c.t.Fatal(err)
	}
	reply := must(c.Handle(c.within(), choir.Caller{Role: choir.RoleAssociate}, choir.VerbAppend, raw))(c.t)
	return reply.(choir.AppendReply).Receipts
}

// call makes one tool call, whose effect is a script.
func (c *calls) call(tool string, writes bool, script string) (id choir.ID, called, returned uint64) {
	c.t.Helper()
	c.n++
	id = choir.DeriveID(c.task.TaskID, "test call", num(int64(c.n)))
	first := must(choir.NewDraft(choir.DeriveID(id, "called"), choir.ToolCalled{Call: id, Tool: tool, Writes: writes, Input: choir.ToolInput{Command: script}}))(c.t)
	called = c.append(first)[0].Seq
	c.sh(script)
	last := must(choir.NewDraft(choir.DeriveID(id, "returned"), choir.ToolReturned{Call: id, OK: true}))(c.t)
	receipts := c.append(last)
	if again := c.append(last); again[0].Seq != receipts[0].Seq {
		c.t.Errorf("sent again it is %+v, it was %+v", again, receipts)
	}
	return id, called, receipts[0].Seq
}

func TestEveryMomentBetweenToolCallsIsExact(t *testing.T) {
	l := newLab(t)
	l.write("x", "0")
	c := l.working()
	type moment struct {
		seq  uint64
		root choir.Digest
	}
	var moments []moment
	for i, script := range []string{"echo 1 > x; mkdir -p empty; mkdir -p r/.git; echo h > r/.git/HEAD", "true", "rm -rf r; ln -s x l", "chmod 700 empty"} {
		before := l.root()
		events, _ := l.store.Head()
		_, called, returned := c.call("bash", true, script)
		after := l.root()
		moments = append(moments, moment{called, before}, moment{returned, after})
		if script == "true" && returned != events+2 {
			t.Errorf("call %d changed nothing and wrote %d events: %v", i, returned-events, l.types()[events:])
		}
	}
	for _, m := range moments {
		if got := must(l.Moments().Tree(l.within(), m.seq))(t); got != m.root {
			t.Errorf("after event %d the workspace is said to be %s, it was %s", m.seq, got, m.root)
		}
	}
	// What changed between two calls is told before the next.
	l.sh("echo outside > o")
	outside := l.root()
	_, called, _ := c.call("write_file", true, "echo 2 > x")
	if got := must(l.Moments().Tree(l.within(), called))(t); got != outside {
		t.Errorf("what changed between the calls is missing: %s, not %s", got, outside)
	}
	// A call that only reads takes no look.
	l.sh("echo unseen > u")
	_, called, returned := c.call("read_file", false, "true")
	if returned != called+1 || must(l.Moments().Tree(l.within(), returned))(t) == l.root() {
		t.Error("a reading call took a snapshot")
	}
	var reasons []string
	for _, e := range l.all("snapshot.taken") {
		if p := payload[choir.SnapshotTaken](t, e); e.Task == c.task.TaskID {
			reasons = append(reasons, p.Reason)
			if p.Reason == "tool_returned" && e.Cause == "" {
				t.Errorf("event %d does not say by which call", e.Seq)
			}
		}
	}
	if want := []string{"tool_returned", "tool_returned", "tool_returned", "tool_called", "tool_returned"}; !slices.Equal(reasons, want) {
		t.Errorf("the snapshots are %q, want %q", reasons, want)
	}
	for _, m := range must(l.Moments().Marks(l.within(), 100, 0))(t) {
		if m.Kind == eventstore.MarkCall && (m.Call == "" || m.Files == 0 || m.Task != c.task.TaskID || m.Source != choir.SourceAssociate) {
			t.Errorf("%+v", m)
		}
	}
	c.finish()
}

func TestSnapshotsAroundCallsKeepARollbackWhole(t *testing.T) {
	l := newLab(t)
	l.write("kept", "before")
	before := l.root()
	c := l.working()
	c.call("bash", true, "echo task > kept; mkdir d; echo new > d/new")
	l.write("mine", "owner")
	c.call("bash", true, "echo more > d/more")
	if err := l.Runs().Cancel(l.within(), choir.RoleShell, c.task.RunID, "x"); err != nil {
		t.Fatal(err)
	}
	l.result(c.task)
	if got := l.sh("cat kept mine; ls"); got != "beforeownerartifacts\nchoiros\nkept\nmine\nworkspace\n" {
		t.Errorf("the workspace has %s", got)
	}
	if _, err := l.Workspace().RemoveFile(l.within(), choir.RoleShell, "mine", workspace.Expect{}); err != nil {
		t.Fatal(err)
	}
	for _, ch := range must(l.workspace.Changes(l.within(), before, l.root()))(t) {
		if !ch.TimeOnly() {
			t.Errorf("it changed %+v", ch)
		}
	}
}

func TestCommandsOfATaskAreMomentsOfTheirOwn(t *testing.T) {
	l := newLab(t)
	r := l.result(l.commands(choir.TaskEditRepo, "echo 1 > x", "true", "echo 2 > y", "rm x"))
	if r.Status != choir.StatusOK || len(r.FilesChanged) != 1 || r.FilesChanged[0].Path != "y" {
		t.Fatalf("%s %s %+v", r.Code, r.Summary, r.FilesChanged)
	}
	var had []string
	for _, e := range l.all("snapshot.taken") {
		if payload[choir.SnapshotTaken](t, e).Reason != "tool_returned" {
			continue
		}
		names := ""
		for _, f := range must(l.Workspace().FolderAt(l.within(), e.Seq, ""))(t) {
			if f.Kind == "file" {
				names += f.Path
			}
		}
		had = append(had, names)
	}
	if want := []string{"x", "xy"}; !slices.Equal(had, want) {
		t.Errorf("between the commands there was %q, want %q", had, want)
	}
}
