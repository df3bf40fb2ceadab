package moments

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
	"choiros/internal/visible"
)

// FileDiff is one changed path with its text diff, when both sides are text.
type FileDiff struct {
	choir.FileChange
	Diff   string `json:"diff,omitempty" doc:"Unified diff."`
	Binary bool   `json:"binary,omitempty" doc:"Not text, or too large to compare."`
}

// Bounds on a diff for people: files listed, bytes of one file and of all files
// compared. What is beyond is listed without its text.
const (
	maxDiffFiles = 1000
	maxDiffBytes = 256 << 10
	maxDiffTotal = 8 << 20
)

// TextDiff calls the function TextDiff with the keeper of the computer.
func (ms *Moments) TextDiff(ctx context.Context, d workspace.Difference) (files []FileDiff, cut bool, err error) {
	return TextDiff(ctx, ms.keeper, d)
}

// TextDiff converts the difference of two trees to text diffs for people. It leaves out
// paths in .git; cut reports that the list was truncated.
func TextDiff(ctx context.Context, keeper *snapshot.Keeper, d workspace.Difference) (files []FileDiff, cut bool, err error) {
	return TextDiffOf(ctx, keeper, d.Changes, workspace.IsShown)
}

// TextDiffOf converts those of a list of changes that are shown to text diffs for people; cut
// reports that the list was truncated. Where a path gets another kind or other permissions the
// diff begins with git's words for that, so that a link does not look like a file with its
// target as text.
func TextDiffOf(ctx context.Context, keeper *snapshot.Keeper, changes []snapshot.Change, shown func(*snapshot.Change) bool) (files []FileDiff, cut bool, err error) {
	files = []FileDiff{}
	total := 0
	for i := range changes {
		ch := &changes[i]
		if !shown(ch) {
			continue
		}
		if len(files) == maxDiffFiles {
			return files, true, nil
		}
		f, compared, err := diffOf(ctx, keeper, ch, total > maxDiffTotal)
		if err != nil {
			return nil, false, err
		}
		total += compared
		files = append(files, f)
	}
	return files, false, nil
}

// diffOf converts one change, without its text if that is to be left out, and returns how many
// bytes were compared.
func diffOf(ctx context.Context, keeper *snapshot.Keeper, ch *snapshot.Change, noText bool) (f FileDiff, compared int, err error) {
	f = FileDiff{FileChange: choir.FileChange{Path: ch.Path, Change: ch.Kind, From: ch.From}}
	from, to := notFolder(ch.Before), notFolder(ch.After)
	switch { // a file in the place of a folder is added, whatever was in that
	case from == nil:
		f.Change = choir.ChangeAdded
	case to == nil:
		f.Change = choir.ChangeDeleted
	}
	// On one line, so that a name cannot be read as lines of a diff.
	was, is := visible.Line(cmp.Or(ch.From, ch.Path)), visible.Line(ch.Path)
	f.Diff = modeLines(was, is, from, to)
	if noText {
		f.Binary = true
		return f, 0, nil
	}
	before, okBefore, err := sideText(ctx, keeper, from)
	if err != nil {
		return f, 0, err
	}
	after, okAfter, err := sideText(ctx, keeper, to)
	if err != nil {
		return f, 0, err
	}
	if f.Binary = !okBefore || !okAfter; !f.Binary {
		text := udiff.Unified("a/"+was, "b/"+is, before, after)
		if text == "" && f.Diff != "" { // only these say where a name with a space ends
			text = "--- a/" + was + "\n+++ b/" + is + "\n"
		}
		f.Diff += text
	} else if f.Diff != "" {
		f.Diff += "Binary files differ\n"
	}
	return f, len(before) + len(after), nil
}

// notFolder returns an entry, or nil for a folder.
func notFolder(e *snapshot.Entry) *snapshot.Entry {
	if workspace.IsFolder(e) {
		return nil
	}
	return e
}

// modeLines returns the head of git's diff for a path whose kind or permissions change, or that
// is new and no plain file; empty for others.
func modeLines(was, is string, before, after *snapshot.Entry) string {
	head := fmt.Sprintf("diff --git a/%s b/%s\n", was, is)
	switch {
	case before == nil && after != nil && (after.Kind != snapshot.File || after.Mode&^0o666 != 0):
		return head + "new file mode " + gitMode(after) + "\n"
	case before != nil && after != nil && gitMode(before) != gitMode(after):
		return head + "old mode " + gitMode(before) + "\nnew mode " + gitMode(after) + "\n"
	}
	return ""
}

// gitMode returns the mode of an entry as git writes it, but with all of its permissions.
func gitMode(e *snapshot.Entry) string {
	switch e.Kind {
	case snapshot.Symlink:
		return "120000"
	case snapshot.Fifo:
		return "010" + fmt.Sprintf("%03o", e.Mode)
	}
	return fmt.Sprintf("10%04o", e.Mode)
}

// sideText returns the text of one side of a diff; ok is false for binary or too large
// content.
func sideText(ctx context.Context, keeper *snapshot.Keeper, e *snapshot.Entry) (text string, ok bool, err error) {
	switch {
	case e == nil:
		return "", true, nil
	case e.Kind == snapshot.Symlink:
		return e.Target + "\n", true, nil
	case e.Kind != snapshot.File || e.Size > maxDiffBytes:
		return "", false, nil
	}
	r, err := keeper.Content(ctx, e.Digest())
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	// The size is the guest's word.
	raw, err := io.ReadAll(io.LimitReader(r, maxDiffBytes+1))
	if len(raw) > maxDiffBytes {
		return "", false, err
	}
	if err != nil || !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return "", false, err
	}
	return string(raw), true, nil
}
