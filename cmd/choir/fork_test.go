package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// of is the same office with another computer of the data folder.
func (o *office) of(computer choir.ID) *office {
	c := *o.c
	c.computer = computer
	return &office{o.machine, &c, o.pid}
}

// files is the workspace of the office's computer, exactly, without .git.
func (o *office) files() map[string]string {
	o.t.Helper()
	all := exact(o.t, o.dir())
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.Contains(path, ".git") })
	return all
}

// dir is the workspace of the office's computer.
func (o *office) dir() string {
	return filepath.Join(o.data, "computers", string(o.c.computer), "associate", "workspace")
}

// history is the subjects of a project's commits.
func (o *office) history(repo string) string {
	o.t.Helper()
	return gitIn(o.t, filepath.Join(o.dir(), "workspace", repo), "-c", "safe.directory=*", "--no-optional-locks", "log", "--format=%H %s")
}

// fork makes a second computer and waits until both sandboxes of it run.
func (o *office) fork(args ...string) (api.Forked, *office) {
	o.t.Helper()
	var f api.Forked
	if err := json.Unmarshal([]byte(o.must(append([]string{"fork", "--json"}, args...)...)), &f); err != nil {
		o.t.Fatal(err)
	}
	other := o.of(f.ID)
	other.awake()
	return f, other
}

// awake waits until both sandboxes of the office's computer run.
func (o *office) awake() {
	o.t.Helper()
	o.eventually("the sandboxes run", func() error {
		var v api.ComputerView
		if err := o.c.get(o.t.Context(), o.c.path(""), &v); err != nil {
			return err
		}
		for _, s := range v.Isolation {
			if !s.Running {
				return os.ErrNotExist
			}
		}
		return nil
	})
}

func lastOf(events []choir.Event, t choir.Type) choir.Event {
	for _, e := range slices.Backward(events) {
		if e.Type == t {
			return e
		}
	}
	return choir.Event{}
}

