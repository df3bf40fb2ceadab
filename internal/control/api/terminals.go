package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/terminals"
	"choiros/internal/control/auth"
	"choiros/internal/guest"
)

// Terminals opens, lists and controls the terminals of people in a computer's workspace, and
// lists and ends the running commands of agents;
// rolehost.Terminals implements it.
type Terminals interface {
	Open(ctx context.Context, role choir.Role, n rolehost.NewTerminal) (terminals.Info, error)
	List() []terminals.Info
	Resize(id choir.ID, size guest.Size) error
	Close(ctx context.Context, role choir.Role, id choir.ID) error
	Attach(id choir.ID, after uint64) (*terminals.View, error)
}

// TerminalRequest is the request to open a terminal.
type TerminalRequest struct {
	Title string        `json:"title,omitempty" maxLength:"200" doc:"What its tab says; default Terminal."`
	Cwd   string        `json:"cwd,omitempty" maxLength:"4096" doc:"Folder below the workspace root to begin in; default the folder of projects."`
	Size  *TerminalSize `json:"size,omitempty" doc:"Default 24 by 80."`
	Type  string        `json:"type,omitempty" maxLength:"4096" doc:"What is typed into it once its shell takes words."`
}

// TerminalSize is the size of a terminal, in characters.
type TerminalSize struct {
	Rows uint16 `json:"rows" minimum:"1" maximum:"1000"`
	Cols uint16 `json:"cols" minimum:"1" maximum:"1000"`
}

// guest converts a size; zero for nil.
func (s *TerminalSize) guest() guest.Size {
	if s == nil {
		return guest.Size{}
	}
	return guest.Size{Rows: s.Rows, Cols: s.Cols}
}

// InTerminal has the path parameters of operations on a terminal.
type InTerminal struct {
	In
	Terminal choir.ID `path:"terminal" doc:"The terminal."`
}

// terminals registers the routes of terminals. Output and input go over WebSockets,
// which bypass huma.
func (a *API) terminals(mux *routes, h huma.API) {
	const base = "/api/computers/{computer}/terminals"
	huma.Register(h, op("listTerminals", http.MethodGet, base, "List the terminals that are open, and the running commands of agents", 200),
		func(ctx context.Context, r *In) (*body[[]terminals.Info], error) {
			ts, _, err := a.findTerminals(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(ts.List(), nil)
		})
	huma.Register(h, op("openTerminal", http.MethodPost, base, "Open a terminal: a shell in the Associate's sandbox", 201),
		func(ctx context.Context, r *struct {
			In
			Body TerminalRequest
		}) (*body[terminals.Info], error) {
			ts, p, err := a.findTerminals(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(ts.Open(ctx, p.Role, rolehost.NewTerminal{Title: r.Body.Title, Cwd: r.Body.Cwd, Size: r.Body.Size.guest(), Type: r.Body.Type}))
		})
	huma.Register(h, op("closeTerminal", http.MethodDelete, base+"/{terminal}", "End a terminal and everything that was started in it, or a running command of an agent", 204),
		func(ctx context.Context, r *InTerminal) (*struct{}, error) {
			ts, p, err := a.findTerminals(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return nil, problem(ts.Close(ctx, p.Role, r.Terminal))
		})
	huma.Register(h, op("resizeTerminal", http.MethodPost, base+"/{terminal}/size", "Make a terminal as large as this", 204),
		func(ctx context.Context, r *struct {
			InTerminal
			Body TerminalSize
		}) (*struct{}, error) {
			ts, _, err := a.findTerminals(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return nil, problem(ts.Resize(r.Terminal, r.Body.guest()))
		})
	mux.HandleFunc("GET "+base+"/{terminal}/socket", a.terminalSocket)
	stream{
		id: "watchTerminal", method: http.MethodGet, path: base + "/{terminal}/socket", status: "101",
		summary: "WebSocket: binary frames are output and input, text frames are TerminalNote and TerminalSay",
		query:   map[string]string{"after": "Offset up to which the output is known; 0 for all that is kept."},
	}.describe(h.OpenAPI())
}

// findTerminals returns a computer's terminals and the caller.
func (a *API) findTerminals(ctx context.Context, id choir.ID) (Terminals, auth.Principal, error) {
	c, p, err := a.findComputer(ctx, id)
	if err != nil {
		return nil, p, err
	}
	return c.Terminals, p, nil
}
