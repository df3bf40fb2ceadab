package api

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
)

// Repo is a project with the repository at a host that it came from, and what that has of it.
type Repo struct {
	choir.RepoAdded
	URL        string    `json:"url,omitempty" doc:"Repository that it was cloned from."`
	Credential string    `json:"credential,omitempty" doc:"Entry of the vault that its requests get."`
	Push       *RepoPush `json:"push,omitempty" doc:"State of its pushes; absent where git.remote_template pushes nothing."`
}

// RepoPush is the state of the pushes of a project's checkpoints.
type RepoPush struct {
	State    string `json:"state" enum:"nothing,waiting,failing,pushed" doc:"nothing was committed yet; the newest commit waits; it could not be pushed and is tried again; the host has it."`
	URL      string `json:"url" doc:"Repository that is pushed to."`
	Commit   string `json:"commit,omitempty" doc:"Commit that the host has."`
	Attempts int    `json:"attempts,omitempty" doc:"That failed, one after the other."`
	Said     string `json:"said,omitempty" doc:"What git in the sandbox said at the last of them; untrusted."`
}

// CloneRequest names a repository at a host to clone.
type CloneRequest struct {
	Name       string `json:"name" minLength:"1" maxLength:"100" doc:"Folder under workspace/."`
	URL        string `json:"url" minLength:"1" maxLength:"2000" doc:"Address, https."`
	Credential string `json:"credential,omitempty" maxLength:"64" doc:"Entry of the vault whose key the requests get."`
}

// repos registers the routes that list, add and export projects. Contents are streams of
// any length, so they bypass huma, which would buffer them.
func (a *API) repos(mux *routes, h huma.API) {
	const base = "/api/computers/{computer}/repos"
	huma.Register(h, op("listRepos", http.MethodGet, base, "List the projects that were added", 200),
		func(ctx context.Context, r *In) (*body[[]Repo], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Repos.List(ctx))
		})
	huma.Register(h, op("cloneRepo", http.MethodPost, base, "Clone a project from a repository at a host, through the git gateway", 201),
		func(ctx context.Context, r *struct {
			In
			Body CloneRequest
		}) (*body[choir.RepoAdded], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Repos.Clone(ctx, p.Role, r.Body.Name, r.Body.URL, r.Body.Credential))
		})
	mux.HandleFunc("PUT "+base+"/{name}", a.addRepo)
	mux.HandleFunc("GET "+base+"/{name}/export", a.exportRepo)
	stream{
		id: "addRepo", method: http.MethodPut, path: base + "/{name}", summary: "Add a project: the body is a tar stream", takes: "application/x-tar",
		query: map[string]string{"replace": "true replaces a project of that name."}, status: "201", answers: reflect.TypeFor[choir.RepoAdded](),
	}.describe(h.OpenAPI())
	stream{
		id: "exportRepo", method: http.MethodGet, path: base + "/{name}/export", summary: "Export the work on a project since it was added",
		query: map[string]string{"format": "bundle (default): a git bundle; patch: a mailbox of patches."}, status: "200", gives: "application/octet-stream",
	}.describe(h.OpenAPI())
}

// addRepo adds the project in the body, a tar stream.
func (a *API) addRepo(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.findComputer(r.Context(), choir.ID(r.PathValue("computer")))
	if err == nil {
		var added choir.RepoAdded
		if added, err = c.Projects.Add(r.Context(), p.Role, projects.NewProject{Name: r.PathValue("name"), Replace: r.URL.Query().Get("replace") == "true"}, r.Body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			// A client that went away does not need the answer.
			_ = json.NewEncoder(w).Encode(added)
			return
		}
	}
	a.refuse(w, r, err)
}

// exportRepo streams the work on a project as a git bundle or as patches.
func (a *API) exportRepo(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.findComputer(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	format := r.URL.Query().Get("format")
	if format == "" {
		format = "bundle"
	}
	out := &lateHeader{w: w}
	if err := c.Projects.Export(r.Context(), p.Role, r.PathValue("name"), format, out); err != nil {
		if out.began {
			// Too late for a status: cut the response so that the client sees it.
			panic(http.ErrAbortHandler)
		}
		a.refuse(w, r, err)
	}
}

// refuse answers a request with the problem of an error, and logs an internal one.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	ProblemOf(err).log(a.cfg.Log, r)
	WriteProblem(w, err)
}

// lateHeader sends the headers of a download with its first byte, so that an earlier
// error can still be answered with a status code.
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

// WriteProblem answers a request with the problem of an error, without logging it.
func WriteProblem(w http.ResponseWriter, err error) {
	writeProblem(w, ProblemOf(err))
}

// writeProblem answers a request with a problem.
func writeProblem(w http.ResponseWriter, p *Problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(p)
}
