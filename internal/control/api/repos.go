package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer"
)

// repos registers the projects. Their contents are streams of any length, so
// they stand beside huma, which would buffer them.
func (a *API) repos(mux *http.ServeMux, h huma.API) {
	const base = "/api/computers/{computer}/repos"
	huma.Register(h, op("listRepos", http.MethodGet, base, "List the projects that were added", 200),
		func(ctx context.Context, r *In) (*body[[]choir.RepoAdded], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			list, err := c.Repos(ctx)
			if list == nil {
				list = []choir.RepoAdded{}
			}
			return answer(list, err)
		})
	mux.HandleFunc("PUT "+base+"/{name}", a.addRepo)
	mux.HandleFunc("GET "+base+"/{name}/export", a.exportRepo)
	for id, path := range map[string]string{"addRepo": base + "/{name}", "exportRepo": base + "/{name}/export"} {
		describeStream(h.OpenAPI(), id, path)
	}
}

// describeStream puts a stream operation into the OpenAPI document.
func describeStream(doc *huma.OpenAPI, id, path string) {
	param := func(name string) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	o := &huma.Operation{OperationID: id, Path: path, Parameters: []*huma.Param{param("computer"), param("name")}, Responses: map[string]*huma.Response{}}
	if id == "addRepo" {
		o.Method, o.Summary = http.MethodPut, "Add a project: the body is a tar stream"
		o.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/x-tar": {}}}
		o.Responses["201"] = &huma.Response{Description: "Added", Content: map[string]*huma.MediaType{"application/json": {}}}
	} else {
		o.Method, o.Summary = http.MethodGet, "Export the work on a project as a git bundle or a mailbox of patches (?format=bundle|patch)"
		o.Responses["200"] = &huma.Response{Description: "The bundle or the patches", Content: map[string]*huma.MediaType{"application/octet-stream": {}}}
	}
	doc.AddOperation(o)
}

func (a *API) addRepo(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.enter(r.Context(), choir.ID(r.PathValue("computer")))
	if err == nil {
		var added choir.RepoAdded
		if added, err = c.AddRepo(r.Context(), p.Role, computer.NewRepo{Name: r.PathValue("name"), Replace: r.URL.Query().Get("replace") == "true"}, r.Body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			// A client that went away does not need the answer.
			_ = json.NewEncoder(w).Encode(added)
			return
		}
	}
	a.refuse(w, r, err)
}

func (a *API) exportRepo(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.enter(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	format := r.URL.Query().Get("format")
	if format == "" {
		format = "bundle"
	}
	out := &lateHeader{w: w}
	if err := c.ExportRepo(r.Context(), p.Role, r.PathValue("name"), format, out); err != nil {
		if out.began {
			// Too late for a status: cut the response so that the client sees it.
			panic(http.ErrAbortHandler)
		}
		a.refuse(w, r, err)
	}
}

// refuse answers with a problem.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	ProblemOf(err).log(a.cfg.Log, r)
	WriteProblem(w, err)
}

// lateHeader sends the headers of a download with its first byte, so that an
// error before it can still be a problem.
type lateHeader struct {
	w     http.ResponseWriter
	began bool
}

var _ io.Writer = (*lateHeader)(nil)

func (l *lateHeader) Write(b []byte) (int, error) {
	if !l.began {
		l.began = true
		l.w.Header().Set("Content-Type", "application/octet-stream")
		l.w.Header().Set("Content-Disposition", "attachment")
	}
	return l.w.Write(b)
}

// WriteProblem answers a request with a problem document.
func WriteProblem(w http.ResponseWriter, err error) {
	p, ok := err.(*Problem)
	if !ok {
		p = ProblemOf(err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(p)
}
