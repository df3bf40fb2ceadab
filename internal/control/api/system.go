package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// ComputerView is one computer as its owner sees it.
type ComputerView struct {
	ID        choir.ID      `json:"id"`
	Name      string        `json:"name"`
	User      choir.ID      `json:"user"`
	Head      uint64        `json:"head" doc:"Sequence number of the newest event."`
	Isolation []SandboxView `json:"isolation" doc:"Each sandbox and the level in force."`
	Egress    string        `json:"egress,omitempty" enum:"none,git+pkg,allowlist" doc:"Policy for the hosts outside that programs in the Associate's sandbox may reach; absent while the computer is closed."`
	Asks      int           `json:"asks,omitempty" doc:"Hosts that its tasks ask for, see getEgress."`
	Approvals int           `json:"approvals,omitempty" doc:"Results of its tasks that wait for approval, see listApprovals."`
	Models    ModelState    `json:"models"`
	ReadOnly  string        `json:"read_only,omitempty" doc:"Why the log takes no more events; empty when it does."`
	Frozen    bool          `json:"frozen,omitempty" doc:"Nothing used it for a while, so its programs stand still; the next request that names it lets them go on."`
	// Hibernated computers have no sandboxes, and the number of the newest event at the close.
	Hibernated bool   `json:"hibernated,omitempty" doc:"Nothing used it for a while, so nothing of it runs; the next request that names it starts it."`
	Failed     string `json:"failed,omitempty" doc:"Why the computer could not be opened; nothing of it can be asked for then."`
}

// FailedComputer is a computer that could not be opened.
type FailedComputer struct {
	ID   choir.ID
	Name string
	User choir.ID
	Why  *choir.Error
}

// HibernatedComputer is a computer that is closed until a request names it.
type HibernatedComputer struct {
	ID   choir.ID
	Name string
	User choir.ID
	Head uint64
}

// SandboxView is one sandbox of a computer.
type SandboxView struct {
	Role      choir.Role    `json:"role" enum:"director,associate"`
	Running   bool          `json:"running"`
	Level     sandbox.Level `json:"level"`
	PublicKey string        `json:"public_key,omitempty" doc:"Verifies the Director's answers."`
}

// Grant is a set of bus credentials for one connection of a browser.
type Grant struct {
	JWT      string     `json:"jwt"`
	Seed     string     `json:"seed"`
	Inbox    string     `json:"inbox"`
	Expires  choir.Time `json:"expires"`
	LastsMS  int64      `json:"lasts_ms" doc:"How long that is from now, in milliseconds: a browser's clock may differ."`
	User     choir.ID   `json:"user"`
	Computer choir.ID   `json:"computer"`
}

// grantOf returns bus credentials as a browser gets them.
func grantOf(c bus.Credentials, user, computer choir.ID, now choir.Time) Grant {
	return Grant{JWT: c.JWT, Seed: c.Seed, Inbox: c.Inbox, Expires: c.Expires, LastsMS: int64(c.Expires - now), User: user, Computer: computer}
}

// Link is a new token: for one login, or for /metrics.
type Link struct {
	Token string `json:"token"`
}

