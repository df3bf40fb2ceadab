package moments

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
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
	files = []FileDiff{}
	total := 0
	for i := range d.Changes {
		ch := &d.Changes[i]
		if !workspace.IsShown(ch) {
			continue
		}
		if len(files) == maxDiffFiles {
			return files, true, nil
		}
		f := FileDiff{FileChange: choir.FileChange{Path: ch.Path, Change: ch.Kind, From: ch.From}}
		if total > maxDiffTotal {
			f.Binary = true
			files = append(files, f)
			continue
		}
		before, okBefore, err := sideText(ctx, keeper, ch.Before)
		if err != nil {
			return nil, false, err
		}
		after, okAfter, err := sideText(ctx, keeper, ch.After)
		if err != nil {
			return nil, false, err
		}
		total += len(before) + len(after)
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
