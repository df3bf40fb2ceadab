package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/grants"
	"choiros/internal/eventstore"
)

// Grants lists and answers requests for hosts outside; grants.Grants implements it.
type Grants interface {
	CountRequests(ctx context.Context) (int, error)
	List(ctx context.Context) (grants.Listed, error)
	Grant(ctx context.Context, role choir.Role, w grants.Wish) (choir.EgressGranted, error)
	Revoke(ctx context.Context, role choir.Role, host string, port int, id choir.ID) (revoked int, err error)
	Deny(ctx context.Context, role choir.Role, host string, port int) error
}

// EgressView lists the hosts that programs in the sandboxes ask for, and the grants.
type EgressView struct {
	Mode     string          `json:"mode" enum:"none,git+pkg,allowlist" doc:"Policy in force; none lets nothing out, and nobody asks."`
	Requests []EgressRequest `json:"requests" doc:"Hosts that were refused and wait for an answer, oldest first."`
	Unlisted int             `json:"unlisted,omitempty" doc:"Refusals for more hosts than are listed."`
	Grants   []GrantedHost   `json:"grants" doc:"Grants that hold, oldest first."`
	EgressReach
	Reached []ReachedHost `json:"reached" doc:"Hosts that programs reached so far, the newest first; those that found no room of their own come last, together and without a host."`
}

// EgressReach lists the hosts that the policy lets out, and the hosts of its list that the owner took away.
type EgressReach struct {
	Rules      []EgressRule `json:"rules" doc:"What the policy lets out without a grant."`
	Away       []string     `json:"away" doc:"Hosts of the list of mode git+pkg that the owner took away; with that mode only."`
	AwayInFile bool         `json:"away_in_file,omitempty" doc:"The configuration file gives egress.without, so that hosts cannot be taken away or put back here."`
}

// EgressRule is a host that the policy lets out.
type EgressRule struct {
	Host    string   `json:"host" doc:"Name or address; *.example.com stands for all names below example.com."`
	Port    int      `json:"port"`
	Methods []string `json:"methods,omitempty" doc:"Methods that get out; absent for all."`
	Paths   []string `json:"paths,omitempty" doc:"Paths below which requests get out; absent for all."`
	Known   bool     `json:"known,omitempty" doc:"It is of the list of git hosts and package registries of mode git+pkg."`
	Opened  string   `json:"opened,omitempty" enum:"rule,key,packages" doc:"Why its TLS ends at choir, with an authority that only this sandbox trusts: for methods or paths, to add a key of the vault, or for the package cache. Absent where it passes through unread."`
}

// ReachedHost counts what went to one host and port, and came from it.
type ReachedHost struct {
	Host     string     `json:"host,omitempty"`
	Port     int        `json:"port,omitempty"`
	Requests int64      `json:"requests" doc:"Requests and tunnels."`
	Sent     int64      `json:"sent" doc:"Bytes."`
	Received int64      `json:"received" doc:"Bytes."`
	Last     choir.Time `json:"last" doc:"When the newest one ended."`
}

// EgressRequest is a host that tasks ask for.
type EgressRequest struct {
	Host   string           `json:"host" doc:"The host, in its one canonical form."`
	Port   int              `json:"port"`
	Why    choir.EgressWhy  `json:"why" doc:"What refused it."`
	Policy choir.EgressMode `json:"policy" doc:"The policy that refused it."`
	At     choir.Time       `json:"at" doc:"When it was refused first."`
	Count  int              `json:"count" doc:"How often it was refused; each task counts once."`
	Askers []EgressAsker    `json:"askers" doc:"Tasks that ask, the first ones."`
}

// EgressAsker is a task that asks for a host. What it says is of guests and models: untrusted.
type EgressAsker struct {
	Run         choir.ID `json:"run"`
	Task        choir.ID `json:"task"`
	Instruction string   `json:"instruction,omitempty" doc:"What the task is to do; its beginning; untrusted."`
	Tool        string   `json:"tool,omitempty" doc:"The tool call that asked; untrusted."`
	Command     string   `json:"command,omitempty" doc:"What the tool was given; its beginning; untrusted."`
	Over        bool     `json:"over,omitempty" doc:"The task has its answer, so that nothing can be granted for it."`
	RunOver     bool     `json:"run_over,omitempty" doc:"The run has ended, or is none of the log."`
}

