package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
)

// workspaceFiles is the part of a workspace with which the API reads and writes files.
type workspaceFiles interface {
	OpenFile(ctx context.Context, path string) (choir.FileState, io.ReadSeekCloser, error)
	WriteFile(ctx context.Context, role choir.Role, path string, content io.Reader, want workspace.Expect) (choir.FileState, error)
	RemoveFile(ctx context.Context, role choir.Role, path string, want workspace.Expect) (choir.FileState, error)
}

// files registers the routes that read, write and remove a file of the workspace.
// Contents are streams of any length, so they bypass huma, which would buffer them.
func (a *API) files(mux *routes, h huma.API) {
	const path = "/api/computers/{computer}/files/{path...}"
	when := map[string]string{
		"If-Match":      "Digest of the content you saw, in quotes; or * for whatever is there.",
		"If-None-Match": "* for nothing being there.",
	}
	mux.HandleFunc("GET "+path, a.readFile)
	stream{
		id: "readFile", method: http.MethodGet, path: path, status: "200", gives: "application/octet-stream",
		query: map[string]string{
			"download": "true: as a download, whatever it is.",
			"as_of":    "Event after which the file is wanted as it was, as a whole.",
		},
		headers: map[string]string{"Range": "Bytes wanted.", "If-None-Match": "Digest of the content you have, in quotes.", "If-Range": "Digest of the content the range is of, in quotes."},
		summary: "Read a file of the workspace as it is or was; its ETag is its digest",
	}.describe(h.OpenAPI())
	mux.HandleFunc("PUT "+path, a.writeFile)
	stream{
		id: "writeFile", method: http.MethodPut, path: path, headers: when, takes: "application/octet-stream", status: "200", answers: reflect.TypeFor[choir.FileState](),
		summary: "Write a file of the workspace; 409 with the content's digest when it is not what you saw",
	}.describe(h.OpenAPI())
	mux.HandleFunc("DELETE "+path, a.removeFile)
	stream{
		id: "removeFile", method: http.MethodDelete, path: path, headers: when, status: "204",
		summary: "Remove a file or folder of the workspace; 409 with the content's digest when it is not what you saw",
	}.describe(h.OpenAPI())
}

func (a *API) writeFile(w http.ResponseWriter, r *http.Request) {
	state, err := a.changeFile(r, func(files workspaceFiles, role choir.Role, path string, want workspace.Expect) (choir.FileState, error) {
		return files.WriteFile(r.Context(), role, path, r.Body, want)
	})
	if err != nil {
		writeFileProblem(w, state, err)
		return
	}
	w.Header().Set("ETag", `"`+string(state.Digest)+`"`)
	w.Header().Set("Content-Type", "application/json")
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(state)
}

func (a *API) removeFile(w http.ResponseWriter, r *http.Request) {
	state, err := a.changeFile(r, func(files workspaceFiles, role choir.Role, path string, want workspace.Expect) (choir.FileState, error) {
		return files.RemoveFile(r.Context(), role, path, want)
	})
	if err != nil {
		writeFileProblem(w, state, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// changeFile calls do with the workspace, the caller's role, the path and the
// precondition of a request. Code invalid: the precondition is missing.
func (a *API) changeFile(r *http.Request, do func(workspaceFiles, choir.Role, string, workspace.Expect) (choir.FileState, error)) (choir.FileState, error) {
	c, p, err := a.findComputer(r.Context(), choir.ID(r.PathValue("computer")))
	if err != nil {
		return choir.FileState{}, err
	}
	want, err := parsePrecondition(r.Header)
	if err != nil {
		return choir.FileState{}, err
	}
	return do(c.Workspace, p.Role, r.PathValue("path"), want)
}

// parsePrecondition reads the precondition from If-Match or If-None-Match. Code invalid:
// there is none, because a write without one could overwrite unseen changes.
func parsePrecondition(h http.Header) (workspace.Expect, error) {
	match, none := h.Get("If-Match"), h.Get("If-None-Match")
	switch {
	case match == "*" && none == "":
		return workspace.Expect{}, nil
	case match == "" && none == "*":
		return workspace.Expect{Absent: true}, nil
	case match != "" && none == "":
		if d := choir.Digest(strings.Trim(match, `"`)); d.Valid() {
			return workspace.Expect{Digest: d}, nil
		}
	}
	return workspace.Expect{}, choir.RefuseField("If-Match", choir.ReasonIfMatchMissing)
}

// writeFileProblem answers a failed change of a file; for a conflict, with the digest of
// the current content.
func writeFileProblem(w http.ResponseWriter, there choir.FileState, err error) {
	p := ProblemOf(err)
	if p.Code == choir.CodeConflict {
		p.Digest = there.Digest
	}
	writeProblem(w, p)
}
