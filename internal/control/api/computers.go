package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// ForkRequest is the request to fork a computer at a moment.
type ForkRequest struct {
	Event  uint64 `json:"event,omitempty" maximum:"9007199254740991" doc:"Last event both have; 0 for now."`
	Name   string `json:"name" maxLength:"400" doc:"Name of the new computer."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only say what it would begin with."`
}

// Forked is the new computer of a fork, or of its dry run.
type Forked struct {
	ID       choir.ID     `json:"id,omitempty" doc:"The new computer."`
	Name     string       `json:"name"`
	Seq      uint64       `json:"at_seq" doc:"Last event both have."`
	Hash     choir.Digest `json:"hash" doc:"Hash of that event, and so of all before it."`
	Snapshot choir.Digest `json:"snapshot,omitempty" doc:"The workspace it begins with."`
	Withheld []string     `json:"withheld,omitempty" doc:"Paths that look like keys and did not come along."`
	DryRun   bool         `json:"dry_run,omitempty"`
}

// Imported is a computer made from an exported file.
type Imported struct {
	ID       choir.ID     `json:"id" doc:"The new computer."`
	Name     string       `json:"name"`
	From     choir.ID     `json:"from" doc:"The computer that was exported."`
	Seq      uint64       `json:"at_seq" doc:"Last event that was exported."`
	Hash     choir.Digest `json:"hash" doc:"Its hash."`
	Withheld []string     `json:"withheld,omitempty" doc:"Paths that look like keys: their content was not in the file."`
}

// Compared is the difference between the files of two computers.
type Compared struct {
	DiffView
	Common uint64 `json:"common" doc:"Last event both have; 0 when they share no past."`
}

