package computer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// Level is the isolation of a role's sandbox; running is false without one.
func (c *Computer) Level(role choir.Role) (level sandbox.Level, running bool) {
	return c.seats[role].level()
}

// PublicKey verifies what the role signs; empty for a role that signs nothing.
func (c *Computer) PublicKey(role choir.Role) string {
	s := c.seats[role]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

// ReadTask decodes a DirectorTask strictly; a person may leave out version,
// task_id and run_id.
func (c *Computer) ReadTask(raw []byte) (choir.DirectorTask, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return choir.DirectorTask{}, choir.Invalid("$", "is not a JSON object: %v", err)
	}
	ids, err := c.NewTask(choir.DirectorTask{})
	if err != nil {
		return ids, err
	}
	for name, value := range map[string]any{"version": ids.Version, "task_id": ids.TaskID, "run_id": ids.RunID} {
		if _, given := members[name]; given {
			continue
		}
		if members[name], err = json.Marshal(value); err != nil {
			return ids, choir.Wrap("computer.task", choir.CodeInternal, err, "encode %s", name)
		}
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return ids, choir.Wrap("computer.task", choir.CodeInternal, err, "encode the task")
	}
	var task choir.DirectorTask
	return task, choir.DecodeStrict(whole, &task)
}

// Document is one version of a document with its content, the newest for -1.
func (c *Computer) Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error) {
	d, err := c.store.Document(ctx, id, version)
	if err != nil || d.Blob == "" {
		return d, err
	}
	content, err := blob.ReadAll(ctx, c.blobs, d.Blob, 16<<20)
	d.Content = string(content)
	return d, err
}

// FileDiff is one changed path with its text diff, when both sides are text.
type FileDiff struct {
	choir.FileChange
	Diff   string `json:"diff,omitempty" doc:"Unified diff."`
	Binary bool   `json:"binary,omitempty" doc:"Not text, or too large to compare."`
}

// Bounds on a diff for people: files listed, bytes of one file compared.
const (
	maxDiffFiles = 1000
	maxDiffBytes = 256 << 10
)

// TextDiff turns a difference into what people read. Paths in .git are left
// out; cut says that the list was too long.
func (c *Computer) TextDiff(ctx context.Context, d Difference) (files []FileDiff, cut bool, err error) {
	files = []FileDiff{}
	for i := range d.Changes {
		ch := &d.Changes[i]
		if ch.Path == "" || inGit(ch.Path) || ch.TimeOnly() || isDir(ch.Before) || isDir(ch.After) {
			continue
		}
		if len(files) == maxDiffFiles {
			return files, true, nil
		}
		f := FileDiff{FileChange: choir.FileChange{Path: ch.Path, Change: ch.Kind, From: ch.From}}
		before, okBefore, err := c.sideText(ctx, ch.Before)
		if err != nil {
			return nil, false, err
		}
		after, okAfter, err := c.sideText(ctx, ch.After)
		if err != nil {
			return nil, false, err
		}
		if f.Binary = !okBefore || !okAfter; !f.Binary {
			from := ch.Path
			if ch.From != "" {
				from = ch.From
			}
			f.Diff = udiff.Unified("a/"+from, "b/"+ch.Path, before, after)
		}
		files = append(files, f)
	}
	return files, false, nil
}

func isDir(e *snapshot.Entry) bool { return e != nil && e.Kind == snapshot.Dir }

// sideText is one side of a diff; ok is false when it is not text.
func (c *Computer) sideText(ctx context.Context, e *snapshot.Entry) (text string, ok bool, err error) {
	switch {
	case e == nil:
		return "", true, nil
	case e.Kind == snapshot.Symlink:
		return e.Target + "\n", true, nil
	case e.Kind != snapshot.File || e.Size > maxDiffBytes:
		return "", false, nil
	}
	r, err := c.keeper.Content(ctx, e.Digest())
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil || !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return "", false, err
	}
	return string(raw), true, nil
}
