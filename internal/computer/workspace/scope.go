package workspace

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// Scope is the part of the tree that a task can change: a folder, or the whole tree when
// it is empty.
type Scope string

// Holds reports whether a path of the tree lies in the scope, or is its folder.
func (s Scope) Holds(path string) bool {
	return s == "" || path == string(s) || Below(path, []string{string(s)})
}

// Overlaps reports whether two tasks with these scopes could change the same path.
func (s Scope) Overlaps(other Scope) bool {
	return s == "" || other == "" || s.Holds(string(other)) || other.Holds(string(s))
}

// Within returns the changes in the scope. A rename across its edge counts as a removal
// and an addition.
func (s Scope) Within(changes []snapshot.Change) []snapshot.Change {
	in, _ := s.split(changes)
	return in
}

// split divides changes into those in the scope and all others.
func (s Scope) split(changes []snapshot.Change) (in, out []snapshot.Change) {
	outside := func(ch snapshot.Change) bool { return !s.Holds(ch.Path) || ch.From != "" && !s.Holds(ch.From) }
	if !slices.ContainsFunc(changes, outside) {
		return changes, nil
	}
	for _, ch := range snapshot.Apart(changes) {
		if s.Holds(ch.Path) {
			in = append(in, ch)
		} else {
			out = append(out, ch)
		}
	}
	return in, out
}

// Scope returns what a task can change: its project, where the sandbox keeps its
// commands in there, else everything; nil is no task. A task in a worktree can change nothing
// of the tree: its scope has a name that no path has.
func (t *tree) Scope(task *eventstore.Task) Scope {
	if task != nil && task.InWorktree() {
		return Scope("//worktree/" + string(task.ID))
	}
	if task == nil || task.Task.Repo == "" || !t.Confines() {
		return ""
	}
	return Scope("workspace/" + task.Task.Repo)
}

// Confines reports whether the sandbox keeps the commands of a task in its folder.
func (t *tree) Confines() bool { return t.cfg.Confines != nil && t.cfg.Confines() }

// part is the changes that one author made.
type part struct {
	changes []snapshot.Change
	role    choir.Role       // appends their events
	task    *eventstore.Task // nil if no task made them
	cause   choir.ID
}

// divide divides changes by who can have made them: the task, within its scope, with a
// cause; the other tasks at work, each within its own scope; the owner; and anybody, for
// changes of no more than a mode. A nil task is nobody's and has no scope.
func (t *tree) divide(ctx context.Context, changes []snapshot.Change, task *eventstore.Task, cause choir.ID) ([]part, error) {
	mine, rest := t.Scope(task).split(changes)
	parts, rest, err := t.ofOthers(ctx, rest, task)
	if err != nil {
		return nil, err
	}
	var owner, modes []snapshot.Change
	for _, ch := range rest {
		if bareMode(ch) {
			modes = append(modes, ch)
		} else {
			owner = append(owner, ch)
		}
	}
	return append([]part{{mine, choir.RoleControl, task, cause}}, append(parts,
		part{changes: owner, role: choir.RoleCLI}, part{changes: modes, role: choir.RoleControl})...), nil
}

// ofOthers returns the changes in the scopes of the tasks at work other than task, and the
// rest, without changes of no more than a time.
func (t *tree) ofOthers(ctx context.Context, changes []snapshot.Change, task *eventstore.Task) (parts []part, rest []snapshot.Change, err error) {
	for _, ch := range changes {
		if ch.Path != "" && !ch.TimeOnly() {
			rest = append(rest, ch)
		}
	}
	if len(rest) == 0 {
		return nil, nil, nil
	}
	atWork, err := t.TasksAtWork(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range atWork {
		other := &atWork[i]
		scope := t.Scope(other)
		if task != nil && other.ID == task.ID || scope == "" {
			continue // nothing works beside a task of the whole tree
		}
		var theirs []snapshot.Change
		if theirs, rest = scope.split(rest); len(theirs) > 0 {
			parts = append(parts, part{changes: theirs, role: choir.RoleControl, task: other})
		}
	}
	return parts, rest, nil
}

// bareMode reports whether only mode and time of a path changed.
func bareMode(ch snapshot.Change) bool {
	if ch.Before == nil || ch.After == nil {
		return false
	}
	before := *ch.Before
	before.Mode, before.MTime = ch.After.Mode, ch.After.MTime
	if before.Kind == snapshot.Dir {
		before.Sum = ch.After.Sum // what is in a folder is changes of their own
	}
	return before == *ch.After
}

// withoutScope returns a task that is known by no more than its ids.
func withoutScope(task *eventstore.Task) *eventstore.Task {
	if task == nil {
		return nil
	}
	return &eventstore.Task{ID: task.ID, Run: task.Run}
}
