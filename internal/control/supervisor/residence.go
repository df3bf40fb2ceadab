package supervisor

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/control/hibernation"
)

// retryOpening is the time after a failed opening of a computer in which requests get its
// error without another attempt.
const retryOpening = 5 * time.Second

// newPool returns the pool of the computers, at first without any.
func (s *System) newPool() *hibernation.Pool[*computer.Computer] {
	return hibernation.New(hibernation.Config[*computer.Computer]{
		Open: s.openComputer, Close: s.hibernate, Check: s.checkBusy,
		Most: s.cfg.File.Computers.AwakeAtMost, Freeze: s.freeze, Thaw: s.thaw, FreezeAfter: s.cfg.File.Computers.Freezing(),
		After: s.cfg.File.Computers.Idle(), Retry: retryOpening, Now: s.cfg.Now, Log: s.cfg.Log, Reclaim: debug.FreeOSMemory,
	})
}

// openAll registers every computer, and opens the computers without a true note that they
// were closed with nothing left to do. It returns the first error if every computer of the
// data folder failed to open.
func (s *System) openAll(ctx context.Context) error {
	var first error
	for _, e := range s.folder.owner.Computers {
		s.computers.pool.Register(e.ID)
	}
	for _, e := range s.folder.owner.Computers {
		if _, closed := s.folder.readClosed(e.ID); closed {
			continue
		}
		_, release, err := s.computers.pool.UseAnyway(ctx, e.ID) // it may have work to go on with
		switch {
		case err == nil:
			release()
		case ctx.Err() != nil:
			return err
		case first == nil:
			first = err
		}
	}
	if n := s.computers.pool.Counts(); n.Open+n.Hibernated == 0 {
		return first
	}
	return nil
}

// openComputer opens a computer and starts its services. Code corrupt: its folder is
// missing.
func (s *System) openComputer(ctx context.Context, id choir.ID) (*computer.Computer, error) {
	e, _ := s.entry(id)
	c, err := s.openEntry(ctx, e)
	if err != nil {
		s.cfg.Log.Error("a computer could not be opened", "computer", e.ID, "name", e.Name, "error", err)
		return nil, &openFailure{err}
	}
	recordVaultChanges(ctx, s.vault, keyUser{c, s.gateways}, s.cfg.Log)
	s.computers.services.start(c)
	return c, nil
}

// openEntry opens the computer of an entry, which counts as not closed in order from then
// on.
func (s *System) openEntry(ctx context.Context, e entry) (*computer.Computer, error) {
	if err := s.folder.mustBeThere(e); err != nil {
		return nil, err
	}
	if err := s.folder.removeClosed(e.ID); err != nil {
		return nil, err
	}
	return computer.Open(ctx, s.computerConfig(e, s.guest))
}

// hibernate stops an idle computer with its sandboxes and closes it. It stays open if its workspace
// cannot be copied out of its sandbox, which would end with it.
func (s *System) hibernate(ctx context.Context, id choir.ID, c *computer.Computer) error {
	s.desktops.drop(id)
	c.Session().EndBecause("the computer was idle")
	if err := s.computers.services.stop(id); err != nil {
		return errors.Join(hibernation.ErrKept, err)
	}
	if err := c.Roles().CopyOutError(); err != nil {
		s.computers.services.start(c)
		return errors.Join(hibernation.ErrKept, err)
	}
	s.demos.drop(id)
	next := c.Roles().NextSpecs()
	err := joined([]error{s.gateways.drainCalls(c), s.closeComputer(context.WithoutCancel(ctx), c)})
	s.cfg.Log.Info("a computer hibernates", "computer", id)
	if err == nil && s.cfg.Ready != nil {
		s.cfg.Ready.Prepare(next)
	}
	return err
}

// freeze stops the processes of an idle computer's sandboxes where they are.
func (s *System) freeze(ctx context.Context, id choir.ID, c *computer.Computer) error {
	return c.Roles().Pause(ctx)
}

// thaw lets a frozen computer's sandboxes go on.
func (s *System) thaw(ctx context.Context, id choir.ID, c *computer.Computer) error {
	return c.Roles().Resume(ctx)
}

