package supervisor

import (
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/egress"
)

// authorities are those of the computers' egress, opened on first use.
type authorities struct {
	data string // the data folder
	now  func() time.Time
	log  *slog.Logger

	mu sync.Mutex // guards of; held while one is opened
	of map[choir.ID]*egress.Authority
}

// folderOf returns the folder of the authority of a computer.
func (a *authorities) folderOf(id choir.ID) string {
	return filepath.Join(a.data, "computers", string(id), "egress")
}

// open returns the authority of a computer, which signs for hosts that rules look into; nil if
// it cannot be kept, which the log of choir says. Such rules then let no TLS out.
func (a *authorities) open(c *computer.Computer) *egress.Authority {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.of[c.ID()]; known != nil {
		return known
	}
	opened, err := egress.OpenAuthority(a.folderOf(c.ID()), string(c.ID()), a.now)
	if err != nil {
		a.log.Warn("egress: no TLS is looked into", "computer", c.ID(), "error", err)
		return nil
	}
	if a.of == nil {
		a.of = map[choir.ID]*egress.Authority{}
	}
	a.of[c.ID()] = opened
	return opened
}

// trust returns the folder of certificates that programs of a computer trust; "" for none.
func (a *authorities) trust(c *computer.Computer) string {
	if a.open(c) == nil {
		return ""
	}
	return filepath.Join(a.folderOf(c.ID()), egress.TrustFolder)
}
