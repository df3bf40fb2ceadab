package computer

import (
	"encoding/json"
	"slices"
	"testing"

	"choiros/internal/choir"
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
	reply := must(c.Verbs().Handle(c.within(), choir.Caller{Role: choir.RoleAssociate}, choir.VerbAppend, raw))(c.t)
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
