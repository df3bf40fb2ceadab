package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/moments"
	"choiros/internal/control/api"
	"choiros/internal/director/runscript"
	"choiros/internal/eventstore"
)

// marks reads the timeline, oldest first.
func (m *machine) marks() []moments.Mark {
	m.t.Helper()
	var marks []moments.Mark
	m.decode(m.must("timeline", "--json", "--limit", "1000"), &marks)
	slices.Reverse(marks)
	return marks
}

func (m *machine) decode(raw string, into any) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(raw), into); err != nil {
		m.t.Fatalf("%v: %s", err, raw)
	}
}

// tree is the whole workspace on disk.
func (m *machine) tree() map[string]string {
	m.t.Helper()
	return exact(m.t, m.workspace())
}

// TestARunOnTheTimeAxis: scenarios 19 and 20 for files, documents and windows. A
// run of agents is played; every mark can be looked at and gone to; the owner
// goes back with no model and no Director's help after .git was deleted.
func TestARunOnTheTimeAxis(t *testing.T) {
	t.Parallel()
	scripts, err := runscript.Load(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	s := scripts[slices.IndexFunc(scripts, func(s runscript.Script) bool { return s.Name == "two_dependent_tasks" })]
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	added := m.tree()
	start := m.marks()
	begun := start[len(start)-1]
	if begun.Kind != eventstore.MarkRepo {
		t.Fatalf("the last mark is %+v", begun)
	}
	run := begin(t, c, s)
	checkScript(t, c, s, run, m.play(c, s, run))
	finished := m.tree()
	marks := m.marks()
	seen := map[moments.MarkKind]int{}
	for _, k := range marks {
		seen[k.Kind]++
		m.lookAt(c, k)
	}
	if seen[eventstore.MarkPrompt] != 1 || seen[eventstore.MarkAnswer] != 1 || seen[eventstore.MarkTask] < 2 || seen[eventstore.MarkCall] < 2 {
		t.Errorf("the marks are %v", seen)
	}
	// Asleep, the past is still there to be looked at.
	r.stop()
	if got := m.marks(); len(got) != len(marks) {
		t.Errorf("asleep there are %d marks, awake there were %d", len(got), len(marks))
	}
	file := s.Expect.Files[0]
	if got := m.must("timeline", "cat", fmt.Sprint(marks[len(marks)-1].Seq), file.Path); got != file.Content {
		t.Errorf("asleep the file was %q", got)
	}
	var freed collection.Collected
	m.decode(m.must("timeline", "gc", "--dry-run", "--json"), &freed)
	if freed.Removed != 0 || freed.Kept == 0 || !freed.DryRun {
		t.Errorf("a young computer has something to collect: %+v", freed)
	}
	if r := m.run("timeline", "cat", fmt.Sprint(begun.Seq), "workspace/none"); r.code != 1 || !strings.Contains(r.errOut, "was not there") {
		t.Errorf("a file that was not there: %d %s", r.code, r.errOut)
	}
	// No model, and git is gone.
	m.configure("")
	if err := os.RemoveAll(filepath.Join(m.at("greeter"), ".git")); err != nil {
		t.Fatal(err)
	}
	m.must("rewind", fmt.Sprint(begun.Seq))
	sameTree(t, added, m.tree())
	m.must("rewind", fmt.Sprint(marks[len(marks)-1].Seq))
	sameTree(t, finished, m.tree())
	var d api.MomentsView
	m.decode(m.must("diff", fmt.Sprint(begun.Seq), "--json"), &d)
	if len(d.Files) == 0 || len(d.Documents) != 1 || len(d.Events) == 0 || len(d.Counts) == 0 {
		t.Errorf("the diff has %d files, %d documents, %d events", len(d.Files), len(d.Documents), len(d.Events))
	}
	for _, args := range [][]string{{"rewind", "999999"}, {"timeline", "show", "999999"}, {"diff", "999999"}} {
		if r := m.run(args...); r.code == 0 || !strings.Contains(r.errOut, "there is no event 999999") {
			t.Errorf("choir %v: %d %s", args, r.code, r.errOut)
		}
	}
}

// lookAt describes the moment of a mark and compares its files with the log's.
func (m *machine) lookAt(c *client, mark moments.Mark) {
	m.t.Helper()
	var at moments.Moment
	if err := c.get(m.t.Context(), c.path(fmt.Sprintf("/at/%d", mark.Seq)), &at); err != nil {
		m.t.Fatalf("%+v: %v", mark, err)
	}
	var files []choir.FileState
	if err := c.get(m.t.Context(), c.path(fmt.Sprintf("/files?limit=1000&as_of=%d", mark.Seq)), &files); err != nil {
		m.t.Fatal(err)
	}
	for _, f := range files {
		var exact []choir.FileState
		if err := c.get(m.t.Context(), c.path(fmt.Sprintf("/at/%d/folder?path=%s", mark.Seq, f.Path)), &exact); err != nil {
			m.t.Errorf("at %+v: %s: %v", mark, f.Path, err)
			continue
		}
		if f.Kind == "file" && (len(exact) != 1 || exact[0].Digest != f.Digest) {
			m.t.Errorf("at %+v the log says %+v, the snapshot %+v", mark, f, exact)
		}
	}
}

// openTerminal opens a terminal in the sandbox.
func (o *office) openTerminal(t *testing.T) {
	t.Helper()
	if err := o.c.post(t.Context(), o.c.path("/terminals"), api.TerminalRequest{}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestTasksCanBeUndone: scenario 20's smaller sister, and 21's withheld files.
func TestTasksCanBeUndone(t *testing.T) {
	o := openOffice(t)
	o.add(t, "app", files{"a.txt": "1\n2\n3\n4\n5\n6\n7\n"})
	first := o.ends(t, shellTask("edit_repo", "app", "sed -i s/2/two/ a.txt; echo b > b.txt; echo AWS_SECRET_ACCESS_KEY=x > .env", ""), 0, choir.StatusOK, "")
	o.ends(t, shellTask("edit_repo", "app", "sed -i s/6/six/ a.txt", ""), 0, choir.StatusOK, "")
	if out := o.must("timeline"); !strings.Contains(out, string(first.TaskID)) || !strings.Contains(out, "looks like a key: workspace/app/.env") {
		t.Errorf("the timeline shows\n%s", out)
	}
	before := o.tree()
	if out := o.must("undo", string(first.TaskID), "--dry-run"); !strings.Contains(out, "workspace/app/b.txt") || strings.Contains(out, "terminal") {
		t.Errorf("a dry run says %s", out)
	}
	sameTree(t, before, o.tree())
	o.openTerminal(t)
	all := o.c.log(t)
	back := fmt.Sprint(all[len(all)-1].Seq)
	for _, args := range [][]string{{"undo", string(first.TaskID)}, {"rewind", back}} {
		if out := o.must(append(args, "--dry-run")...); !strings.Contains(out, "would end 1 open terminal, with what runs there") {
			t.Errorf("a dry run of %s says %s", args[0], out)
		}
	}
	if out := o.must("rewind", back); !strings.Contains(out, "ended     1 open terminal, with what runs there") {
		t.Errorf("a rewind says %s", out)
	}
	var u api.Undone
	o.decode(o.must("undo", string(first.TaskID), "--json"), &u)
	if got := o.must("timeline", "cat", fmt.Sprint(u.Seq), "workspace/app/a.txt"); got != "1\n2\n3\n4\n5\nsix\n7\n" {
		t.Errorf("the file is %q", got)
	}
	o.must("rewind", fmt.Sprint(u.BackSeq))
	sameTree(t, before, o.tree())
	o.ends(t, shellTask("edit_repo", "app", "sed -i s/two/zwei/ a.txt", ""), 0, choir.StatusOK, "")
	before = o.tree()
	r := o.run("undo", string(first.TaskID))
	if r.code != 1 || !strings.Contains(r.out, "conflict  workspace/app/a.txt") {
		t.Errorf("an undo that conflicts: %d %s%s", r.code, r.out, r.errOut)
	}
	sameTree(t, before, o.tree())
	if r := o.run("undo", string(o.c.computer)); r.code != 1 || !strings.Contains(r.errOut, "neither a run nor a task nor a tool call") {
		t.Errorf("undo of nothing: %d %s", r.code, r.errOut)
	}
}
