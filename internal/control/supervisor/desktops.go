package supervisor

import (
	"context"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/desktop"
)

// DesktopConfig has the desktop's source and modules of this build.
type DesktopConfig struct {
	// Source is the tar archive of the desktop's source for new workspaces; empty for
	// none.
	Source []byte
	// Modules run development servers on a changed source; nil if this build has none.
	Modules *desktop.Modules
}

// desktops are the hosts of the computers' desktops, each created on first use.
type desktops struct {
	mu     sync.Mutex // guards the fields below
	all    map[choir.ID]*desktop.Host
	closed bool
}

// Desktop returns the host of a computer's desktop origin, which is created on the first
// call.
func (s *System) Desktop(c *computer.Computer) *desktop.Host {
	d := &s.desktops
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.all[c.ID()]; h != nil {
		return h
	}
	h := desktop.New(c.Source(), c.Roles(), desktop.Config{Modules: s.cfg.Desktop.Modules, Now: s.cfg.Now, Log: s.cfg.Log})
	if d.closed {
		h.Close()
	}
	if d.all == nil {
		d.all = map[choir.ID]*desktop.Host{}
	}
	d.all[c.ID()] = h
	return h
}

// Source returns whether the bundle or a development server serves a computer's desktop.
func (s *System) Source(ctx context.Context, c *computer.Computer) (desktop.Status, error) {
	return s.Desktop(c).Status(ctx)
}

// drop stops the development server of a computer and forgets its host.
func (d *desktops) drop(id choir.ID) {
	d.mu.Lock()
	h := d.all[id]
	delete(d.all, id)
	d.mu.Unlock()
	if h != nil {
		h.Close()
	}
}

// close stops every development server. Hosts created later are closed too.
func (d *desktops) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, h := range d.all {
		h.Close()
	}
}
