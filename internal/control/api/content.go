package api

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// contentRoutes are the routes that read documents, files and blobs as of a moment.
type contentRoutes struct{ finder }

// register registers the routes.
func (t contentRoutes) register(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("listDocuments", http.MethodGet, base+"/documents", "List documents as of a moment", 200),
		func(ctx context.Context, r *struct {
			In
			AsOf uint64 `query:"as_of" doc:"Event; 0 for now."`
		}) (*body[[]eventstore.Document], error) {
			c, _, err := t.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Desk.Documents(ctx, r.AsOf))
		})
	huma.Register(h, op("getDocument", http.MethodGet, base+"/documents/{document}", "Show one version of a document", 200),
		func(ctx context.Context, r *struct {
			In
			Document choir.ID `path:"document"`
			Version  int      `query:"version" default:"-1" minimum:"-1" doc:"From 0; -1 for the newest."`
			AsOf     uint64   `query:"as_of" doc:"Event after which the newest version is wanted; 0 for now. Refused with a version."`
		}) (*body[eventstore.Document], error) {
			c, _, err := t.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if r.AsOf > 0 && r.Version >= 0 {
				return nil, ProblemOf(choir.RefuseField("version", choir.ReasonVersionAndAsOf))
			}
			if r.AsOf > 0 {
				return answer(c.Desk.DocumentAt(ctx, r.AsOf, r.Document))
			}
			return answer(c.Desk.Document(ctx, r.Document, r.Version))
		})
	huma.Register(h, op("listFiles", http.MethodGet, base+"/files", "List files as of a moment", 200),
		func(ctx context.Context, r *struct {
			In
			AsOf   uint64 `query:"as_of" doc:"Event; 0 for now."`
			Prefix string `query:"prefix"`
			After  string `query:"after" doc:"Only paths after this one."`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"200"`
		}) (*body[[]choir.FileState], error) {
			c, _, err := t.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Log.Files(ctx, r.AsOf, r.Prefix, r.Limit, r.After))
		})
	huma.Register(h, op("getBlob", http.MethodGet, base+"/blobs/{digest}", "Read a blob", 200), t.getBlob)
}

// getBlob streams a blob as a download, so that the browser never renders content that
// agents wrote under the shell's origin.
func (t contentRoutes) getBlob(ctx context.Context, r *struct {
	In
	Digest choir.Digest `path:"digest"`
}) (*huma.StreamResponse, error) {
	c, _, err := t.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	if !r.Digest.Valid() {
		return nil, ProblemOf(choir.RefuseField("digest", choir.ReasonFieldNoDigest, choir.TextOf("given", r.Digest)))
	}
	f, err := c.Content.Open(ctx, r.Digest)
	if err != nil {
		return nil, ProblemOf(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer f.Close()
		hc.SetHeader("Content-Type", "application/octet-stream")
		hc.SetHeader("Content-Disposition", "attachment")
		// A failed copy cuts the response, which the client sees.
		_, _ = io.Copy(hc.BodyWriter(), f)
	}}, nil
}
