package main

import (
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
)

// TestEvalCountsTheChecksOfALaterTask: a step that is done again with a better check has its change verified by it.
func TestEvalCountsTheChecksOfALaterTask(t *testing.T) {
	t.Parallel()
	task := func(step string, status choir.Status, verify choir.VerifyStatus, files ...choir.FileChange) eventstore.Task {
		return eventstore.Task{Step: step, Result: &choir.AssociateResult{Status: status, FilesChanged: files, Verify: choir.VerifyOutcome{Status: verify}}}
	}
	change := choir.FileChange{Path: "main.go", Change: "modified"}
	unproved := task("a", choir.StatusOK, choir.VerifyUnknown, change)
	for name, c := range map[string]struct {
		tasks []eventstore.Task
		want  bool
	}{
		"nothing was changed":                {[]eventstore.Task{task("a", choir.StatusOK, choir.VerifyPass)}, false},
		"its own checks pass":                {[]eventstore.Task{task("a", choir.StatusOK, choir.VerifyPass, change)}, true},
		"its own checks prove nothing":       {[]eventstore.Task{unproved}, false},
		"those of a later task pass":         {[]eventstore.Task{unproved, task("a", choir.StatusOK, choir.VerifyPass)}, true},
		"those of a later task fail":         {[]eventstore.Task{unproved, task("a", choir.StatusFailed, choir.VerifyPass)}, false},
		"those of another step pass":         {[]eventstore.Task{unproved, task("b", choir.StatusOK, choir.VerifyPass)}, false},
		"a later change is not verified":     {[]eventstore.Task{task("a", choir.StatusOK, choir.VerifyPass, change), unproved}, false},
		"a task is still at work afterwards": {[]eventstore.Task{task("a", choir.StatusOK, choir.VerifyPass, change), {Step: "a"}}, true},
	} {
		if said, verified := claimOf(api.RunView{Run: eventstore.Run{State: eventstore.RunDone}, Tasks: c.tasks}); said != "done" || verified != c.want {
			t.Errorf("%s: said %s, verified %v", name, said, verified)
		}
	}
}
