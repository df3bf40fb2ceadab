package supervisor

import (
	"context"
	"net"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/treemerge"
	"choiros/internal/control/api"
	"choiros/internal/control/egress"
	"choiros/internal/control/gateway"
	"choiros/internal/desktop"
)

// Edge adapts System to the interfaces of API and gateway, which identify computers by
// id and use only their parts.
type Edge struct{ *System }

var (
	_ api.System     = Edge{}
	_ gateway.System = Edge{}
)

// Edge returns the control plane as API and gateway use it.
func (s *System) Edge() Edge { return Edge{s} }

// Computers lists the computers.
func (e Edge) Computers() []api.Computer {
	return allParts(e.System, e.System.Computers(), e.System.policy.get().Mode)
}

// Computer returns the parts of a computer; see System.Computer.
func (e Edge) Computer(id choir.ID) (api.Computer, error) {
	c, err := e.System.Computer(id)
	return partsOf(e.System, c, e.System.policy.get().Mode, err)
}

// Use opens a computer if it is not open, and keeps it open until release is called; see
// System.Use.
func (e Edge) Use(ctx context.Context, id choir.ID) (release func(), err error) {
	_, release, err = e.System.Use(ctx, id)
	return release, err
}

// DialPort connects to a port in the sandbox of a computer's Associate.
func (e Edge) DialPort(ctx context.Context, id choir.ID, port int) (net.Conn, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return nil, err
	}
	return c.Roles().DialPort(ctx, port)
}

// Desktop returns the host of a computer's desktop.
func (e Edge) Desktop(id choir.ID) (*desktop.Host, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return nil, err
	}
	return e.System.Desktop(c), nil
}

// Source returns whether the bundle or a development server serves a computer's desktop.
func (e Edge) Source(ctx context.Context, id choir.ID) (desktop.Status, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return desktop.Status{}, err
	}
	return e.System.Source(ctx, c)
}

// StartDemo starts the demo on a computer; see System.StartDemo.
func (e Edge) StartDemo(ctx context.Context, id choir.ID, role choir.Role, other api.DemoParts) (api.Demo, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return api.Demo{}, err
	}
	return e.System.StartDemo(ctx, c, role, other)
}

// HurryRun plays the rest of a paced run at full speed; see System.HurryRun.
func (e Edge) HurryRun(ctx context.Context, id, run choir.ID) error {
	c, err := e.System.Computer(id)
	if err != nil {
		return err
	}
	return e.System.HurryRun(ctx, c, run)
}

// Fork creates a computer from the past of another; see System.Fork.
func (e Edge) Fork(ctx context.Context, id choir.ID, role choir.Role, r api.ForkRequest) (api.Forked, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return api.Forked{}, err
	}
	return e.System.Fork(ctx, c, role, r)
}

// Compare returns the differences between the current files of two computers.
func (e Edge) Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error) {
	return compare(ctx, e.System, id, with)
}

// TakeChanges merges the changes of the computer from into a computer.
func (e Edge) TakeChanges(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	return takeChanges(ctx, e.System, id, role, from, paths, dryRun)
}

// ReaderEdge adapts Reader to the interface of the API.
type ReaderEdge struct{ *Reader }

var _ api.System = ReaderEdge{}

// Edge returns the reader as the API uses it.
func (r *Reader) Edge() ReaderEdge { return ReaderEdge{r} }

// Computers lists the computers.
func (e ReaderEdge) Computers() []api.Computer {
	return allParts(nil, e.Reader.Computers(), choir.EgressNone)
}

// Computer returns the parts of a computer. Code not_found: there is none.
func (e ReaderEdge) Computer(id choir.ID) (api.Computer, error) {
	c, err := e.Reader.Computer(id)
	return partsOf(nil, c, choir.EgressNone, err)
}

// Compare returns the differences between the files of two computers, as their logs have
// them.
func (e ReaderEdge) Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error) {
	return compare(ctx, e.Reader, id, with)
}

// TakeChanges returns the changes that a merge would make. Without dryRun it fails,
// because the computer is read-only.
func (e ReaderEdge) TakeChanges(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	return takeChanges(ctx, e.Reader, id, role, from, paths, dryRun)
}

