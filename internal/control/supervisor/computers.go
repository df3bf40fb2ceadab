package supervisor

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/copies"
	"choiros/internal/control/api"
	"choiros/internal/control/hibernation"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/timeline"
)

// maxMaking is the maximum of computers being created at once. At most one of them is an
// import, whose manifest is held in memory.
const maxMaking = 4

// computers are the computers of the data folder, of which some are open. New ones can be
// added while others run.
type computers struct {
	entering  sync.Mutex // held while owner.json gets an entry; before mu
	importing sync.Mutex // held by the one import

	pool     *hibernation.Pool[*computer.Computer]
	services services

	mu     sync.Mutex          // guards making and heads, and the computers in owner.json
	making map[choir.ID]string // computers that are being made, and the names they will have
	heads  map[choir.ID]uint64 // newest events of the computers that this process has closed
}

// list returns the open computers.
func (c *computers) list() []*computer.Computer { return c.pool.List() }

// setHead keeps the number of the newest event of a computer that is being closed.
func (c *computers) setHead(id choir.ID, head uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads == nil {
		c.heads = map[choir.ID]uint64{}
	}
	c.heads[id] = head
}

// headOf returns the number that setHead kept; 0 for none.
func (c *computers) headOf(id choir.ID) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads[id]
}

// newPrefix is the prefix of the folder in which a computer is being created.
const newPrefix = ".new-"

// maxName is the maximum length of a computer's name, in characters.
const maxName = 100

// create creates a computer: first in an unfinished folder that fill writes, then in
// owner.json, from which moment it exists, then it renames the folder and opens the
// computer. A crash before that moment leaves nothing, and a crash after it a whole
// computer.
func (s *System) create(ctx context.Context, fill func(copies.NewComputer) (name string, err error)) (*computer.Computer, error) {
	var e entry
	var err error
	if e.ID, err = choir.NewID(choir.TimeOf(s.cfg.Now()), s.cfg.Random); err != nil {
		return nil, err
	}
	endRoom, err := s.computers.pool.KeepRoom(e.ID)
	if err != nil {
		return nil, err
	}
	defer endRoom()
	if err := s.computers.startMaking(e.ID); err != nil {
		return nil, err
	}
	defer s.computers.endMaking(e.ID)
	if e.Name, err = s.folder.build(e, s.newComputer(e), fill); err != nil {
		return nil, err
	}
	if e, err = s.addComputer(e); err != nil {
		return nil, err
	}
	s.computers.pool.Register(e.ID)
	c, release, err := s.computers.pool.Use(ctx, e.ID)
	if err != nil {
		return nil, choir.Wrap("computer.make", "", err, "computer %q was made and cannot be opened", e.Name)
	}
	release()
	return c, nil
}

// startMaking registers a computer that is being created. Code busy: maxMaking are
// already.
func (c *computers) startMaking(id choir.ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.making) >= maxMaking {
		return choir.Refuse("computer.make", choir.ReasonMakingComputers, choir.CountOf("n", len(c.making)))
	}
	if c.making == nil {
		c.making = map[choir.ID]string{}
	}
	c.making[id] = ""
	return nil
}

// endMaking removes a registration of startMaking.
func (c *computers) endMaking(id choir.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.making, id)
}

// newComputer returns the parameters for creating a computer, without its folder and
// name.
func (s *System) newComputer(e entry) copies.NewComputer {
	now := func() choir.Time { return choir.TimeOf(s.cfg.Now()) }
	return copies.NewComputer{
		ID: e.ID, User: s.folder.owner.User, OpenBlobs: s.cfg.OpenBlobs, Now: now,
		NewID: func() (choir.ID, error) { return choir.NewID(now(), s.cfg.Random) },
	}
}

// addComputer enters a computer into owner.json, with host users and a disk project of
// its own, and renames its folder. Calls are serialized, so that it may read the entries
// in between.
func (s *System) addComputer(e entry) (entry, error) {
	s.computers.entering.Lock()
	defer s.computers.entering.Unlock()
	if IsRoot() {
		users, err := newUIDAllocator(s.cfg.Random)
		if err == nil {
			_, err = users.assign(&e, s.folder.owner.usedUIDs())
		}
		if err != nil {
			return e, errors.Join(err, os.RemoveAll(s.folder.unfinished(e.ID)))
		}
	}
	if _, err := s.disks.giveProject(&e, s.folder.owner); err != nil {
		return e, errors.Join(err, os.RemoveAll(s.folder.unfinished(e.ID)))
	}
	entered := append(slices.Clone(s.folder.owner.Computers), e)
	next := s.folder.owner
	next.Computers = entered
	if err := s.folder.addToOwner(e.ID, next); err != nil {
		return e, err
	}
	s.computers.mu.Lock()
	s.folder.owner.Computers = entered
	err := s.disks.applyLimit(e)
	s.computers.mu.Unlock()
	if err != nil {
		return e, err // the next start sets the limit
	}
	return e, s.folder.nameFolder(e.ID)
}

