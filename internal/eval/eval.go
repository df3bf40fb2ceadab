// Package eval reads sets of tasks whose results are checked by a hidden check, and reports how many an
// agent solved and what it used. It runs nothing itself: cmd/choir does that in sandboxes.
package eval

import (
	"time"

	"choiros/internal/choir"
)

// Task is a prompt about a project, with a check that the agent never sees.
type Task struct {
	// Name identifies the task and is the name of its project.
	Name     string
	Language string
	Prompt   string
	// Base reads the project before the run; nil if it comes from Clone.
	Base func() (Tree, error)
	// Clone is the project's place in a git repository; nil if Base has it.
	Clone *Clone
	// Hidden returns the files that are put over a result of the project before the check runs.
	Hidden func(base Tree) (Tree, error)
	// Check is the command line for sh that exits with 0 only if the task is solved.
	Check string
	// Limit and CheckLimit bound the run and one execution of the check.
	Limit, CheckLimit time.Duration
}

// Clone is a commit in a git repository of this machine: a folder, or a bundle file.
type Clone struct {
	Path   string
	Commit string
}

// The limits of a task that names none.
const (
	DefaultLimit      = 30 * time.Minute
	DefaultCheckLimit = 5 * time.Minute
)

// checkTask returns an error with code invalid for a task that cannot be run.
func checkTask(t *Task) error {
	switch {
	case !choir.ValidRepoName(t.Name):
		return choir.RefuseField("name", choir.ReasonEvalName, choir.TextOf("given", t.Name))
	case t.Prompt == "":
		return choir.RefuseField("prompt", choir.ReasonEvalNoPrompt, choir.TextOf("name", t.Name))
	case t.Check == "":
		return choir.RefuseField("check", choir.ReasonEvalNoCheck, choir.TextOf("name", t.Name))
	}
	return nil
}