// Sweep begins to hibernate the computers that are idle now, as Serve does regularly.
func (s *System) Sweep(ctx context.Context) { s.computers.pool.Sweep(ctx) }

// openFailure is the error of a computer that could not be opened.
type openFailure struct{ cause error }

func (f *openFailure) Error() string { return f.cause.Error() }
func (f *openFailure) Unwrap() error { return f.cause }

// entry returns the entry of a computer in owner.json; false if no computer has the id.
func (s *System) entry(id choir.ID) (entry, bool) {
	all := s.entries()
	i := slices.IndexFunc(all, func(e entry) bool { return e.ID == id })
	if i < 0 {
		return entry{}, false
	}
	return all[i], true
}

// entries returns the computers in owner.json, which the caller does not change.
func (s *System) entries() []entry {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	return s.folder.owner.Computers
}

// OwnerOf returns the user of a computer, open or not; see api.Owners.
func (s *System) OwnerOf(id choir.ID) (choir.ID, error) {
	if _, ok := s.entry(id); !ok {
		return "", notFound(id)
	}
	return s.folder.owner.User, nil
}

// Use opens a computer if it is not open. The computer stays open until release is called.
// Code not_found: no computer has the id; unavailable: it could not be opened; busy: as many are open
// as may be.
func (s *System) Use(ctx context.Context, id choir.ID) (c *computer.Computer, release func(), err error) {
	c, release, err = s.computers.pool.Use(ctx, id)
	return c, release, s.explain(id, err)
}

// Computer returns an open computer, which may be closed at any time unless the caller
// uses it. Code not_found: there is none; unavailable: it could not be opened, or
// hibernates.
func (s *System) Computer(id choir.ID) (*computer.Computer, error) {
	c, open, err := s.computers.pool.Find(id)
	e, known := s.entry(id)
	switch {
	case open:
		return c, nil
	case !known:
		return nil, notFound(id)
	case err == nil:
		return nil, choir.Refuse("computer.find", choir.ReasonComputerHibernates, choir.TextOf("name", e.Name))
	}
	return nil, s.explain(id, err)
}

// notFound returns the error of code not_found for an id that no computer has.
func notFound(id choir.ID) error {
	return choir.Refuse("computer.find", choir.ReasonNoComputer, choir.TextOf("name", id))
}

// Failed lists the computers that could not be opened, with the reasons.
func (s *System) Failed() (out []api.FailedComputer) {
	for _, e := range s.entries() {
		if _, open, err := s.computers.pool.Find(e.ID); !open && err != nil {
			out = append(out, api.FailedComputer{ID: e.ID, Name: e.Name, User: s.folder.owner.User, Why: notOpened(e.Name, err)})
		}
	}
	return out
}

// Hibernated lists the computers that are closed in order.
func (s *System) Hibernated() (out []api.HibernatedComputer) {
	for _, e := range s.entries() {
		if _, open, err := s.computers.pool.Find(e.ID); !open && err == nil {
			head := s.computers.headOf(e.ID)
			if note, is := s.folder.readClosed(e.ID); is {
				head = note.Head // from an earlier start too
			}
			out = append(out, api.HibernatedComputer{ID: e.ID, Name: e.Name, User: s.folder.owner.User, Head: head})
		}
	}
	return out
}

// explain returns the error for people of a computer that could not be opened; any other
// error is returned as it is.
func (s *System) explain(id choir.ID, err error) error {
	var failed *openFailure
	if !errors.As(err, &failed) {
		return err
	}
	e, _ := s.entry(id)
	return notOpened(e.Name, failed.cause)
}

// notOpened returns the error of code unavailable for a computer that could not be
// opened, with the remedy of the cause.
func notOpened(name string, why error) *choir.Error {
	e := choir.Refuse("computer.find", choir.ReasonComputerNotOpened, choir.TextOf("name", name))
	e.Msg += ": " + why.Error()
	var cause *choir.Error
	if errors.As(why, &cause) {
		e.Remedy = cause.Remedy
	}
	return e
}
