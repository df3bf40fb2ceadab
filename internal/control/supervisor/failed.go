package supervisor

import (
	"context"
	"errors"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
)

// openAll opens every computer. One that cannot be opened is kept with its
// reason, and the others go on; without any the first reason is returned.
func (s *System) openAll(ctx context.Context) error {
	var first error
	for _, e := range s.folder.owner.Computers {
		err := s.openOne(ctx, e)
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			continue
		}
		s.computers.fail(e.ID, err)
		s.cfg.Log.Error("a computer could not be opened", "computer", e.ID, "name", e.Name, "error", err)
		if first == nil {
			first = err
		}
	}
	if len(s.computers.list()) == 0 {
		return first
	}
	return nil
}

func (s *System) openOne(ctx context.Context, e entry) error {
	if err := s.folder.mustBeThere(e); err != nil {
		return err
	}
	c, err := computer.Open(ctx, s.computerConfig(e, s.guest))
	if err != nil {
		return err
	}
	s.computers.add(c)
	return nil
}

// fail keeps why a computer could not be opened.
func (c *computers) fail(id choir.ID, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = map[choir.ID]error{}
	}
	c.failed[id] = why
}

// Failed lists the computers that could not be opened, each with the reason.
func (s *System) Failed() []api.FailedComputer {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	var out []api.FailedComputer
	for _, e := range s.folder.owner.Computers {
		if why := s.computers.failed[e.ID]; why != nil {
			out = append(out, api.FailedComputer{ID: e.ID, Name: e.Name, User: s.folder.owner.User, Why: notOpened(e.Name, why)})
		}
	}
	return out
}

// notOpened says why a computer could not be opened, with what to do about it.
func notOpened(name string, why error) *choir.Error {
	e := choir.E("computer.find", choir.CodeUnavailable, "computer %q could not be opened: %v", name, why)
	var cause *choir.Error
	if errors.As(why, &cause) {
		e.Remedy = cause.Remedy
	}
	return e
}
