package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/control/auth"
	"choiros/internal/eventstore"
)

// maxDocumentBody is the maximum size of a request with a document's content, in bytes
// of JSON.
const maxDocumentBody = 32 << 20

// deskDocuments is the part of a desk with which the API serves documents and their
// versions.
type deskDocuments interface {
	Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error)
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
	DocumentAt(ctx context.Context, seq uint64, id choir.ID) (eventstore.Document, error)
	Versions(ctx context.Context, id choir.ID, before, limit int) ([]eventstore.Document, error)
	CreateDocument(ctx context.Context, role choir.Role, n desk.NewDocument) (eventstore.Document, error)
	SaveDocument(ctx context.Context, role choir.Role, id choir.ID, s desk.Save) (eventstore.Document, error)
	RenameDocument(ctx context.Context, role choir.Role, id choir.ID, title string) (eventstore.Document, error)
	RemoveDocument(ctx context.Context, role choir.Role, id choir.ID) error
}

// deskOverlays is the part of a desk with which the API serves overlays of documents.
type deskOverlays interface {
	Overlays(ctx context.Context, document choir.ID, asOf uint64) ([]eventstore.Overlay, error)
	AddOverlay(ctx context.Context, role choir.Role, o choir.OverlayAdded) (eventstore.Overlay, error)
	SettleOverlay(ctx context.Context, role choir.Role, s choir.OverlaySettled) (eventstore.Overlay, error)
}

// DocumentRequest is the request to create a document.
type DocumentRequest struct {
	ID      choir.ID `json:"id,omitempty" doc:"A UUIDv7 that the caller made; the same one again begins nothing new."`
	Title   string   `json:"title" minLength:"1" maxLength:"200"`
	Content string   `json:"content" doc:"Markdown."`
}

// VersionRequest is the request to save a version of a document.
type VersionRequest struct {
	Content  string     `json:"content" doc:"Markdown."`
	Note     string     `json:"note,omitempty" maxLength:"200" doc:"What changed."`
	Accepted []choir.ID `json:"accepted,omitempty" maxItems:"64" doc:"Proposals that became part of it."`
}

// RenameRequest is the request to rename a document.
type RenameRequest struct {
	Title string `json:"title" minLength:"1" maxLength:"200"`
}

// OverlayRequest is the request to add a proposal or a comment over a document.
type OverlayRequest struct {
	ID      choir.ID          `json:"id,omitempty" doc:"A UUIDv7 that the caller made; the same one again adds nothing."`
	Version int               `json:"version" minimum:"0" doc:"Version it was made on."`
	Kind    choir.OverlayKind `json:"kind" enum:"proposal,comment"`
	Anchor  choir.TextAnchor  `json:"anchor,omitempty" doc:"Text it is about; the whole without one."`
	Text    string            `json:"text" maxLength:"20000" doc:"Markdown: what is proposed, or said."`
	ReplyTo choir.ID          `json:"reply_to,omitempty" doc:"Overlay that this answers."`
}

// SettleRequest is the request to accept, reject, resolve or reopen an overlay.
type SettleRequest struct {
	Outcome choir.OverlayOutcome `json:"outcome" enum:"accepted,rejected,resolved,reopened"`
}

// OfDocument has the path parameters of operations on a document.
type OfDocument struct {
	In
	Document choir.ID `path:"document"`
}

// documentRoutes are the routes for documents, their versions and overlays.
type documentRoutes struct{ finder }

