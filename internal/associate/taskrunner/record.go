package taskrunner

import (
	"context"
	"crypto/rand"

	"choiros/internal/choir"
)

// record appends the events of one task, and stores what is too large for them.
type record struct {
	life  context.Context // of the process; what the task did is recorded after its budget too
	event choir.Event     // task.dispatched
	log   Log
	blobs Blobs
	now   func() choir.Time
}

// appendEvents appends events of the task. Their ids are derived from the task's id; an
// id that another role's event already has is replaced by a fresh one.
func (r *record) appendEvents(drafts ...choir.Draft) error {
	fresh := func(*choir.First) (choir.ID, error) { return choir.NewID(r.now(), rand.Reader) }
	_, _, err := choir.AppendAs(r.life, choir.SourceAssociate, drafts, fresh, r.log.Append)
	return err
}

// mine returns the draft with the task's run, task id and cause filled in.
func (r *record) mine(d choir.Draft) choir.Draft {
	return d.ForRun(r.event.Run, r.event.Task).CausedBy(r.event.ID)
}

// storeBlob stores content as a blob and returns its digest, "" for empty content.
func (r *record) storeBlob(content []byte) (choir.Digest, error) {
	if len(content) == 0 {
		return "", nil
	}
	return r.blobs.PutBlob(r.life, content)
}

// recordProgress appends a progress event with a text for people. An event with its id of
// an earlier attempt is kept.
func (r *record) recordProgress(id choir.ID, text string) error {
	d, err := choir.NewDraft(id, choir.TaskProgressed{Kind: "progress", Text: text})
	if err != nil {
		return err
	}
	err = r.appendEvents(r.mine(d))
	if first := choir.FirstOf(err); first != nil && first.Says(choir.SourceAssociate, d.Type) {
		return nil
	}
	return err
}
