package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
)

// workspaceFolders is the part of a workspace with which the API lists, moves and copies
// paths.
type workspaceFolders interface {
	ListFolder(ctx context.Context, path, after string, limit int) (workspace.FolderPage, error)
	MakeFolder(ctx context.Context, role choir.Role, path string) (choir.FileState, error)
	Find(ctx context.Context, path string, spec guest.FindSpec, limit int) (guest.Found, error)
	Move(ctx context.Context, role choir.Role, items []workspace.Transfer) ([]choir.FileState, error)
	Copy(ctx context.Context, role choir.Role, items []workspace.Transfer) ([]choir.FileState, error)
}

// FolderRequest is the request to make a folder.
type FolderRequest struct {
	Path string `json:"path" minLength:"1" maxLength:"4096" doc:"Below the workspace, escaped as in file events."`
}

// TransferRequest is the request to move or copy paths, all or none.
type TransferRequest struct {
	Items []TransferItem `json:"items" minItems:"1" maxItems:"256"`
}

// TransferItem is one path to move or copy.
type TransferItem struct {
	From    string `json:"from" minLength:"1" maxLength:"4096" doc:"Path as it is."`
	To      string `json:"to" minLength:"1" maxLength:"4096" doc:"Path as it is to be."`
	IfMatch string `json:"if_match" doc:"Digest of the content you saw, or * for whatever is there."`
	Replace string `json:"replace,omitempty" doc:"Digest of what is at the new path, or * for whatever is there: it goes to the trash. Nothing may be there without it."`
}

// Transferred are the moved or copied paths in their new state, in the order of the
// request.
type Transferred struct {
	Files []choir.FileState `json:"files"`
}

type findQuery struct {
	In
	Path    string `query:"path" maxLength:"4096" doc:"Folder to look below; the workspace when empty."`
	Name    string `query:"name" maxLength:"255" doc:"Part of a name, in upper or lower case."`
	Content string `query:"content" maxLength:"1000" doc:"Text that is in the file, literally."`
	Best    bool   `query:"best" doc:"The names that fit best, the best first: all are looked at. Without it the first that are found."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"200"`
}

// folders registers the routes that list, find, make, move and copy files and folders.
func (a *API) folders(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("listFolder", http.MethodGet, base+"/folder", "List one page of a folder of the workspace as it is or was, in the byte order of names", 200),
		func(ctx context.Context, r *struct {
			In
			Path  string `query:"path" maxLength:"4096" doc:"The folder; the workspace when empty."`
			After string `query:"after" maxLength:"1024" doc:"Only names after this one."`
			Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
			AsOf  uint64 `query:"as_of" doc:"Event; 0 for now."`
		}) (*body[workspace.FolderPage], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if r.AsOf > 0 {
				return answer(c.Workspace.ListFolderAt(ctx, r.AsOf, r.Path, r.After, r.Limit))
			}
			return answer(c.Workspace.ListFolder(ctx, r.Path, r.After, r.Limit))
		})
	huma.Register(h, op("find", http.MethodGet, base+"/find", "Find files by a part of their name or content", 200),
		func(ctx context.Context, r *findQuery) (*body[guest.Found], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Workspace.Find(ctx, r.Path, guest.FindSpec{Name: r.Name, Content: r.Content, Best: r.Best && r.Content == ""}, r.Limit))
		})
	huma.Register(h, op("makeFolder", http.MethodPost, base+"/folders", "Make a folder, with those it lies in", 201),
		func(ctx context.Context, r *struct {
			In
			Body FolderRequest
		}) (*body[choir.FileState], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Workspace.MakeFolder(ctx, p.Role, r.Body.Path))
		})
	a.transfer(h, "moveFiles", "/moves", "Move or rename files and folders", workspaceFolders.Move)
	a.transfer(h, "copyFiles", "/copies", "Copy files and folders with all that is in them", workspaceFolders.Copy)
}

