package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// ForkRequest makes a second computer of a moment.
type ForkRequest struct {
	Event  uint64 `json:"event,omitempty" maximum:"9007199254740991" doc:"Last event both have; 0 for now."`
	Name   string `json:"name" maxLength:"400" doc:"Name of the new computer."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only say what it would begin with."`
}

// Forked is a computer that was forked.
type Forked struct {
	ID       choir.ID     `json:"id,omitempty" doc:"The new computer."`
	Name     string       `json:"name"`
	Seq      uint64       `json:"at_seq" doc:"Last event both have."`
	Hash     choir.Digest `json:"hash" doc:"Hash of that event, and so of all before it."`
	Snapshot choir.Digest `json:"snapshot,omitempty" doc:"The workspace it begins with."`
	Withheld []string     `json:"withheld,omitempty" doc:"Paths that look like keys and did not come along."`
	DryRun   bool         `json:"dry_run,omitempty"`
}

// computers registers what makes computers and what goes between them.
func (a *API) computers(_ *http.ServeMux, h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("fork", http.MethodPost, base+"/fork", "Make a second computer of a moment", 201),
		func(ctx context.Context, r *struct {
			In
			Body ForkRequest
		}) (*body[Forked], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err == nil {
				err = onlyOwner(p)
			}
			if err != nil {
				return nil, err
			}
			return answer(a.sys.Fork(ctx, c, p.Role, r.Body))
		})
}

// onlyOwner refuses whoever is not as trusted as the shell.
func onlyOwner(p auth.Principal) error {
	if p.Role == choir.RoleShell || p.Role == choir.RoleCLI {
		return nil
	}
	return ProblemOf(choir.E("api", choir.CodeForbidden, "only the owner may do this, in the shell or with the CLI"))
}