// mayBeCalled returns nil if a computer may get the name; see owner.mayBeCalled.
func (s *System) mayBeCalled(name string) error {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	return s.folder.owner.mayBeCalled(name)
}

// reserve reserves a name for a computer that is being created. Code conflict: another
// computer, existing or being created, has it.
func (s *System) reserve(id choir.ID, name string) error {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	if err := s.folder.owner.mayBeCalled(name); err != nil {
		return err
	}
	for other, taken := range s.computers.making {
		if other != id && taken == name {
			return choir.Refuse("computer.make", choir.ReasonNameBeingMade, choir.TextOf("name", name))
		}
	}
	s.computers.making[id] = name
	return nil
}

// mayBeCalled returns nil if a name is free and valid. Code conflict: another computer
// has it; invalid: it is too long, is an id, or has control characters or outer spaces.
func (o owner) mayBeCalled(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || n > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, isControl):
		return choir.Refuse("computer.make", choir.ReasonNameLength, choir.CountOf("most", maxName)).At("name")
	case choir.ID(name).Valid():
		return choir.Refuse("computer.make", choir.ReasonNameIsID, choir.TextOf("name", name)).At("name")
	case slices.ContainsFunc(o.Computers, func(e entry) bool { return e.Name == name }):
		return choir.Refuse("computer.make", choir.ReasonNameTaken, choir.TextOf("name", name))
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

func (f *folder) computers() string           { return filepath.Join(f.path, "computers") }
func (f *folder) finished(id choir.ID) string { return filepath.Join(f.computers(), string(id)) }
func (f *folder) unfinished(id choir.ID) string {
	return filepath.Join(f.computers(), newPrefix+string(id))
}

// build creates the folder of a computer durably with the content that fill writes, and
// returns the name that fill returns. On failure it removes the folder.
func (f *folder) build(e entry, n copies.NewComputer, fill func(copies.NewComputer) (string, error)) (name string, err error) {
	n.Dir = f.unfinished(e.ID)
	if err := f.makeUnfinished(e.ID); err != nil {
		return "", err
	}
	if name, err = fill(n); err == nil {
		err = errors.Join(durablefile.SyncFolder(n.Dir), durablefile.SyncFolder(f.computers()))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(n.Dir))
	}
	return name, nil
}

// makeUnfinished creates the empty folder of a computer that does not exist yet.
func (f *folder) makeUnfinished(id choir.ID) error {
	err := os.Mkdir(f.unfinished(id), 0o711)
	if err == nil {
		err = os.Chmod(f.unfinished(id), 0o711) // whatever the umask
	}
	return choir.Wrap("computer.make", choir.CodeUnavailable, err, "make the computer's folder")
}

// addToOwner writes o, which has a new computer, to owner.json. On failure it removes
// the computer's folder.
func (f *folder) addToOwner(id choir.ID, o owner) error {
	if err := f.writeOwner(o); err != nil {
		return errors.Join(err, os.RemoveAll(f.unfinished(id)))
	}
	return nil
}

// nameFolder durably renames the unfinished folder of a computer that is in owner.json
// to its final name.
func (f *folder) nameFolder(id choir.ID) error {
	fault.Point("computer.folder.rename")
	err := os.Rename(f.unfinished(id), f.finished(id))
	if err == nil {
		fault.Point("computer.folder.sync")
		err = durablefile.SyncFolder(f.computers())
	}
	return choir.Wrap("computer.make", choir.CodeUnavailable, err, "name the folder of computer %s", id)
}

