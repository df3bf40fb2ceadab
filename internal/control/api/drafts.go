package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
)

// At most typingBurst changes of drafts of one computer within typingSpan. A page sends
// a few per second during typing.
const (
	typingBurst = 1200
	typingSpan  = time.Minute
)

// deskDrafts is the part of a desk with which the API stores and removes drafts.
type deskDrafts interface {
	Drafts(ctx context.Context) ([]drafts.Draft, error)
	Draft(ctx context.Context, app, subject string) (drafts.Draft, error)
	KeepDraft(ctx context.Context, d drafts.Draft, made int64) (drafts.Draft, error)
	DropDraft(ctx context.Context, app, subject string, revision int64) (drafts.Draft, error)
	DropCardDrafts(ctx context.Context, run choir.ID, apps ...string) error
}

// DraftRequest is the request to store text that was typed and not saved.
type DraftRequest struct {
	Text string `json:"text" doc:"The text, at most 8 MiB."`
	Base string `json:"base,omitempty" maxLength:"200" doc:"What the text was made of: the digest of a file, the version of a document."`
	By   string `json:"by,omitempty" maxLength:"64" doc:"Name that the page gives itself; what the same page changed meanwhile is no conflict."`
	Turn int64  `json:"turn,omitempty" minimum:"0" doc:"Grows with every text that the page sends: an earlier one does not replace a later one that overtook it."`
	Made int64  `json:"made,omitempty" minimum:"0" doc:"Revision of the draft that the text was made of; 0 where there was none."`
}

// OfDraft has the parameters that identify a draft: its computer, app and subject.
type OfDraft struct {
	In
	App     string `path:"app" maxLength:"100" doc:"App it is typed into."`
	Subject string `query:"subject" maxLength:"4096" doc:"What it is about."`
}

// draftRoutes are the routes for texts that are typed and not saved.
type draftRoutes struct {
	finder
	typing *rateLimit
}

// register registers the routes that list, read, store and remove drafts.
func (t draftRoutes) register(h huma.API) {
	const base = "/api/computers/{computer}/drafts"
	huma.Register(h, op("listDrafts", http.MethodGet, base, "List what is typed and not saved, without the texts", 200),
		func(ctx context.Context, r *In) (*body[[]drafts.Draft], error) {
			c, _, err := t.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Desk.Drafts(ctx))
		})
	huma.Register(h, op("getDraft", http.MethodGet, base+"/{app}", "Show a text that was typed and not saved; of revision 0 when there is none", 200),
		func(ctx context.Context, r *OfDraft) (*body[drafts.Draft], error) {
			c, _, err := t.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			d, err := c.Desk.Draft(ctx, r.App, r.Subject)
			if choir.CodeOf(err) == choir.CodeNotFound {
				return answer(drafts.Draft{App: r.App, Subject: r.Subject}, nil)
			}
			return answer(d, err)
		})
	keep := op("keepDraft", http.MethodPut, base+"/{app}", "Keep a text until it is saved; 409 with the one that is there when it changed meanwhile", 200)
	keep.MaxBodyBytes = maxDocumentBody
	huma.Register(h, keep, func(ctx context.Context, r *struct {
		OfDraft
		Body DraftRequest
	}) (*body[drafts.Draft], error) {
		d, err := t.findDrafts(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		now, err := d.KeepDraft(ctx, drafts.Draft{App: r.App, Subject: r.Subject, Base: r.Body.Base, Text: r.Body.Text, By: r.Body.By, Turn: r.Body.Turn}, r.Body.Made)
		if err != nil {
			return nil, draftProblem(now, err)
		}
		now.Text = "" // the caller has it
		return answer(now, nil)
	})
	huma.Register(h, op("dropDraft", http.MethodDelete, base+"/{app}", "Remove a draft that was saved or discarded; 409 with the one that is there when it changed meanwhile", 204),
		func(ctx context.Context, r *struct {
			OfDraft
			Revision int64 `query:"revision" minimum:"1" doc:"Revision that was saved or discarded."`
		}) (*struct{}, error) {
			d, err := t.findDrafts(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			now, err := d.DropDraft(ctx, r.App, r.Subject, r.Revision)
			if err != nil {
				return nil, draftProblem(now, err)
			}
			return nil, nil
		})
}

// draftProblem returns the problem of an error; for a conflict, with the stored draft.
func draftProblem(now drafts.Draft, err error) error {
	p := ProblemOf(err)
	if p.Code == choir.CodeConflict && now.Revision > 0 {
		p.Draft = &now
	}
	return p
}

// findDrafts returns a computer's drafts, for a change. Code rate_limited: more than
// typingBurst changes within typingSpan.
func (t draftRoutes) findDrafts(ctx context.Context, id choir.ID) (deskDrafts, error) {
	c, _, err := t.findComputer(ctx, id)
	if err != nil {
		return nil, err
	}
	if wait := t.typing.allow(id); wait > 0 {
		return nil, tooOften(wait, "api.drafts", choir.ReasonTooManyDrafts, typingBurst, typingSpan)
	}
	return c.Desk, nil
}
