package conductor

import (
	"context"

	"choiros/internal/choir"
)

// madeInput names what the user asked for: a file of the workspace, or a document of the
// Director's own words.
type madeInput struct {
	Path  string `json:"path,omitempty" choir:"len=0..4096"`
	Title string `json:"title,omitempty" choir:"len=0..200"`
	Text  string `json:"text,omitempty" choir:"len=0..200000"`
}

// checkMade returns the mistake in what an answer names as made, nil for none: it is either
// a file that there is after the last task, or a title with a text.
func (r *run) checkMade(ctx context.Context, in *madeInput) (mistake, err error) {
	switch {
	case in == nil:
		return nil, nil
	case r.rec.prompt.Proposal != nil:
		return choir.Invalid("", "is not for an answer that is proposed over a document"), nil
	case in.Path != "" && in.Text != "":
		return choir.Invalid("path", "and text exclude each other"), nil
	case in.Text != "" && in.Title == "":
		return choir.Invalid("title", "is required with a text"), nil
	case in.Text != "":
		return nil, nil
	case in.Path == "":
		return choir.Invalid("path", "is required, or title and text"), nil
	}
	req := choir.LookRequest{Run: r.rec.run, What: choir.LookRead, Path: in.Path, From: 1, Lines: 1}
	last := r.evidence.resultOf("")
	if last != nil {
		req.Task = last.task.TaskID
	}
	_, err = r.cfg.Log.LookAtWorkspace(ctx, req)
	switch code := choir.CodeOf(err); {
	case code == choir.CodeInvalid:
		return choir.Under("path", err), nil
	case code == choir.CodeNotFound && last == nil:
		return choir.Invalid("path", "cannot be looked up: no snapshot of the workspace from before the run is kept; give title and text, or find the file by a task"), nil
	case code == choir.CodeNotFound, code == choir.CodeCorrupt:
		return nil, nil // the snapshot is no longer kept; the file may be there all the same
	}
	return nil, err
}

// madeEffect returns the effect that makes the document that was asked for, and notes in
// done what was made; none if the answer names no document.
func (r *run) madeEffect(done *choir.RunFinished) ([]effect, error) {
	m := r.made
	if m == nil || done.Outcome != choir.OutcomeDone {
		return nil, nil
	}
	if m.Path != "" {
		done.File = m.Path
		return nil, nil
	}
	done.Document = r.ledger.id("made")
	created := &choir.DocumentCreated{Document: done.Document, Title: m.Title, Content: m.Text}
	raw, err := choir.Canonical(created)
	if err == nil && len(raw) > choir.InlineLimit {
		created.Blob, err = r.ledger.log.PutBlob(r.ledger.life, []byte(m.Text))
		created.Content = ""
	}
	return []effect{{id: r.ledger.eventID(choir.TypeDocumentCreated, "made"), cause: r.rec.cause, payload: created}}, err
}