// register registers the routes that change documents, and list their versions and overlays.
func (t documentRoutes) register(h huma.API) {
	const base = "/api/computers/{computer}/documents"
	huma.Register(h, op("createDocument", http.MethodPost, base, "Begin a document", 201), func(ctx context.Context, r *struct {
		In
		Body DocumentRequest
	}) (*body[eventstore.Document], error) {
		d, p, err := t.findDocuments(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		if err := givenID("id", r.Body.ID); err != nil {
			return nil, err
		}
		return answer(d.CreateDocument(ctx, p.Role, desk.NewDocument{ID: r.Body.ID, Title: r.Body.Title, Content: r.Body.Content}))
	})
	huma.Register(h, op("renameDocument", http.MethodPut, base+"/{document}/title", "Give a document another title", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			Body RenameRequest
		}) (*body[eventstore.Document], error) {
			d, p, err := t.findDocuments(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(d.RenameDocument(ctx, p.Role, r.Document, r.Body.Title))
		})
	huma.Register(h, op("removeDocument", http.MethodDelete, base+"/{document}", "Take a document away; its versions stay in the log", 204),
		func(ctx context.Context, r *OfDocument) (*struct{}, error) {
			d, p, err := t.findDocuments(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if err := d.RemoveDocument(ctx, p.Role, r.Document); err != nil {
				return nil, ProblemOf(err)
			}
			return nil, nil
		})
	t.versions(h, base+"/{document}/versions")
	t.overlays(h, base+"/{document}/overlays")
}

func (t documentRoutes) versions(h huma.API, path string) {
	huma.Register(h, op("listVersions", http.MethodGet, path, "List the versions of a document without their content, newest first", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			Before int `query:"before" minimum:"0" doc:"Only versions before this one; 0 for all."`
			Limit  int `query:"limit" minimum:"1" maximum:"1000" default:"200"`
		}) (*body[[]eventstore.Document], error) {
			d, _, err := t.findDocuments(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(d.Versions(ctx, r.Document, r.Before, r.Limit))
		})
	save := op("saveVersion", http.MethodPut, path+"/{version}", "Save a version of a document, made of the one before; 409 with the newest when that is another", 200)
	save.MaxBodyBytes = maxDocumentBody
	huma.Register(h, save, func(ctx context.Context, r *struct {
		OfDocument
		Version int `path:"version" minimum:"1" doc:"One more than the version it was made of."`
		Body    VersionRequest
	}) (*body[eventstore.Document], error) {
		d, p, err := t.findDocuments(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		doc, err := d.SaveDocument(ctx, p.Role, r.Document, desk.Save{
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

func (t documentRoutes) overlays(h huma.API, path string) {
	huma.Register(h, op("listOverlays", http.MethodGet, path, "List proposals and comments over a document as of a moment", 200),
		func(ctx context.Context, r *struct {
			OfDocument
			AsOf uint64 `query:"as_of" doc:"Event; 0 for now."`
		}) (*body[[]eventstore.Overlay], error) {
			d, _, err := t.findOverlays(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(d.Overlays(ctx, r.Document, r.AsOf))
		})
	huma.Register(h, op("addOverlay", http.MethodPost, path, "Put a proposal or a comment over a document", 201),
		func(ctx context.Context, r *struct {
			OfDocument
			Body OverlayRequest
		}) (*body[eventstore.Overlay], error) {
			d, p, err := t.findOverlays(ctx, r.Computer)
			if err == nil {
				err = givenID("id", r.Body.ID)
			}
			if err == nil {
				err = givenID("reply_to", r.Body.ReplyTo)
			}
			if err != nil {
				return nil, err
			}
			return answer(d.AddOverlay(ctx, p.Role, choir.OverlayAdded{
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
			d, p, err := t.findOverlays(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(d.SettleOverlay(ctx, p.Role, choir.OverlaySettled{Overlay: r.Overlay, Document: r.Document, Outcome: r.Body.Outcome}))
		})
}

// findDocuments returns a computer's documents and the caller.
func (t documentRoutes) findDocuments(ctx context.Context, id choir.ID) (deskDocuments, auth.Principal, error) {
	c, p, err := t.findComputer(ctx, id)
	if err != nil {
		return nil, p, err
	}
	return c.Desk, p, nil
}

// findOverlays returns a computer's document overlays and the caller.
func (t documentRoutes) findOverlays(ctx context.Context, id choir.ID) (deskOverlays, auth.Principal, error) {
	c, p, err := t.findComputer(ctx, id)
	if err != nil {
		return nil, p, err
	}
	return c.Desk, p, nil
}

// givenID returns a problem of code invalid if a caller's id is neither empty nor a UUID
// of version 7.
func givenID(field string, id choir.ID) error {
	if id == "" || id.ValidV7() {
		return nil
	}
	return ProblemOf(choir.RefuseField(field, choir.ReasonFieldMustBeUUID7))
}