// TakeRequest is the request to merge the changes of another computer.
type TakeRequest struct {
	From   choir.ID `json:"from" doc:"The other computer."`
	Paths  []string `json:"paths,omitempty" maxItems:"1000" doc:"Only these and what is below them; everything when there are none."`
	DryRun bool     `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// Taken is the result of a merge from another computer. With conflicts nothing was
// changed.
type Taken struct {
	DiffView
	Conflicts []string `json:"conflicts" doc:"Paths that both changed differently; when there are any, nothing was changed."`
	Seq       uint64   `json:"seq,omitempty" doc:"Event of the take."`
	DryRun    bool     `json:"dry_run,omitempty"`
	Ends
}

// computers registers the routes that create computers (new, fork, import) and copy
// between them.
func (a *API) computers(mux *routes, h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("fork", http.MethodPost, base+"/fork", "Make a second computer of a moment", 201),
		func(ctx context.Context, r *struct {
			In
			Body ForkRequest
		}) (*body[Forked], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err == nil {
				err = onlyOwner(p)
			}
			if err != nil {
				return nil, err
			}
			return answer(a.sys.Fork(ctx, c.ID, p.Role, r.Body))
		})
	huma.Register(h, op("compare", http.MethodGet, base+"/compare", "Compare the files of two computers, as they are now", 200),
		func(ctx context.Context, r *struct {
			In
			With choir.ID `query:"with" required:"true" doc:"The other computer."`
		}) (*body[Compared], error) {
			_, _, release, err := a.findBoth(ctx, r.Computer, r.With)
			if err != nil {
				return nil, err
			}
			defer release()
			d, err := a.sys.Compare(ctx, r.Computer, r.With)
			return answer(Compared{DiffView{From: d.From, To: d.To, Files: d.Files, Cut: d.Cut}, d.Common}, err)
		})
	huma.Register(h, op("take", http.MethodPost, base+"/take", "Take over what changed in another computer since both had the same past", 200), a.takeChanges)
	mux.HandleFunc("GET "+base+"/archive", a.export)
	mux.HandleFunc("POST /api/computers", a.importComputer)
	stream{
		id: "exportComputer", method: http.MethodGet, path: base + "/archive", status: "200", gives: "application/x-tar",
		summary: "Export the whole computer as one file",
	}.describe(h.OpenAPI())
	stream{
		id: "importComputer", method: http.MethodPost, path: "/api/computers", takes: "application/x-tar", status: "201", answers: reflect.TypeFor[Imported](),
		summary: "Make a computer of an exported file: the body", query: map[string]string{"name": "What it is called; by default as where it comes from."},
	}.describe(h.OpenAPI())
}

// findBoth returns the first of two computers and the caller. The second is open until
// release is called. It refuses callers other than the owner with code forbidden, and a
// second computer that is missing or another user's with not_found.
func (a *API) findBoth(ctx context.Context, id, otherID choir.ID) (c Computer, p auth.Principal, release func(), err error) {
	c, p, err = a.findComputer(ctx, id)
	if err == nil {
		err = onlyOwner(p)
	}
	if err != nil {
		return c, p, nil, err
	}
	if err = MustOwn(a.sys, p, otherID); err == nil {
		release, err = a.sys.Use(ctx, otherID)
	}
	if err != nil {
		err = ProblemOf(err)
	}
	return c, p, release, err
}

// takeChanges merges the changes of another computer, and answers with the conflicts if
// there are any.
func (a *API) takeChanges(ctx context.Context, r *struct {
	In
	Body TakeRequest
}) (*body[Taken], error) {
	c, p, release, err := a.findBoth(ctx, r.Computer, r.Body.From)
	if err != nil {
		return nil, err
	}
	defer release()
	t, err := a.sys.TakeChanges(ctx, c.ID, p.Role, r.Body.From, r.Body.Paths, r.Body.DryRun)
	out := Taken{DryRun: r.Body.DryRun, Seq: t.Receipt.Seq, Ends: Ends{t.Terminals}}
	for _, one := range t.Conflicts {
		out.Conflicts = append(out.Conflicts, one.Path)
	}
	if len(out.Conflicts) > 0 {
		// They are what was asked for, not an error of the question.
		return answer(out, nil)
	}
	if err != nil {
		return nil, ProblemOf(err)
	}
	out.DiffView, err = viewDiff(ctx, c, t.Difference)
	return answer(out, err)
}

// export streams the archive of a computer. Its size is known before its first byte; an
// error after that cuts the connection.
func (a *API) export(w http.ResponseWriter, r *http.Request) {
	c, p, err := a.findComputer(r.Context(), choir.ID(r.PathValue("computer")))
	if err == nil {
		err = onlyOwner(p)
	}
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	e, err := c.Copier.PrepareExport(r.Context())
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer e.Close()
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Content-Disposition", "attachment; filename=computer.choir")
	w.Header().Set("Content-Length", strconv.FormatInt(e.Size(), 10))
	if err = e.Write(r.Context(), w); err == nil {
		err = c.Copier.Exported(r.Context(), p.Role, e)
	}
	if err != nil {
		// Too late for a status: cut the response so that the client sees it.
		ProblemOf(err).log(a.cfg.Log, r)
		panic(http.ErrAbortHandler)
	}
}

// importComputer creates a computer from the archive in the body.
func (a *API) importComputer(w http.ResponseWriter, r *http.Request) {
	p, ok := auth.Of(r.Context())
	var err error
	if !ok {
		err = choir.Refuse("api", choir.ReasonNobodyLoggedIn)
	} else {
		err = onlyOwner(p)
	}
	var made Imported
	if err == nil {
		made, err = a.sys.Import(r.Context(), r.URL.Query().Get("name"), r.Body)
	}
	if err != nil {
		// A client that still sends would not read the answer.
		_, _ = io.Copy(io.Discard, r.Body)
		a.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(made)
}

// onlyOwner returns nil for a caller of the shell or the CLI, and code forbidden for any
// other, such as a desktop.
func onlyOwner(p auth.Principal) error {
	if p.Role == choir.RoleShell || p.Role == choir.RoleCLI {
		return nil
	}
	return ProblemOf(choir.Refuse("api", choir.ReasonOnlyOwner))
}
