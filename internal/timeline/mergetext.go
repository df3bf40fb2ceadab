package timeline

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/snapshot"
)

// maxMergeBytes is the maximal size of a text file that is merged by lines. Larger files
// are conflicts.
const maxMergeBytes = 1 << 20

// text merges three versions of a file by lines. ok is false for a conflict and for
// content that is not text.
func (m *merge) text(base, theirs, ours *snapshot.Entry) (merged string, ok bool, err error) {
	var sides [3]string
	for i, e := range []*snapshot.Entry{base, theirs, ours} {
		if sides[i], ok, err = m.read(e); err != nil || !ok {
			return "", false, err
		}
	}
	merged, ok = mergeLines(sides[0], sides[1], sides[2])
	return merged, ok, nil
}

func (m *merge) read(e *snapshot.Entry) (text string, ok bool, err error) {
	if e.Size > maxMergeBytes {
		return "", false, nil
	}
	r, err := m.keeper.Content(m.ctx, e.Digest())
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	// The size is the guest's word.
	raw, err := io.ReadAll(io.LimitReader(r, maxMergeBytes+1))
	if err != nil {
		return "", false, err
	}
	return string(raw), len(raw) <= maxMergeBytes && utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0, nil
}

// mergeLines applies the line changes of both sides to base. ok is false if changes of
// both sides overlap or touch without being the same, because then nothing determines
// their order.
func mergeLines(base, theirs, ours string) (merged string, ok bool) {
	x, y := udiff.Lines(base, theirs), udiff.Lines(base, ours)
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			i, j = i+1, j+1
		case x[i].End < y[j].Start:
			i++
		case y[j].End < x[i].Start:
			j++
		default:
			return "", false
		}
	}
	edits, ok := udiff.Merge(x, y)
	if !ok {
		return "", false
	}
	merged, err := udiff.Apply(base, edits)
	return merged, err == nil
}