// transfer registers a route that moves or copies paths with do.
func (a *API) transfer(h huma.API, id, path, summary string, do func(workspaceFolders, context.Context, choir.Role, []workspace.Transfer) ([]choir.FileState, error)) {
	huma.Register(h, op(id, http.MethodPost, "/api/computers/{computer}"+path, summary+"; nothing is done unless all of it can be", 200),
		func(ctx context.Context, r *struct {
			In
			Body TransferRequest
		}) (*body[Transferred], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			items := make([]workspace.Transfer, 0, len(r.Body.Items))
			for _, it := range r.Body.Items {
				t, err := it.parse()
				if err != nil {
					return nil, ProblemOf(err)
				}
				items = append(items, t)
			}
			files, err := do(c.Workspace, ctx, p.Role, items)
			return answer(Transferred{files}, err)
		})
}

// parse converts an item and its preconditions. Code invalid: a precondition is neither
// a digest nor *.
func (it TransferItem) parse() (workspace.Transfer, error) {
	t := workspace.Transfer{From: it.From, To: it.To}
	var err error
	if t.Want, err = parseMatch("if_match", it.IfMatch); err != nil || it.Replace == "" {
		return t, err
	}
	replace, err := parseMatch("replace", it.Replace)
	t.Replace = &replace
	return t, err
}

// parseMatch parses the precondition on a path's content: a digest, or * for any. Code
// invalid, with the field: it is neither.
func parseMatch(field, value string) (workspace.Expect, error) {
	if value == "*" {
		return workspace.Expect{}, nil
	}
	d := choir.Digest(strings.Trim(value, `"`))
	if !d.Valid() {
		return workspace.Expect{}, choir.RefuseField(field, choir.ReasonSeenMissing)
	}
	return workspace.Expect{Digest: d}, nil
}

// Trash is the content of the trash.
type Trash struct {
	Items []workspace.Trashed `json:"items" doc:"Newest first."`
}

// TrashRequest is the request to move paths to the trash.
type TrashRequest struct {
	Items []TrashItem `json:"items" minItems:"1" maxItems:"256"`
}

// TrashItem is one path to move to the trash.
type TrashItem struct {
	Path    string `json:"path" minLength:"1" maxLength:"4096"`
	IfMatch string `json:"if_match" doc:"Digest of the content you saw, or * for whatever is there."`
}

// RestoreRequest is the request to restore an item from the trash.
type RestoreRequest struct {
	To string `json:"to,omitempty" maxLength:"4096" doc:"Path; where it was when empty."`
}

// trash registers the routes of the trash.
func (a *API) trash(h huma.API) {
	const base = "/api/computers/{computer}/trash"
	huma.Register(h, op("listTrash", http.MethodGet, base, "List what lies in the trash", 200),
		func(ctx context.Context, r *In) (*body[Trash], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			items, err := c.Workspace.Trash(ctx)
			return answer(Trash{items}, err)
		})
	huma.Register(h, op("trashFiles", http.MethodPost, base, "Throw files and folders away; nothing is done unless all of it can be", 200), a.trashFiles)
	huma.Register(h, op("restoreFile", http.MethodPost, base+"/{id}/restore", "Take an item out of the trash", 200),
		func(ctx context.Context, r *struct {
			In
			ID   choir.ID `path:"id"`
			Body RestoreRequest
		}) (*body[choir.FileState], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Workspace.Restore(ctx, p.Role, r.ID, r.Body.To))
		})
	huma.Register(h, op("emptyTrash", http.MethodDelete, base, "Remove what lies in the trash for good; the timeline still has it", 204),
		func(ctx context.Context, r *struct {
			In
			ID choir.ID `query:"id" doc:"Only this item."`
		}) (*struct{}, error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if err := c.Workspace.EmptyTrash(ctx, p.Role, r.ID); err != nil {
				return nil, ProblemOf(err)
			}
			return nil, nil
		})
}

// trashFiles moves paths to the trash, all or none.
func (a *API) trashFiles(ctx context.Context, r *struct {
	In
	Body TrashRequest
}) (*body[Trash], error) {
	c, p, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	items := make([]workspace.Discarding, 0, len(r.Body.Items))
	for _, it := range r.Body.Items {
		want, err := parseMatch("if_match", it.IfMatch)
		if err != nil {
			return nil, ProblemOf(err)
		}
		items = append(items, workspace.Discarding{Path: it.Path, Want: want})
	}
	done, err := c.Workspace.Discard(ctx, p.Role, items)
	return answer(Trash{done}, err)
}
