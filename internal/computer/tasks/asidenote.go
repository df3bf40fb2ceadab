package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
)

// asideFolder is the folder with the notes of results that are being held, in the computer's folder.
const asideFolder = "aside"

// asideNote is on disk from before a task is rolled back for its owner's approval until the log
// has its result: the workspace alone has the work by then, and loses it.
type asideNote struct {
	// Held is the event with the result; nil for a failed task, of which nothing is to stay.
	Held *choir.Draft `json:"held"`
}

// asideNotes are the notes of one computer's tasks, a file for each.
type asideNotes struct{ dir string }

func (n asideNotes) path(task choir.ID) string { return filepath.Join(n.dir, string(task)+".json") }

// write writes the note of a task durably.
func (n asideNotes) write(task choir.ID, note asideNote) error {
	raw, err := json.Marshal(note)
	if err == nil {
		err = os.MkdirAll(n.dir, 0o700)
	}
	if err == nil {
		err = durablefile.SyncFolder(filepath.Dir(n.dir))
	}
	if err == nil {
		err = durablefile.Write(n.path(task), raw)
	}
	if errors.Is(err, durablefile.ErrReplaced) {
		err = errors.Join(err, n.drop(task))
	}
	return choir.Wrap("computer.aside", choir.CodeUnavailable, err, "note the result of task %s", task)
}

// read returns the note of a task; nil for none.
func (n asideNotes) read(task choir.ID) (*asideNote, error) {
	raw, err := os.ReadFile(n.path(task))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var note asideNote
	if err == nil {
		err = json.Unmarshal(raw, &note)
	}
	return &note, choir.Wrap("computer.aside", choir.CodeUnavailable, err, "read the result of task %s", task)
}

// drop removes the note of a task, which need not be there.
func (n asideNotes) drop(task choir.ID) error {
	if _, err := os.Lstat(n.path(task)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fault.Point("computer.aside.remove")
	return choir.Wrap("computer.aside", choir.CodeUnavailable, durablefile.Remove(n.path(task)), "forget the result of task %s", task)
}

// tasks returns the tasks that have a note.
func (n asideNotes) tasks() (ids []choir.ID, err error) {
	entries, err := os.ReadDir(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && !durablefile.Unfinished(e.Name()) {
			ids = append(ids, choir.ID(id))
		}
	}
	return ids, choir.Wrap("computer.aside", choir.CodeUnavailable, err, "list the results that are being held")
}

// FinishAside ends what TakeAside began for a task and a crash or an error cut off: it rolls the
// task back and appends its result as held. It reports whether it appended that.
func (c *Changes) FinishAside(ctx context.Context, id choir.ID) (held bool, err error) {
	if note, err := c.notes.read(id); note == nil || err != nil {
		return false, err
	}
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return false, err
	}
	defer unlock()
	_, held, err = c.finishAside(ctx, &t)
	return held, err
}

// finishAside is FinishAside for a started task, by a caller that holds the tree's lock. found
// reports whether there was something to end.
func (c *Changes) finishAside(ctx context.Context, t *eventstore.Task) (found, held bool, err error) {
	note, err := c.notes.read(t.ID)
	if note == nil || err != nil {
		return false, false, err
	}
	held, err = c.carryOutAside(ctx, t, *note)
	return true, held, err
}

// carryOutAside does what the note of a task says, which may be done in part, and drops it. It goes
// on when the caller has gone.
func (c *Changes) carryOutAside(ctx context.Context, t *eventstore.Task, note asideNote) (held bool, err error) {
	ctx = context.WithoutCancel(ctx)
	if _, err = c.rollbacks.rollBack(ctx, t, nil); err != nil {
		if choir.CodeOf(err) == choir.CodeCorrupt { // the workspace is as the task left it
			err = errors.Join(err, c.notes.drop(t.ID))
		}
		return false, err
	}
	if note.Held != nil {
		if _, err = c.events.AppendAs(ctx, choir.RoleControl, *note.Held); err != nil {
			return false, err
		}
	}
	return note.Held != nil, c.notes.drop(t.ID)
}

// KeepsTree reports whether a result is being held to whose tree no event leads yet. It drops the
// notes of tasks that are held or have their answer.
func (c *Changes) KeepsTree(ctx context.Context) (bool, error) {
	ids, err := c.notes.tasks()
	if err != nil {
		return false, err
	}
	keeps := false
	for _, id := range ids {
		switch _, err := c.history.startedTask(ctx, id); choir.CodeOf(err) {
		case "":
			keeps = true
		case choir.CodeConflict, choir.CodeNotFound:
			if err := c.notes.drop(id); err != nil {
				return false, err
			}
		default:
			return false, err
		}
	}
	return keeps, nil
}