// finish completes creations that a crash interrupted: it renames unfinished folders of
// computers in owner.json, and removes all others.
func (f *folder) finish() error {
	left, err := filepath.Glob(filepath.Join(f.computers(), newPrefix+"*"))
	if err != nil {
		return choir.Wrap("choir.data", choir.CodeInternal, err, "look for unfinished computers")
	}
	for _, dir := range left {
		id := choir.ID(strings.TrimPrefix(filepath.Base(dir), newPrefix))
		if slices.ContainsFunc(f.owner.Computers, func(e entry) bool { return e.ID == id }) {
			err = f.nameFolder(id)
		} else {
			err = choir.Wrap("choir.data", choir.CodeUnavailable, os.RemoveAll(dir), "remove %s", dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mustBeThere returns code corrupt if the folder of a computer is missing: opening it
// would create an empty computer in its place.
func (f *folder) mustBeThere(e entry) error {
	_, err := os.Stat(f.finished(e.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return f.owner.lost(e, f.finished(e.ID))
	}
	return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at computer %q", e.Name)
}

// lost returns the error of code corrupt for a missing folder of a computer, with a
// remedy.
func (o owner) lost(e entry, dir string) error {
	reason := choir.ReasonComputerFolderGone
	if len(o.Computers) == 1 {
		reason = choir.ReasonLastFolderGone
	}
	return choir.Refuse("choir.data", reason, choir.TextOf("name", e.Name), choir.TextOf("path", dir))
}

// Fork creates a computer that begins with the past of another, up to a moment of that.
func (s *System) Fork(ctx context.Context, c *computer.Computer, role choir.Role, r api.ForkRequest) (api.Forked, error) {
	if err := s.mayBeCalled(r.Name); err != nil {
		return api.Forked{}, err
	}
	point, err := c.Copier().FindFork(ctx, r.Event)
	if err != nil {
		return api.Forked{}, err
	}
	out := api.Forked{Name: r.Name, Seq: point.Seq, Hash: point.Hash, Snapshot: point.Snapshot, Withheld: point.Withheld, DryRun: r.DryRun}
	if r.DryRun {
		return out, nil
	}
	fork, err := s.create(ctx, func(n copies.NewComputer) (string, error) {
		n.Name = r.Name
		if err := s.reserve(n.ID, n.Name); err != nil {
			return "", err
		}
		return n.Name, c.Copier().ForkInto(ctx, point, n)
	})
	if err != nil {
		return api.Forked{}, err
	}
	out.ID = fork.ID()
	return out, choir.Wrap("computer.fork", "", c.Origin().RecordFork(ctx, role, fork.ID(), point.Seq), "%s is there, and the log it comes from could not say so", r.Name)
}

// Import creates a computer from an archive. With an empty name it gets the name in the
// archive. Code busy: another import is in progress.
func (s *System) Import(ctx context.Context, name string, r io.Reader) (api.Imported, error) {
	if !s.computers.importing.TryLock() {
		return api.Imported{}, choir.Refuse("computer.import", choir.ReasonImportUnderWay)
	}
	defer s.computers.importing.Unlock()
	defer debug.FreeOSMemory() // a manifest may have been most of what this process holds
	var a timeline.Archive
	made, err := s.create(ctx, func(n copies.NewComputer) (string, error) {
		var err error
		a, err = n.Import(ctx, r, func(a timeline.Archive) (string, error) {
			if name == "" {
				name = a.Name
			}
			return name, s.reserve(n.ID, name)
		})
		return name, err
	})
	if err != nil {
		return api.Imported{}, err
	}
	out := api.Imported{ID: made.ID(), Name: made.Name(), From: a.Computer, Seq: a.Seq, Hash: a.Hash}
	for _, w := range a.Withheld {
		if n := len(out.Withheld); n == 0 || out.Withheld[n-1] != w.Path {
			out.Withheld = append(out.Withheld, w.Path)
		}
	}
	return out, nil
}

// recordForks adds missing timeline.forked events to the logs of the computers that
// others were forked from, for forks that a crash interrupted: then both computers were
// opened at this start. A failure is logged and retried at the next start that opens both.
func (s *System) recordForks(ctx context.Context) {
	for _, fork := range s.computers.list() {
		if err := recordForkOf(ctx, s.computers.list(), fork); err != nil {
			s.cfg.Log.Error("the computer that a fork comes from does not say so", "fork", fork.ID(), "error", err)
		}
	}
}

// recordForkOf appends timeline.forked to the log of the computer that fork was forked
// from. It does nothing if that computer is none of all, or read-only.
func recordForkOf(ctx context.Context, all []*computer.Computer, fork *computer.Computer) error {
	from, seq, err := fork.Origin().ForkedFrom(ctx)
	if err != nil || from == "" {
		return err
	}
	source, err := find(all, from)
	if err != nil || source.Store().ReadOnly() != "" {
		return nil // it is not here, or can be told nothing
	}
	// Without its cluster a log takes this too, and choir starts.
	if err := source.Origin().RecordFork(ctx, choir.RoleShell, fork.ID(), seq); err != nil && !errors.Is(err, eventstore.ErrNotReplicated) {
		return err
	}
	return nil
}
