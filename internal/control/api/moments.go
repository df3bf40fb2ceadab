package api

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
)

// TimelinePage is a part of the timeline.
type TimelinePage struct {
	Marks []moments.Mark `json:"marks" doc:"Newest first."`
	Head  uint64         `json:"head" doc:"The newest event of the log."`
}

// atMoment has the path parameters of operations on one moment.
type atMoment struct {
	In
	Seq uint64 `path:"seq" doc:"The moment: everything up to this event."`
}

type atPath struct {
	In
	Seq  uint64 `path:"seq" doc:"The moment: everything up to this event."`
	Path string `query:"path" doc:"Below the workspace, escaped as in file events."`
}

// moments registers the routes that read the past.
func (a *API) moments(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("getTimeline", http.MethodGet, base+"/timeline", "List the moments worth going back to, newest first", 200),
		func(ctx context.Context, r *paged) (*body[TimelinePage], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			head, _ := c.Log.Head()
			marks, err := c.Moments.Marks(ctx, r.Limit, r.Before)
			return answer(TimelinePage{marks, head}, err)
		})
	huma.Register(h, op("getMoment", http.MethodGet, base+"/at/{seq}", "Describe the computer as it was after an event", 200),
		func(ctx context.Context, r *atMoment) (*body[moments.Moment], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Moments.At(ctx, r.Seq))
		})
	huma.Register(h, op("listFolderAt", http.MethodGet, base+"/at/{seq}/folder", "List a folder of the workspace as it was, exactly", 200),
		func(ctx context.Context, r *atPath) (*body[[]choir.FileState], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Workspace.FolderAt(ctx, r.Seq, r.Path))
		})
	huma.Register(h, op("readFileAt", http.MethodGet, base+"/at/{seq}/file", "Read a file of the workspace as it was", 200), a.readFileAt)
}

// readFileAt streams a file as it was at a moment, as a download; see getBlob.
func (a *API) readFileAt(ctx context.Context, r *atPath) (*huma.StreamResponse, error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	state, f, err := c.Workspace.ReadFileAt(ctx, r.Seq, r.Path)
	if err != nil {
		return nil, ProblemOf(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer f.Close()
		hc.SetHeader("Content-Type", "application/octet-stream")
		hc.SetHeader("Content-Disposition", "attachment")
		hc.SetHeader("ETag", `"`+string(state.Digest)+`"`)
		// A failed copy cuts the response, which the client sees.
		_, _ = io.Copy(hc.BodyWriter(), f)
	}}, nil
}
