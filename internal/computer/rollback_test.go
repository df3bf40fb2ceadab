package computer

import (
	"slices"
	"testing"

	"choiros/internal/choir"
)

// hold keeps a task's command running until the test makes the file "go".
const hold = "while [ ! -e /tmp/go ]; do sleep 0.02; done"

func TestARollbackKeepsWhatTheOwnerWrote(t *testing.T) {
	l := newLab(t)
	l.write("a/kept.txt", "before\n")
	l.write("a/both.txt", "before\n")
	l.write("a/task.txt", "before\n")
	l.write("a/over.txt", "before\n")
	task := l.commands(choir.TaskEditRepo,
		"cd a; echo task > both.txt; echo task > task.txt; echo new > new.txt; rm -f over.txt; touch /tmp/begun; "+hold+"; echo late > over.txt; echo late > a2.txt; exit 1")
	l.made("/tmp/begun")
	l.write("a/kept.txt", "owner\n")
	l.write("a/both.txt", "owner\n")
	l.write("a/over.txt", "owner\n")
	l.write("mine/deep/x.txt", "owner\n")
	l.sh("touch /tmp/go")
	r := l.result(task)
	if r.Status != choir.StatusFailed || r.Code != choir.ResultCommandFailed {
		t.Fatalf("got %s %s: %s", r.Status, r.Code, r.Summary)
	}
	if want := []string{"a/both.txt", "a/over.txt"}; !slices.Equal(r.Conflicts, want) {
		t.Errorf("conflicts %q, want %q", r.Conflicts, want)
	}
	got := l.sh("cat a/kept.txt a/both.txt a/task.txt a/over.txt mine/deep/x.txt; ls a")
	if want := "owner\nowner\nbefore\nowner\nowner\nboth.txt\nkept.txt\nover.txt\ntask.txt\n"; got != want {
		t.Errorf("the workspace has\n%swant\n%s", got, want)
	}
	owner, others := l.writersSince(task)
	if want := []string{"a/both.txt", "a/kept.txt", "a/over.txt", "mine", "mine/deep", "mine/deep/x.txt"}; !slices.Equal(owner, want) {
		t.Errorf("the log says that the owner wrote %q, want %q", owner, want)
	}
	if want := []string{"a/a2.txt", "a/both.txt", "a/new.txt", "a/over.txt", "a/task.txt"}; !slices.Equal(slices.DeleteFunc(others, func(p string) bool { return p == "a/a2.txt" }), want[1:]) {
		t.Errorf("the log says that the task wrote %q, want %q", others, want)
	}
}

// writersSince are the paths in the log's file events since a task began, the
// owner's and the task's.
func (l *lab) writersSince(task choir.DirectorTask) (owner, others []string) {
	l.t.Helper()
	begun := l.waitEvent(ofType("task.started"))
	for _, e := range l.all("file.written", "file.removed") {
		if e.Seq < begun.Seq {
			continue
		}
		paths := payload[choir.FileRemoved](l.t, e).Paths
		for _, f := range payload[choir.FileWritten](l.t, e).Files {
			paths = append(paths, f.Path)
		}
		if e.Source == choir.SourceUser {
			owner = append(owner, paths...)
		} else if e.Task == task.TaskID {
			others = append(others, paths...)
		}
	}
	slices.Sort(owner)
	slices.Sort(others)
	return slices.Compact(owner), slices.Compact(others)
}
