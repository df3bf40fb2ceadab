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

// Receipt returns the receipt of the event, not marked as a duplicate.
func (f *First) Receipt() Receipt { return Receipt{Seq: f.Seq, ID: f.ID, Hash: f.Hash} }

// FirstOf returns the event that a refused append collided with, from the error of the
// append; nil if the error names none.
func FirstOf(err error) *First {
	for e := new(Error); errors.As(err, &e); err = e.Err {
		if e.First != nil {
			return e.First
		}
	}
	return nil
}

// AppendFunc appends drafts, all or none, and returns their receipts in the order of the
// drafts.
type AppendFunc func(ctx context.Context, drafts ...Draft) ([]Receipt, error)

// AppendAs appends the drafts of a source with add. If a draft's id belongs to an event
// of another source or type, it retries with an id from fresh and updates the Cause of
// the other drafts that name the old id, so that nobody can block an event by using its
// id. Every other error is returned unchanged, with the index of the draft that it is
// about: also the conflict with this source's own event of an earlier execution, or with
// the one event that TypeInfo.Once allows.
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

// draftIndex returns the index i of the draft in an error's path "drafts[i]"; 0 if the
// path names none of the n drafts.
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

// Says reports whether the event has this source and type.
func (f *First) Says(source Source, t Type) bool { return f.Source == source && f.Type == t }
