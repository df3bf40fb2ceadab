package taskrunner_test

import (
	"os"
	"testing"

	"choiros/internal/choir"
)

// A task that is to begin in a copy works in the project where none can be made.
func TestATaskOfWhatCannotBeCopiedWorksInTheProject(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "before\n"})
	if err := os.WriteFile(l.copies, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.tree.aside = true
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: sh("echo after > a"), VerifyProfile: unverified})
	if r.Status != choir.StatusOK || l.read("workspace/app/a") != "after\n" || l.tree.uncopied != 1 || r.Checkpoint == nil {
		t.Errorf("%s %s; it has %q, and was begun uncopied %d times", r.Status, r.Summary, l.read("workspace/app/a"), l.tree.uncopied)
	}
}
