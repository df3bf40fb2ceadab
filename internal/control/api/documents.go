package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/eventstore"
)

// maxDocumentBody bounds a request with the content of a document, in bytes of
// JSON.
const maxDocumentBody = 32 << 20

// DocumentRequest begins a document.
type DocumentRequest struct {
	ID      choir.ID `json:"id,omitempty" doc:"A UUIDv7 that the caller made; the same one again begins nothing new."`
	Title   string   `json:"title" minLength:"1" maxLength:"200"`
	Content string   `json:"content" doc:"Markdown."`
}

// VersionRequest saves a version of a document.
type VersionRequest struct {
	Content  string     `json:"content" doc:"Markdown."`
	Note     string     `json:"note,omitempty" maxLength:"200" doc:"What changed."`
	Accepted []choir.ID `json:"accepted,omitempty" maxItems:"64" doc:"Proposals that became part of it."`
}

// RenameRequest renames a document.
type RenameRequest struct {
	Title string `json:"title" minLength:"1" maxLength:"200"`
}

// OverlayRequest puts a proposal or a comment over a document.
type OverlayRequest struct {
	ID      choir.ID          `json:"id,omitempty" doc:"A UUIDv7 that the caller made; the same one again adds nothing."`
	Version int               `json:"version" minimum:"0" doc:"Version it was made on."`
	Kind    choir.OverlayKind `json:"kind" enum:"proposal,comment"`
	Anchor  choir.TextAnchor  `json:"anchor,omitempty" doc:"Text it is about; the whole without one."`
	Text    string            `json:"text" maxLength:"20000" doc:"Markdown: what is proposed, or said."`
	ReplyTo choir.ID          `json:"reply_to,omitempty" doc:"Overlay that this answers."`
}

// SettleRequest says what becomes of an overlay.
type SettleRequest struct {
	Outcome choir.OverlayOutcome `json:"outcome" enum:"accepted,rejected,resolved,reopened"`
}

// OfDocument is the path of everything that belongs to a document.
type OfDocument struct {
	In
	Document choir.ID `path:"document"`
}

func (a *API) documents(h huma.API) {
	const base = "/api/computers/{computer}/documents"
	huma.Register(h, op("createDocument", http.MethodPost, base, "Begin a document", 201), func(ctx context.Context, r *struct {
		In
		Body DocumentRequest
	}) (*body[eventstore.Document], error) {
		c, p, err := a.enter(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		if err := givenID("id", r.Body.ID); err != nil {
			return nil, err
		}
		return answer(c.CreateDocument(ctx, p.Role, computer.NewDocument{ID: r.Body.ID, Title: r.Body.Title, Content: r.Body.Content}))
	})
	huma.Register(h, op("renameDocument", http.MethodPut, base+"/{document}/title", "Give a document another title", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			Body RenameRequest
		}) (*body[eventstore.Document], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.RenameDocument(ctx, p.Role, r.Document, r.Body.Title))
		})
	huma.Register(h, op("removeDocument", http.MethodDelete, base+"/{document}", "Take a document away; its versions stay in the log", 204),
		func(ctx context.Context, r *OfDocument) (*struct{}, error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if err := c.RemoveDocument(ctx, p.Role, r.Document); err != nil {
				return nil, ProblemOf(err)
			}
			return nil, nil
		})
	a.versions(h, base+"/{document}/versions")
	a.overlays(h, base+"/{document}/overlays")
}

func (a *API) versions(h huma.API, path string) {
	huma.Register(h, op("listVersions", http.MethodGet, path, "List the versions of a document without their content, newest first", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			Before int `query:"before" minimum:"0" doc:"Only versions before this one; 0 for all."`
			Limit  int `query:"limit" minimum:"1" maximum:"1000" default:"200"`
		}) (*body[[]eventstore.Document], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return listed(c.Store().VersionsBefore(ctx, r.Document, r.Before, r.Limit))
		})
	save := op("saveVersion", http.MethodPut, path+"/{version}", "Save a version of a document, made of the one before; 409 with the newest when that is another", 200)
	save.MaxBodyBytes = maxDocumentBody
	huma.Register(h, save, func(ctx context.Context, r *struct {
		OfDocument
		Version int `path:"version" minimum:"1" doc:"One more than the version it was made of."`
		Body    VersionRequest
	}) (*body[eventstore.Document], error) {
		c, p, err := a.enter(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		doc, err := c.SaveDocument(ctx, p.Role, r.Document, computer.Save{
			Base: r.Version - 1, Content: r.Body.Content, Note: r.Body.Note, Accepted: r.Body.Accepted,
		})
		if err != nil {
			problem := ProblemOf(err)
			if problem.Code == choir.CodeConflict {
				problem.Document = &doc
			}
			return nil, problem
		}
		return answer(doc, nil)
	})
}

func (a *API) overlays(h huma.API, path string) {
	huma.Register(h, op("listOverlays", http.MethodGet, path, "List proposals and comments over a document as of a moment", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			AsOf uint64 `query:"as_of" doc:"Event; 0 for now."`
		}) (*body[[]eventstore.Overlay], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return listed(c.Store().Overlays(ctx, r.Document, r.AsOf))
		})
	huma.Register(h, op("addOverlay", http.MethodPost, path, "Put a proposal or a comment over a document", 201),
		func(ctx context.Context, r *struct {
			OfDocument
			Body OverlayRequest
		}) (*body[eventstore.Overlay], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err == nil {
				err = givenID("id", r.Body.ID)
			}
			if err == nil {
				err = givenID("reply_to", r.Body.ReplyTo)
			}
			if err != nil {
				return nil, err
			}
			return answer(c.AddOverlay(ctx, p.Role, choir.OverlayAdded{
				Overlay: r.Body.ID, Document: r.Document, Version: r.Body.Version, Kind: r.Body.Kind,
				Anchor: r.Body.Anchor, Text: r.Body.Text, ReplyTo: r.Body.ReplyTo,
			}))
		})
	huma.Register(h, op("settleOverlay", http.MethodPost, path+"/{overlay}/settle", "Say what becomes of a proposal or a comment", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			Overlay choir.ID `path:"overlay"`
			Body    SettleRequest
		}) (*body[eventstore.Overlay], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.SettleOverlay(ctx, p.Role, choir.OverlaySettled{Overlay: r.Overlay, Document: r.Document, Outcome: r.Body.Outcome}))
		})
}

// givenID refuses an id that the caller made and that is none.
func givenID(field string, id choir.ID) error {
	if id == "" || id.ValidV7() {
		return nil
	}
	return ProblemOf(choir.Invalid(field, "must be a UUID of version 7 in lower case"))
}
