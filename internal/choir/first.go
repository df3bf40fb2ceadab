package choir

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// First names the event that an append collided with: it has the draft's id and
// says something else, or is the one event of its type about the subject.
type First struct {
	Seq    uint64 `json:"seq" doc:"Place in the computer's log, from 1, without gaps."`
	ID     ID     `json:"id" doc:"UUIDv7 of the event."`
	Hash   Digest `json:"hash" doc:"Hash of the event."`
	Type   Type   `json:"type" doc:"What happened."`
	Source Source `json:"source" doc:"Where it comes from."`
}

// Receipt acknowledges the event.
func (f *First) Receipt() Receipt { return Receipt{Seq: f.Seq, ID: f.ID, Hash: f.Hash} }

// FirstOf finds the event that a refused append collided with; nil when the error
// is of another kind.
func FirstOf(err error) *First {
	for e := new(Error); errors.As(err, &e); err = e.Err {
		if e.First != nil {
			return e.First
		}
	}
	return nil
}

// AppendFunc appends drafts, all or none.
type AppendFunc func(ctx context.Context, drafts ...Draft) ([]Receipt, error)

// AppendAs appends the drafts of a source. A draft whose id is held by an event
// of another source or type gets the id that fresh gives, so that nobody can keep
// an event out of the log by the use of its id; drafts of the same append that
// name it as their cause name the new one. Any other refusal is returned as it
// is, among them the conflict with an event that is the draft's own from an
// earlier execution or the only one of its type about the subject: its index is
// that of the draft.
func AppendAs(ctx context.Context, source Source, drafts []Draft, fresh func(taken *First) (ID, error), add AppendFunc) (receipts []Receipt, index int, err error) {
	for {
		receipts, err := add(ctx, drafts...)
		first := FirstOf(err)
		if first == nil {
			return receipts, 0, err
		}
		i := draftIndex(err, len(drafts))
		if first.ID != drafts[i].ID || first.Says(source, drafts[i].Type) {
			return nil, i, err
		}
		id, ferr := fresh(first)
		if ferr != nil {
			return nil, i, ferr
		}
		for k := range drafts {
			if drafts[k].Cause == drafts[i].ID {
				drafts[k].Cause = id
			}
		}
		drafts[i].ID = id
	}
}

// draftIndex is the draft that the path of an error names.
func draftIndex(err error, n int) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	text, ok := strings.CutPrefix(e.Path, "drafts[")
	number, _, closed := strings.Cut(text, "]")
	if i, err := strconv.Atoi(number); ok && closed && err == nil && i >= 0 && i < n {
		return i
	}
	return 0
}

// Says reports whether the event is of a source and a type.
func (f *First) Says(source Source, t Type) bool { return f.Source == source && f.Type == t }
