package supervisor

import (
	"context"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/desktop"
)

// DesktopConfig is what choir carries of the desktop beside its bundle.
type DesktopConfig struct {
	// Source is what new workspaces begin with, as a tar; empty for none.
	Source []byte
	// Modules serve a source that was changed; nil when this build has none.
	Modules *desktop.Modules
}

// desktops are the hosts of the computers' desktops, each made when it is asked
// for first.
type desktops struct {
	mu     sync.Mutex // guards what follows
	all    map[choir.ID]*desktop.Host
	closed bool
}

// Desktop is what the desktop's origin of a computer serves.
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

// Source says how a computer's desktop is served.
func (s *System) Source(ctx context.Context, c *computer.Computer) (desktop.Status, error) {
	return s.Desktop(c).Status(ctx)
}

// close ends every development server.
func (d *desktops) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, h := range d.all {
		h.Close()
	}
}