// TestForkGoesOnByItself forks an earlier moment, works in both computers, and
// holds each against what it must have.
func TestForkGoesOnByItself(t *testing.T) {
	o := openOffice(t)
	o.add(t, "p", files{"a.txt": "one\n", "run.sh!": "#!/bin/sh\n", "deep/er/x": "x\n"})
	o.ends(t, shellTask("edit_repo", "p", "echo two > a.txt", noVerify), 0, choir.StatusOK, "")
	then := o.files()
	past := o.c.log(t)
	at := past[len(past)-1].Seq
	o.ends(t, shellTask("edit_repo", "p", "echo three > a.txt; rm run.sh", noVerify), 0, choir.StatusOK, "")
	now := o.files()

	f, other := o.fork(strconv.FormatUint(at, 10), "--name", "second")
	if f.Seq != at || f.Hash != past[len(past)-1].Hash {
		t.Errorf("forked at %d %s, not at %d %s", f.Seq, f.Hash, at, past[len(past)-1].Hash)
	}
	sameTree(t, then, other.files())
	sameTree(t, now, o.files())
	forked := other.c.log(t)
	for i := range past {
		if forked[i].Hash != past[i].Hash || forked[i].Computer != o.c.computer {
			t.Fatalf("event %d is %s of %s", i+1, forked[i].Hash, forked[i].Computer)
		}
	}
	if first := forked[len(past)]; first.Type != "computer.forked" || first.Computer != f.ID || first.PrevHash != f.Hash {
		t.Errorf("the fork begins with %+v", first)
	}
	if e := lastOf(o.c.log(t), "timeline.forked"); !strings.Contains(string(e.Payload), string(f.ID)) {
		t.Errorf("the source says %s", e.Payload)
	}

	o.must("task", "--computer", "second", taskFile(t, shellTask("edit_repo", "p", "echo other > b.txt", noVerify)))
	sameTree(t, now, o.files())
	if got := other.c.file(t, "workspace/p/b.txt"); got != "other\n" {
		t.Errorf("the fork has %q", got)
	}
	for _, name := range []string{"second", "My computer"} {
		if out := o.must("log", "--verify", "--computer", name); !strings.Contains(out, "The log is whole") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func taskFile(t *testing.T, task string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "task.json")
	if err := os.WriteFile(path, []byte(task), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExportAndImport takes a computer from one data folder to another, and holds
// everything against what it was.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.add(t, "p", files{"a.txt": "one\n", "run.sh!": "#!/bin/sh\n", "key.txt": "plain\n"})
	o.ends(t, shellTask("edit_repo", "p", "echo two > a.txt; ln -s a.txt link; mkdir empty", noVerify), 0, choir.StatusOK, "")
	o.ends(t, shellTask("edit_repo", "p", "echo SECRET=$((40+2)) > .env; echo '-----BEGIN OPENSSH PRIVATE KEY-----' > note", noVerify), 0, choir.StatusOK, "")
	file := filepath.Join(t.TempDir(), "computer.choir")
	r := o.run("export", file)
	if r.code != 0 || !strings.Contains(r.errOut, "workspace/p/.env") || !strings.Contains(r.errOut, "workspace/p/note") {
		t.Fatalf("export: exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), "SECRET=42") {
		t.Fatalf("the key is in the file, or %v", err)
	}
	then := o.files()
	for path := range then {
		if strings.HasSuffix(path, "/.env") || strings.HasSuffix(path, "/note") {
			delete(then, path)
		}
	}
	past := o.c.log(t)
	if last := past[len(past)-1]; last.Type != "computer.exported" {
		t.Errorf("the log ends with %s", last.Type)
	}

	elsewhere := openOffice(t)
	var made api.Imported
	if err := json.Unmarshal([]byte(elsewhere.must("import", "--json", "--name", "came", file)), &made); err != nil {
		t.Fatal(err)
	}
	other := elsewhere.of(made.ID)
	other.awake()
	sameTree(t, then, other.files())
	came := other.c.log(t)
	for i := range past[:made.Seq] {
		if came[i].Hash != past[i].Hash {
			t.Fatalf("event %d is %s, was %s", i+1, came[i].Hash, past[i].Hash)
		}
	}
	if first := came[made.Seq]; first.Type != "computer.imported" || first.User == past[0].User {
		t.Errorf("it begins with %+v", first)
	}
	if out := elsewhere.must("log", "--verify", "--computer", "came"); !strings.Contains(out, "The log is whole") {
		t.Error(out)
	}
	if got := other.history("p"); got != o.history("p") {
		t.Errorf("git's history is %q", got)
	}
	if r := elsewhere.run("import", "--name", "came", file); r.code == 0 || !strings.Contains(r.errOut, "already") {
		t.Errorf("a taken name: %d %s", r.code, r.errOut)
	}
}

// TestChangesGoAcross works in a fork and takes what changed there over: all of
// it, a part, and not what both changed.
func TestChangesGoAcross(t *testing.T) {
	o := openOffice(t)
	o.add(t, "p", files{"a.txt": "one\n", "both.txt": "one\n", "ours.txt": "one\n", "gone.txt": "x\n"})
	_, other := o.fork("--name", "second")
	other.must("task", "--computer", "second", taskFile(t, shellTask("edit_repo", "p",
		"echo two > a.txt; echo two > both.txt; rm gone.txt; mkdir -p new/deep; echo new > new/deep/b.txt; echo KEY=1 > .env", noVerify)))
	o.ends(t, shellTask("edit_repo", "p", "echo three > both.txt; echo two > ours.txt; echo KEY=2 > .env", noVerify), 0, choir.StatusOK, "")
	mine, theirs := o.files(), other.files()

	out := o.must("diff", "--with", "second")
	for _, want := range []string{"workspace/p/a.txt", "workspace/p/new/deep/b.txt", "-one\n+two\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the difference lacks %q:\n%s", want, out)
		}
	}
	if r := o.run("take", "--from", "second"); r.code == 0 || !strings.Contains(r.errOut, "workspace/p/both.txt") {
		t.Errorf("a conflict: exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	o.must("take", "--from", "second", "--dry-run", "workspace/p/a.txt")
	sameTree(t, mine, o.files())

	o.must("take", "--from", "second", "workspace/p/new", "workspace/p/gone.txt", "workspace/p/a.txt")
	want := maps.Clone(mine)
	for _, path := range []string{"workspace/p/a.txt", "workspace/p/new", "workspace/p/new/deep", "workspace/p/new/deep/b.txt"} {
		want[path] = theirs[path]
	}
	delete(want, "workspace/p/gone.txt")
	got := o.files()
	want["workspace/p"] = got["workspace/p"] // it gained and lost names
	sameTree(t, want, got)
	sameTree(t, theirs, other.files())
	if e := lastOf(o.c.log(t), "changes.taken"); !strings.Contains(string(e.Payload), string(other.c.computer)) {
		t.Errorf("the log says %s", e.Payload)
	}
	// And the other way round: the fork takes what only the first changed.
	o.must("take", "--computer", "second", "--from", "My computer", "workspace/p/ours.txt")
	theirs["workspace/p/ours.txt"] = o.files()["workspace/p/ours.txt"]
	sameTree(t, theirs, other.files())
	if r := o.run("take", "--from", "second", "workspace/p/nothing"); r.code == 0 || !strings.Contains(r.errOut, "nothing changed at") {
		t.Errorf("a path that did not change: %d %s", r.code, r.errOut)
	}
	if r := o.run("take", "--from", "nobody"); r.code == 0 || !strings.Contains(r.errOut, `"second"`) {
		t.Errorf("a computer that is not there: %d %s", r.code, r.errOut)
	}
	if r := o.run("take", "--from", "My computer"); r.code != 2 {
		t.Errorf("from itself: %d %s", r.code, r.errOut)
	}
}

// TestForksAreRefusedWithAReason tries what cannot be forked or imported.
func TestForksAreRefusedWithAReason(t *testing.T) {
	o := openOffice(t)
	for _, c := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"fork"}, 2, "name"},
		{[]string{"fork", "0", "--name", "x"}, 2, "not an event's number"},
		{[]string{"fork", "999999", "--name", "x"}, 1, "there is no event 999999"},
		{[]string{"fork", "--name", "My computer"}, 1, "already"},
		{[]string{"fork", "--name", " x"}, 2, "name"},
		{[]string{"fork", "--name", "x\ny"}, 2, "name"},
		{[]string{"fork", "--name", "x", "--computer", "y"}, 1, "no computer \"y\""},
		{[]string{"import", "/nowhere"}, 1, "cannot read"},
		{[]string{"import", "/etc/passwd"}, 2, "not a file that choir export made"},
	} {
		if r := o.run(c.args...); r.code != c.exit || !strings.Contains(r.errOut, c.says) {
			t.Errorf("choir %v: exit code %d, want %d and %q\n%s", c.args, r.code, c.exit, c.says, r.errOut)
		}
	}
	left, err := filepath.Glob(filepath.Join(o.data, "computers", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	o.must("fork", "--name", "x", "--dry-run")
	if out := o.must("computers"); strings.Count(out, "\n") != 1 {
		t.Errorf("computers:\n%s", out)
	}
}

// TestAForkGoesBackIntoAPastWithKeys rewinds a fork to moments of the past it came
// with, at which there were files that stayed behind.
func TestAForkGoesBackIntoAPastWithKeys(t *testing.T) {
	o := openOffice(t)
	o.add(t, "p", files{"a.txt": "one\n"})
	o.ends(t, shellTask("edit_repo", "p", "echo two > a.txt; echo SECRET=$((40+2)) > .env; echo '-----BEGIN OPENSSH PRIVATE KEY-----' > note", noVerify), 0, choir.StatusOK, "")
	then := o.files()
	past := o.c.log(t)
	at := past[len(past)-1].Seq
	o.ends(t, shellTask("edit_repo", "p", "echo three > a.txt; rm .env note", noVerify), 0, choir.StatusOK, "")
	f, other := o.fork("--name", "second")
	if len(f.Withheld) > 0 {
		t.Errorf("withheld now: %v", f.Withheld)
	}
	other.must("rewind", "--computer", "second", strconv.FormatUint(at, 10))
	delete(then, "workspace/p/.env")
	delete(then, "workspace/p/note")
	sameTree(t, then, other.files())
	var known []choir.FileState
	if err := other.c.get(t.Context(), other.c.path("/files?limit=1000&prefix=workspace/p/"), &known); err != nil {
		t.Fatal(err)
	}
	for _, k := range known {
		if k.Path == "workspace/p/.env" || k.Path == "workspace/p/note" {
			t.Errorf("the log says that %s is there", k.Path)
		}
	}
	// And forward again, and what the task did taken back.
	head := other.c.log(t)
	other.must("rewind", "--computer", "second", strconv.FormatUint(head[len(head)-3].Seq, 10))
	sameTree(t, o.files(), other.files())
	if out := other.must("log", "--verify", "--computer", "second"); !strings.Contains(out, "The log is whole") {
		t.Error(out)
	}
}