// OwnerOf returns the user of a computer; see api.Owners.
func (e ReaderEdge) OwnerOf(id choir.ID) (choir.ID, error) {
	c, err := e.Reader.Computer(id)
	if err != nil {
		return "", err
	}
	return c.User(), nil
}

// Use returns nil if there is the computer: all are open for reading.
func (e ReaderEdge) Use(_ context.Context, id choir.ID) (release func(), err error) {
	_, err = e.Reader.Computer(id)
	return func() {}, err
}

// finder finds computers by id.
type finder interface {
	Computer(id choir.ID) (*computer.Computer, error)
}

// both returns two computers, or the first error.
func both(f finder, id, other choir.ID) (a, b *computer.Computer, err error) {
	if a, err = f.Computer(id); err == nil {
		b, err = f.Computer(other)
	}
	return a, b, err
}

// compare returns the differences between the files of two computers.
func compare(ctx context.Context, f finder, id, with choir.ID) (copies.Compared, error) {
	c, other, err := both(f, id, with)
	if err != nil {
		return copies.Compared{}, err
	}
	return c.Copier().Compare(ctx, other.Copier())
}

// takeChanges merges the changes of the computer from into a computer.
func takeChanges(ctx context.Context, f finder, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	c, other, err := both(f, id, from)
	if err != nil {
		return treemerge.Applied{}, err
	}
	return c.Copier().TakeChanges(ctx, role, other.Copier(), paths, dryRun)
}

// allParts returns the parts of each computer, of a system unless that is nil, under an egress policy of a mode.
func allParts(s *System, all []*computer.Computer, mode choir.EgressMode) []api.Computer {
	out := make([]api.Computer, 0, len(all))
	for _, c := range all {
		out = append(out, parts(s, c, mode))
	}
	return out
}

// partsOf returns the parts of c, or err if that is not nil.
func partsOf(s *System, c *computer.Computer, mode choir.EgressMode, err error) (api.Computer, error) {
	if err != nil {
		return api.Computer{}, err
	}
	return parts(s, c, mode), nil
}

// reachOf returns what the policy in force lets out of a computer's sandboxes; s is nil where the
// computer is read only.
func reachOf(s *System, c *computer.Computer) api.EgressReach {
	out := api.EgressReach{Rules: []api.EgressRule{}, Away: []string{}}
	if s == nil {
		return out
	}
	file := s.policy.config()
	out.AwayInFile = file.GivesEgressWithout()
	if file.Egress.Mode == string(choir.EgressGitPkg) {
		out.Away = append(out.Away, file.Egress.Without...)
	}
	var cached []string
	if s.cfg.File.Egress.PackageCacheMB > 0 {
		cached = registryHosts(s.cfg.Registries)
	}
	keys := s.vault.HeaderHosts(c.ID())
	for _, r := range s.policy.get().Rules() {
		one := api.EgressRule{Host: r.Host, Port: r.Port, Methods: r.Methods, Paths: r.Paths, Known: r.Known}
		switch {
		case r.Port != 443:
		case len(r.Methods)+len(r.Paths) > 0:
			one.Opened = "rule"
		case slices.ContainsFunc(keys, func(t egress.Target) bool { return t.Port == r.Port && r.Covers(t.Host) }):
			one.Opened = "key"
		case slices.ContainsFunc(cached, r.Covers):
			one.Opened = "packages"
		}
		out.Rules = append(out.Rules, one)
	}
	return out
}

// parts returns the parts of a computer that the API uses.
func parts(s *System, c *computer.Computer, mode choir.EgressMode) api.Computer {
	return api.Computer{
		Frozen: s != nil && s.computers.pool.Frozen(c.ID()),
		ID:     c.ID(), User: c.User(), Name: c.Name(), Egress: mode, Reach: func() api.EgressReach { return reachOf(s, c) },
		Log: c.Store(), Content: c.Blobs(), Desk: c.Desk(), Workspace: c.Workspace(), Projects: c.Projects(), Source: c.Source(),
		Roles: c.Roles(), Terminals: c.Roles().Terminals(), Runs: c.Runs(), Grants: c.Grants(), Effects: c.Effects(), Tasks: c.Tasks(), Verifier: c.Verifier(),
		Moments: c.Moments(), Rewinder: c.Rewinder(), Copier: c.Copier(), Collector: c.Collector(),
		Vault: computerVault{c, s}, Repos: repos{c, s},
	}
}
