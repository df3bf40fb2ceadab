package supervisor

import (
	"path/filepath"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/egress"
)

// authorities are those of the computers' egress, opened on first use.
type authorities struct {
	mu sync.Mutex // guards of; held while one is opened
	of map[choir.ID]*egress.Authority
}

// authorityFolder returns the folder of the authority of a computer.
func (s *System) authorityFolder(id choir.ID) string {
	return filepath.Join(s.cfg.Data, "computers", string(id), "egress")
}

// authority returns the authority of a computer, which signs for hosts that rules look into; nil if
// it cannot be kept, which the log of choir says. Such rules then let no TLS out.
func (s *System) authority(c *computer.Computer) *egress.Authority {
	s.signers.mu.Lock()
	defer s.signers.mu.Unlock()
	if a := s.signers.of[c.ID()]; a != nil {
		return a
	}
	a, err := egress.OpenAuthority(s.authorityFolder(c.ID()), string(c.ID()), s.cfg.Now)
	if err != nil {
		s.cfg.Log.Warn("egress: no TLS is looked into", "computer", c.ID(), "error", err)
		return nil
	}
	if s.signers.of == nil {
		s.signers.of = map[choir.ID]*egress.Authority{}
	}
	s.signers.of[c.ID()] = a
	return a
}

// trust returns the folder of certificates that programs of a computer trust; "" for none.
func (s *System) trust(c *computer.Computer) string {
	if s.authority(c) == nil {
		return ""
	}
	return filepath.Join(s.authorityFolder(c.ID()), egress.TrustFolder)
}
