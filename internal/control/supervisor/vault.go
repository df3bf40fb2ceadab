package supervisor

import (
	"context"
	"iter"
	"log/slog"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/projects"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/egress"
	"choiros/internal/control/gitgate"
	"choiros/internal/control/vault"
	"choiros/internal/eventstore"
	"choiros/internal/keyring"
)

// errReading refuses what only a running choir does.
var errReading = choir.Refuse("supervisor", choir.ReasonComputerNotRunning)

// computerVault implements api.Vault for one computer.
type computerVault struct {
	c *computer.Computer
	s *System // nil where the computer is read only
}

// keyUser implements vault.Computer.
type keyUser struct {
	c        *computer.Computer
	gateways *gateways
}

// ID implements vault.Computer.
func (u keyUser) ID() choir.ID { return u.c.ID() }

// Append implements vault.Computer.
func (u keyUser) Append(ctx context.Context, role choir.Role, payloads ...choir.Payload) ([]choir.Receipt, error) {
	return u.c.Events().Append(ctx, role, payloads...)
}

// Head implements vault.Computer.
func (u keyUser) Head() uint64 {
	head, _ := u.c.Store().Head()
	return head
}

// Events implements vault.Computer.
func (u keyUser) Events(ctx context.Context, from uint64) iter.Seq2[choir.Event, error] {
	return u.c.Store().Events(eventstore.MustNotLag(ctx), from, 0)
}

// EndKey implements vault.Computer.
func (u keyUser) EndKey(name string) {
	if out := u.gateways.peek(u.c.ID()); out != nil {
		out.proxy.EndKey(name)
	}
}

// recordVaultChanges appends the events of changes of the vault that the log of a computer does not have. A
// vault that cannot be read keeps no computer from being opened; the next start tries again.
func recordVaultChanges(ctx context.Context, v *vault.Vault, user keyUser, log *slog.Logger) {
	if user.c.Store().ReadOnly() != "" {
		return
	}
	if err := v.RecordUntold(ctx, user); err != nil {
		log.Error("the log of a computer does not say what changed in the vault", "computer", user.ID(), "error", err)
	}
}

// Set implements api.Vault.
func (v computerVault) Set(ctx context.Context, role choir.Role, name, key string, bound choir.VaultBinding) (keyring.Entry, error) {
	if v.s == nil {
		return keyring.Entry{}, errReading
	}
	return v.s.vault.Set(ctx, keyUser{v.c, v.s.gateways}, role, name, key, bound)
}

// List implements api.Vault.
func (v computerVault) List(ctx context.Context) ([]keyring.Entry, error) {
	if v.s == nil {
		return nil, errReading
	}
	return v.s.vault.List(ctx, v.c.ID())
}

// Remove implements api.Vault.
func (v computerVault) Remove(ctx context.Context, role choir.Role, name string) error {
	if v.s == nil {
		return errReading
	}
	return v.s.vault.Remove(ctx, keyUser{v.c, v.s.gateways}, role, name)
}

// RotateVault encrypts the vault under a new master key.
func (s *System) RotateVault(ctx context.Context) error { return s.vault.Rotate(ctx) }

// repos implements api.Repos for one computer.
type repos struct {
	c *computer.Computer
	s *System // nil where the computer is read only
}

// List implements api.Repos.
func (r repos) List(ctx context.Context) ([]api.Repo, error) {
	list, err := r.c.Projects().List(ctx)
	if err != nil {
		return nil, err
	}
	links, err := r.c.Projects().Links(ctx)
	if err != nil {
		return nil, err
	}
	pushes, err := r.c.Projects().Pushes(ctx)
	out := make([]api.Repo, 0, len(list))
	for _, added := range list {
		one := api.Repo{RepoAdded: added}
		var link projects.Link
		for _, l := range links {
			if l.Name == added.Name {
				link, one.URL, one.Credential = l, l.URL, l.Credential
			}
		}
		if r.s != nil {
			one.Push = viewPush(pushes[added.Name], r.s.gateways.remotes, r.c, added.Name, link)
		}
		out = append(out, one)
	}
	return out, err
}

