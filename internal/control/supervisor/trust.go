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

	of perComputer[*keptAuthority]
}

// keptAuthority is the authority of one computer, once it could be opened.
type keptAuthority struct {
	mu     sync.Mutex // guards opened; held while it is opened
	opened *egress.Authority
}

// folderOf returns the folder of the authority of a computer.
func (a *authorities) folderOf(id choir.ID) string {
	return filepath.Join(a.data, "computers", string(id), "egress")
}

// open returns the authority of a computer, which signs for hosts that rules look into; nil if
// it cannot be kept, which the log of choir says. Such rules then let no TLS out.
func (a *authorities) open(id choir.ID) *egress.Authority {
	kept := a.of.get(id, func() *keptAuthority { return &keptAuthority{} })
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.opened != nil {
		return kept.opened
	}
	opened, err := egress.OpenAuthority(a.folderOf(id), string(id), a.now)
	if err != nil {
		a.log.Warn("egress: no TLS is looked into", "computer", id, "error", err)
		return nil
	}
	kept.opened = opened
	return opened
}

// trust returns the folder of certificates that programs of a computer trust; "" for none.
func (a *authorities) trust(c *computer.Computer) string {
	if a.open(c.ID()) == nil {
		return ""
	}
	return filepath.Join(a.folderOf(c.ID()), egress.TrustFolder)
}