// GrantedHost is a grant that holds.
type GrantedHost struct {
	Grant   choir.ID          `json:"grant"`
	Host    string            `json:"host"`
	Port    int               `json:"port"`
	Scope   choir.EgressScope `json:"scope" enum:"task,run,always"`
	Run     choir.ID          `json:"run,omitempty"`
	Task    choir.ID          `json:"task,omitempty"`
	At      choir.Time        `json:"at"`
	Expires choir.Time        `json:"expires,omitzero"`
	By      choir.Source      `json:"by"`
}

// GrantRequest is the request to let a host out.
type GrantRequest struct {
	Host     string   `json:"host" minLength:"1" maxLength:"300" doc:"The host, exactly."`
	Port     int      `json:"port,omitempty" minimum:"1" maximum:"65535" doc:"443 when nothing is said."`
	Scope    string   `json:"scope" enum:"task,run,always"`
	Run      choir.ID `json:"run,omitempty" doc:"For scope run; that of the newest task that asks when nothing is said."`
	Task     choir.ID `json:"task,omitempty" doc:"For scope task; the newest that asks when nothing is said."`
	ExpiresS int64    `json:"expires_s,omitempty" minimum:"1" maximum:"31536000" doc:"Seconds until it ends by itself."`
}

// HostRequest names a host and port, or a grant by its id.
type HostRequest struct {
	Host  string   `json:"host" minLength:"1" maxLength:"300"`
	Port  int      `json:"port,omitempty" minimum:"1" maximum:"65535" doc:"443 when nothing is said."`
	Grant choir.ID `json:"grant,omitempty" doc:"Only this grant is revoked."`
}

// RevokedView says how many grants ended.
type RevokedView struct {
	Revoked int `json:"revoked"`
}

// EgressReloaded describes the policy for hosts and the rules that a reload put in force.
type EgressReloaded struct {
	File  string `json:"file" doc:"The file that was read; empty for the defaults."`
	Mode  string `json:"mode" enum:"none,git+pkg,allowlist"`
	Hosts int    `json:"hosts" doc:"Entries of the allow list."`
	Rules int    `json:"rules" doc:"Rules of [[approve]] in force."`
	Cut   int    `json:"cut" doc:"Requests and tunnels that did not fit any more."`
}

// EgressChoice is the owner's choice of a policy for hosts outside.
type EgressChoice struct {
	Mode choir.EgressMode `json:"mode" enum:"none,git+pkg,allowlist" doc:"none lets nothing out, and nobody asks; allowlist lets out what is granted, and the rest is asked for; git+pkg the known git hosts and package registries as well."`
}

// ListedHost is the owner's choice about a host of the list of mode git+pkg.
type ListedHost struct {
	Host string `json:"host" minLength:"1" maxLength:"300" doc:"A host of the list, exactly."`
	Out  bool   `json:"out" doc:"Whether it is let out; false takes it away, on each of its ports."`
}