func (a *API) system(h huma.API) {
	huma.Register(h, op("listComputers", http.MethodGet, "/api/computers", "List your computers", 200),
		func(ctx context.Context, _ *struct{}) (*body[[]ComputerView], error) {
			out := []ComputerView{}
			for _, c := range a.sys.Computers() {
				out = append(out, a.view(ctx, c))
			}
			for _, c := range a.sys.Hibernated() {
				out = append(out, c.view(a.sys.Models()))
			}
			for _, f := range a.sys.Failed() {
				out = append(out, f.view(a.sys.Models()))
			}
			// Ids begin with the time: the oldest stays the first, opened or not.
			slices.SortStableFunc(out, func(a, b ComputerView) int { return strings.Compare(string(a.ID), string(b.ID)) })
			return answer(out, nil)
		})
	huma.Register(h, op("getComputer", http.MethodGet, "/api/computers/{computer}", "Show a computer", 200),
		func(ctx context.Context, r *In) (*body[ComputerView], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(a.view(ctx, c), nil)
		})
	huma.Register(h, op("getDoctor", http.MethodGet, "/api/doctor", "Say what this machine can do", 200),
		func(ctx context.Context, _ *struct{}) (*body[Doctor], error) { return answer(a.sys.Doctor(ctx), nil) })
	huma.Register(h, op("getHealth", http.MethodGet, "/api/health", "Say how the control plane is, in every part", 200),
		func(ctx context.Context, _ *struct{}) (*body[Health], error) { return answer(a.sys.Health(ctx), nil) })
	huma.Register(h, op("newBusCredentials", http.MethodPost, "/api/computers/{computer}/bus", "Get an identity for one bus connection", 201),
		func(ctx context.Context, r *In) (*body[Grant], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			creds, err := a.sys.Mint(p.Role, c.User, c.ID)
			return answer(grantOf(creds, c.User, c.ID, choir.TimeOf(a.cfg.Now())), err)
		})
	huma.Register(h, op("newLoginLink", http.MethodPost, "/api/link", "Make a one-time login token; for the CLI only", 201),
		func(ctx context.Context, _ *struct{}) (*body[Link], error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			token, err := a.sys.NewLink()
			return answer(Link{token}, err)
		})
	huma.Register(h, op("renewMetricsToken", http.MethodPost, "/api/metrics/token", "Make the token that reads /metrics, in place of the one before; for the CLI only", 201),
		func(ctx context.Context, _ *struct{}) (*body[Link], error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			token, err := a.sys.RenewScrapeToken()
			return answer(Link{token}, err)
		})
	huma.Register(h, op("removeMetricsToken", http.MethodDelete, "/api/metrics/token", "Void the token that reads /metrics; for the CLI only", 204),
		func(ctx context.Context, _ *struct{}) (*struct{}, error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			if err := a.sys.RemoveScrapeToken(); err != nil {
				return nil, ProblemOf(err)
			}
			return nil, nil
		})
	demo := op("startDemo", http.MethodPost, "/api/computers/{computer}/demo", "Start the recorded demo; it counts as a prompt", 202)
	demo.MaxBodyBytes = maxReplayed // the CLI may bring a project
	huma.Register(h, demo, a.startDemo)
}

func (a *API) startDemo(ctx context.Context, r *struct {
	In
	Body DemoParts
}) (*body[Demo], error) {
	c, p, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	if r.Body.Recording != nil || r.Body.Repo != nil || r.Body.Live {
		if err := onlyCLI(ctx); err != nil {
			return nil, err
		}
	}
	if wait := a.prompts.allow(c.ID); wait > 0 {
		return nil, a.tooManyPrompts(wait)
	}
	return answer(a.sys.StartDemo(ctx, c.ID, p.Role, r.Body))
}

// view returns the view of an open computer.
func (a *API) view(ctx context.Context, c Computer) ComputerView {
	head, _ := c.Log.Head()
	v := ComputerView{ID: c.ID, Name: c.Name, User: c.User, Head: head, Egress: string(c.Egress), Models: a.sys.Models(), ReadOnly: c.Log.ReadOnly(), Frozen: c.Frozen}
	// A log that cannot be read has its own check; the computer is shown without the number.
	v.Asks, _ = c.Grants.CountRequests(ctx)
	v.Approvals, _ = c.Effects.Count(ctx)
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		level, running := c.Roles.Level(role)
		v.Isolation = append(v.Isolation, SandboxView{Role: role, Running: running, Level: level, PublicKey: c.Roles.PublicKey(role)})
	}
	return v
}

// view returns the view of a hibernated computer.
func (c HibernatedComputer) view(m ModelState) ComputerView {
	return ComputerView{ID: c.ID, Name: c.Name, User: c.User, Head: c.Head, Models: m, Hibernated: true, Isolation: notRunning()}
}

// notRunning returns the sandboxes of a computer that is not open.
func notRunning() (out []SandboxView) {
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		out = append(out, SandboxView{Role: role})
	}
	return out
}

// view returns the view of a computer that could not be opened.
func (f FailedComputer) view(m ModelState) ComputerView {
	return ComputerView{ID: f.ID, Name: f.Name, User: f.User, Models: m, ReadOnly: f.Why.Error(), Failed: f.Why.Error(), Isolation: notRunning()}
}