// viewPush returns the state of a project's pushes; nil where nothing is pushed.
func viewPush(p projects.Push, to remotes, c *computer.Computer, name string, link projects.Link) *api.RepoPush {
	url, _, ok := to.of(c, name, link)
	if !ok {
		return nil
	}
	v := &api.RepoPush{URL: url, Commit: p.Commit, Attempts: p.Attempts, Said: p.Said, State: "pushed"}
	switch {
	case p.Wanted == "":
		v.State = "nothing"
	case p.Pending() && p.Attempts > 0:
		v.State = "failing"
	case p.Pending():
		v.State = "waiting"
	}
	return v
}

// Clone implements api.Repos.
func (r repos) Clone(ctx context.Context, role choir.Role, name, url, credential string) (choir.RepoAdded, error) {
	if r.s == nil {
		return choir.RepoAdded{}, errReading
	}
	gate, target, err := gitgate.Address(url)
	if err != nil {
		return choir.RepoAdded{}, err
	}
	if credential != "" {
		err := r.s.vault.Permits(ctx, credential, vault.Want{Use: choir.VaultForGit, Computer: r.c.ID(), Project: name, Action: "fetch", Target: target})
		if err != nil {
			return choir.RepoAdded{}, err
		}
	}
	if err := r.s.gateways.mayReach(ctx, r.c, target); err != nil {
		return choir.RepoAdded{}, err
	}
	return r.c.Projects().Clone(ctx, role, projects.NewClone{Link: projects.Link{Name: name, URL: url, Credential: credential}, Gate: gate})
}

// mayReach returns nil if the policy and what the owner granted always let a target out. It is
// asked before git is, which would leave its marks in the workspace.
func (g *gateways) mayReach(ctx context.Context, c *computer.Computer, t egress.Target) error {
	held, err := c.Grants().Holding(ctx, "", "")
	if err != nil {
		return err
	}
	var grants []egress.Grant
	for _, g := range held {
		grants = append(grants, grantOf(g))
	}
	return g.outlet(c).proxy.CheckTarget(t, grants)
}

// remotes are where the checkpoints of projects are pushed to.
type remotes struct{ cfg config.Git }

// of returns the address that a project's checkpoints are pushed to, by git.remote_template,
// and where git inside reaches it; ok is false for none.
func (r remotes) of(c *computer.Computer, name string, link projects.Link) (url, gate string, ok bool) {
	template := r.cfg.RemoteTemplate
	if template == "" || strings.Contains(template, "{origin}") && link.URL == "" {
		return "", "", false
	}
	url = strings.NewReplacer("{project}", name, "{computer}", string(c.ID()), "{origin}", link.URL).Replace(template)
	gate, _, err := gitgate.Address(url)
	return url, gate, err == nil
}

// pushed returns of for computers; nil if nothing is pushed.
func (r remotes) pushed() func(*computer.Computer, string, projects.Link) (url, gate string, ok bool) {
	if r.cfg.RemoteTemplate == "" {
		return nil
	}
	return r.of
}

// repositories returns what the git gateway of a computer leads to: what projects were cloned
// from, and where they are pushed to.
func (r remotes) repositories(ctx context.Context, c *computer.Computer) ([]gitgate.Repository, error) {
	links, err := c.Projects().Links(ctx)
	if err != nil {
		return nil, err
	}
	var out []gitgate.Repository
	of := map[string]projects.Link{}
	for _, l := range links {
		if _, target, err := gitgate.Address(l.URL); err == nil {
			out, of[l.Name] = append(out, gitgate.Repository{Project: l.Name, Target: target, Credential: l.Credential}), l
		}
	}
	if r.cfg.RemoteTemplate == "" {
		return out, nil
	}
	list, err := c.Projects().List(ctx)
	for _, added := range list {
		url, _, ok := r.of(c, added.Name, of[added.Name])
		if !ok || url == of[added.Name].URL {
			continue
		}
		if _, target, err := gitgate.Address(url); err == nil {
			out = append(out, gitgate.Repository{Project: added.Name, Target: target, Credential: r.cfg.RemoteCredential})
		}
	}
	return out, err
}

// newGate returns the git gateway of a computer.
func (g *gateways) newGate(c *computer.Computer, proxy *egress.Proxy) *gitgate.Gate {
	return &gitgate.Gate{
		Computer: c.ID(), Proxy: proxy, Vault: g.vault,
		Named: func(ctx context.Context) ([]gitgate.Repository, error) { return g.remotes.repositories(ctx, c) },
	}
}
