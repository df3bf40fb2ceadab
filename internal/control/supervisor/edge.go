package supervisor

import (
	"context"
	"net"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/treemerge"
	"choiros/internal/control/api"
	"choiros/internal/control/gateway"
	"choiros/internal/desktop"
)

// Edge is the control plane as API and gateway reach it: computers by their ids, and of a
// computer the parts that requests are about.
type Edge struct{ *System }

var (
	_ api.System     = Edge{}
	_ gateway.System = Edge{}
)

// Edge returns the control plane as API and gateway reach it.
func (s *System) Edge() Edge { return Edge{s} }

// Computers lists the computers.
func (e Edge) Computers() []api.Computer { return allParts(e.System.Computers()) }

// Computer finds one; see System.Computer.
func (e Edge) Computer(id choir.ID) (api.Computer, error) { return partsOf(e.System.Computer(id)) }

// MustHave refuses the id of a computer that is not there; see System.Computer.
func (e Edge) MustHave(id choir.ID) error {
	_, err := e.System.Computer(id)
	return err
}

// DialPort connects to what listens on a port in the sandbox of a computer's Associate.
func (e Edge) DialPort(ctx context.Context, id choir.ID, port int) (net.Conn, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return nil, err
	}
	return c.Roles().DialPort(ctx, port)
}

// Desktop is what the desktop's origin of a computer serves.
func (e Edge) Desktop(id choir.ID) (*desktop.Host, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return nil, err
	}
	return e.System.Desktop(c), nil
}

// Source says how a computer's desktop is served.
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

// HurryRun plays the rest of a paced run at full speed.
func (e Edge) HurryRun(ctx context.Context, id, run choir.ID) error {
	c, err := e.System.Computer(id)
	if err != nil {
		return err
	}
	return e.System.HurryRun(ctx, c, run)
}

// Fork makes a second computer of a moment of the first.
func (e Edge) Fork(ctx context.Context, id choir.ID, role choir.Role, r api.ForkRequest) (api.Forked, error) {
	c, err := e.System.Computer(id)
	if err != nil {
		return api.Forked{}, err
	}
	return e.System.Fork(ctx, c, role, r)
}

// Compare compares the files of two computers, as they are now.
func (e Edge) Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error) {
	return compare(ctx, e.System, id, with)
}

// Take takes over the changes of another computer.
func (e Edge) Take(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	return takeChanges(ctx, e.System, id, role, from, paths, dryRun)
}

// ReaderEdge is a control plane that only reads, as the API reaches it.
type ReaderEdge struct{ *Reader }

var _ api.System = ReaderEdge{}

// Edge returns the control plane as the API reaches it.
func (r *Reader) Edge() ReaderEdge { return ReaderEdge{r} }

// Computers lists the computers.
func (e ReaderEdge) Computers() []api.Computer { return allParts(e.Reader.Computers()) }

// Computer finds one; code not_found when there is none.
func (e ReaderEdge) Computer(id choir.ID) (api.Computer, error) {
	return partsOf(e.Reader.Computer(id))
}

// Compare compares the files of two computers, as the logs have them.
func (e ReaderEdge) Compare(ctx context.Context, id, with choir.ID) (copies.Compared, error) {
	return compare(ctx, e.Reader, id, with)
}

// Take says what a take would change; without dryRun it is refused by the computer.
func (e ReaderEdge) Take(ctx context.Context, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	return takeChanges(ctx, e.Reader, id, role, from, paths, dryRun)
}

// finder finds computers.
type finder interface {
	Computer(id choir.ID) (*computer.Computer, error)
}

// both finds two computers.
func both(f finder, id, other choir.ID) (a, b *computer.Computer, err error) {
	if a, err = f.Computer(id); err == nil {
		b, err = f.Computer(other)
	}
	return a, b, err
}

func compare(ctx context.Context, f finder, id, with choir.ID) (copies.Compared, error) {
	c, other, err := both(f, id, with)
	if err != nil {
		return copies.Compared{}, err
	}
	return c.Copier().Compare(ctx, other.Copier())
}

func takeChanges(ctx context.Context, f finder, id choir.ID, role choir.Role, from choir.ID, paths []string, dryRun bool) (treemerge.Applied, error) {
	c, other, err := both(f, id, from)
	if err != nil {
		return treemerge.Applied{}, err
	}
	return c.Copier().Take(ctx, role, other.Copier(), paths, dryRun)
}

// allParts returns the parts of computers.
func allParts(all []*computer.Computer) []api.Computer {
	out := make([]api.Computer, 0, len(all))
	for _, c := range all {
		out = append(out, parts(c))
	}
	return out
}

// partsOf returns the parts of a computer that was found.
func partsOf(c *computer.Computer, err error) (api.Computer, error) {
	if err != nil {
		return api.Computer{}, err
	}
	return parts(c), nil
}

// parts returns the parts of a computer that requests are about.
func parts(c *computer.Computer) api.Computer {
	return api.Computer{
		ID: c.ID(), User: c.User(), Name: c.Name(),
		Log: c.Store(), Content: c.Blobs(), Desk: c.Desk(), Workspace: c.Workspace(), Projects: c.Projects(), Source: c.Source(),
		Roles: c.Roles(), Terminals: c.Roles().Terminals(), Runs: c.Runs(), Tasks: c.Tasks(), Verifier: c.Verifier(),
		Moments: c.Moments(), Rewinder: c.Rewinder(), Copier: c.Copier(), Collector: c.Collector(),
	}
}