// egress registers the routes of requests for hosts and grants. All are for the owner only.
func (a *API) egress(h huma.API) {
	const base = "/api/computers/{computer}/egress"
	huma.Register(h, op("getEgress", http.MethodGet, base, "List the hosts that tasks ask for, and the grants", 200),
		func(ctx context.Context, r *In) (*body[EgressView], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			l, err := c.Grants.List(ctx)
			if err != nil {
				return nil, problem(err)
			}
			v := viewEgress(c.Egress, l)
			v.EgressReach = c.Reach()
			v.Reached, err = viewReached(c.Log.EgressHosts(ctx))
			return answer(v, err)
		})
	huma.Register(h, op("grantHost", http.MethodPost, base+"/grants", "Let a host out for a task, a run or always", 201),
		func(ctx context.Context, r *struct {
			In
			Body GrantRequest
		}) (*body[choir.EgressGranted], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			b := r.Body
			return answer(c.Grants.Grant(ctx, p.Role, grants.Wish{
				Host: b.Host, Port: portOf(b.Port), Scope: choir.EgressScope(b.Scope), Run: b.Run, Task: b.Task, Lasts: time.Duration(b.ExpiresS) * time.Second,
			}))
		})
	huma.Register(h, op("revokeHost", http.MethodPost, base+"/revoke", "End the grants of a host, and cut what is open by them", 200),
		func(ctx context.Context, r *struct {
			In
			Body HostRequest
		}) (*body[RevokedView], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			n, err := c.Grants.Revoke(ctx, p.Role, r.Body.Host, portOf(r.Body.Port), r.Body.Grant)
			return answer(RevokedView{n}, err)
		})
	huma.Register(h, op("denyHost", http.MethodPost, base+"/deny", "Answer the request for a host with no", 202),
		func(ctx context.Context, r *struct {
			In
			Body HostRequest
		}) (*struct{}, error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return nil, problem(c.Grants.Deny(ctx, p.Role, r.Body.Host, portOf(r.Body.Port)))
		})
	huma.Register(h, op("chooseEgress", http.MethodPut, "/api/egress/mode", "Choose the policy for hosts outside, for every computer", 200),
		func(ctx context.Context, r *struct{ Body EgressChoice }) (*body[EgressReloaded], error) {
			return answer(a.sys.ChooseEgress(ctx, r.Body.Mode))
		})
	huma.Register(h, op("chooseListed", http.MethodPut, "/api/egress/listed", "Take a host away from the list of mode git+pkg or put it back, for every computer", 200),
		func(ctx context.Context, r *struct{ Body ListedHost }) (*body[EgressReloaded], error) {
			return answer(a.sys.ChooseListed(ctx, r.Body.Host, r.Body.Out))
		})
	huma.Register(h, op("reloadEgress", http.MethodPost, "/api/egress/reload", "Read [egress] and [[approve]] of choir.toml again; for the CLI only", 200),
		func(ctx context.Context, _ *struct{}) (*body[EgressReloaded], error) {
			if err := onlyCLI(ctx); err != nil {
				return nil, err
			}
			return answer(a.sys.ReloadEgress(ctx))
		})
}

// portOf returns a port, that of HTTPS for none.
func portOf(port int) int {
	if port == 0 {
		return 443
	}
	return port
}

// viewEgress returns the requests and grants as their owner sees them.
func viewEgress(mode choir.EgressMode, l grants.Listed) EgressView {
	v := EgressView{Mode: string(mode), Requests: []EgressRequest{}, Unlisted: l.Unlisted, Grants: []GrantedHost{}, Reached: []ReachedHost{}}
	for _, r := range l.Requests {
		one := EgressRequest{Host: r.Host, Port: r.Port, Why: r.Why, Policy: r.Policy, At: r.At, Count: r.Count, Askers: []EgressAsker{}}
		for _, a := range r.Askers {
			one.Askers = append(one.Askers, EgressAsker{
				Run: a.Run, Task: a.Task, Instruction: clipped(a.Instruction), Tool: a.Tool, Command: clipped(wanted(a.Input)), Over: a.Over, RunOver: a.RunOver,
			})
		}
		v.Requests = append(v.Requests, one)
	}
	for _, g := range l.Grants {
		v.Grants = append(v.Grants, viewGrant(g))
	}
	return v
}

// viewReached returns the hosts that programs reached.
func viewReached(hosts []eventstore.EgressHost, err error) ([]ReachedHost, error) {
	out := []ReachedHost{}
	for _, h := range hosts {
		out = append(out, ReachedHost{Host: h.Host, Port: h.Port, Requests: h.Requests, Sent: h.Sent, Received: h.Received, Last: h.Last})
	}
	return out, err
}

// viewGrant returns a grant as its owner sees it.
func viewGrant(g eventstore.EgressGrant) GrantedHost {
	return GrantedHost{Grant: g.ID, Host: g.Host, Port: g.Port, Scope: g.Scope, Run: g.Run, Task: g.Task, At: g.At, Expires: g.Expires, By: g.By}
}

// wanted returns the part of a tool's input that says most about it.
func wanted(in choir.ToolInput) string {
	for _, text := range []string{in.Command, in.URL, in.Path, in.Pattern, in.Raw} {
		if text != "" {
			return text
		}
	}
	return ""
}

// maxShown is the length in characters of a guest's text beside a request.
const maxShown = 600

// clipped returns the beginning of a text.
func clipped(s string) string {
	runes := []rune(s)
	if len(runes) <= maxShown {
		return s
	}
	return string(runes[:maxShown]) + "…"
}
