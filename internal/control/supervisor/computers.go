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

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/copies"
	"choiros/internal/control/api"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/timeline"
)

// maxMaking is how many computers may be made at once, of which one from an
// archive, whose manifest is held in memory.
const maxMaking = 4

// computers are those of the data folder that are open. One can be added while
// the others run.
type computers struct {
	entering  sync.Mutex // held while owner.json gets an entry; before mu
	importing sync.Mutex // held by the one import

	// beside is Config.Beside, set before use.
	beside func(*computer.Computer) suture.Service

	mu     sync.Mutex // guards what follows, and the computers in owner.json
	all    []*computer.Computer
	failed map[choir.ID]error  // computers that could not be opened, and why
	making map[choir.ID]string // computers that are being made, and the names they will have
	serve  *suture.Supervisor  // nil until Serve
}

func (c *computers) list() []*computer.Computer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

// add makes a computer known, and wakes it when the others are awake.
func (c *computers) add(one *computer.Computer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
	delete(c.failed, one.ID())
	if c.serve != nil {
		c.supervise(one)
	}
}

// supervise runs a computer, and what runs beside it. The caller holds mu.
func (c *computers) supervise(one *computer.Computer) {
	c.serve.Add(one)
	if c.beside != nil {
		c.serve.Add(c.beside(one))
	}
}

// wake serves every computer, and each computer that is added later.
func (c *computers) wake(sup *suture.Supervisor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve = sup
	for _, one := range c.all {
		c.supervise(one)
	}
}

// newPrefix begins the name of a folder in which a computer is being made.
const newPrefix = ".new-"

// maxName is how long a computer's name may be, in characters.
const maxName = 100

// make makes a computer: in a folder of its own beside the others first, then in
// owner.json, which is the moment from which it exists, then under its own name.
// A crash before that moment leaves nothing, one after it a whole computer.
func (s *System) make(ctx context.Context, fill func(copies.NewComputer) (name string, err error)) (*computer.Computer, error) {
	var e entry
	var err error
	if e.ID, err = choir.NewID(choir.TimeOf(s.cfg.Now()), s.cfg.Random); err != nil {
		return nil, err
	}
	if err := s.computers.start(e.ID); err != nil {
		return nil, err
	}
	defer s.computers.made(e.ID)
	if e.Name, err = s.folder.build(e, s.newComputer(e), fill); err != nil {
		return nil, err
	}
	if e, err = s.addComputer(e); err != nil {
		return nil, err
	}
	c, err := computer.Open(ctx, s.computerConfig(e, s.guest))
	if err != nil {
		s.computers.fail(e.ID, err)
		return nil, choir.Wrap("computer.make", "", err, "computer %q was made and cannot be opened", e.Name)
	}
	s.computers.add(c)
	return c, nil
}

// start counts a computer that is being made; code busy when there are as many
// as may be.
func (c *computers) start(id choir.ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.making) >= maxMaking {
		return choir.E("computer.make", choir.CodeBusy, "%d computers are being made already", len(c.making)).WithRemedy("try again when one is there")
	}
	if c.making == nil {
		c.making = map[choir.ID]string{}
	}
	c.making[id] = ""
	return nil
}

// made ends start.
func (c *computers) made(id choir.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.making, id)
}

func (s *System) newComputer(e entry) copies.NewComputer {
	now := func() choir.Time { return choir.TimeOf(s.cfg.Now()) }
	return copies.NewComputer{
		ID: e.ID, User: s.folder.owner.User, OpenBlobs: s.cfg.OpenBlobs, Now: now,
		NewID: func() (choir.ID, error) { return choir.NewID(now(), s.cfg.Random) },
	}
}

// addComputer makes the computer exist, with host users of its own. Only it changes
// the computers in owner.json, one at a time, so it may read them between.
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
	if _, err := s.giveProject(&e); err != nil {
		return e, errors.Join(err, os.RemoveAll(s.folder.unfinished(e.ID)))
	}
	entered := append(slices.Clone(s.folder.owner.Computers), e)
	if err := s.folder.addToOwner(e.ID, owner{User: s.folder.owner.User, Computers: entered}); err != nil {
		return e, err
	}
	s.computers.mu.Lock()
	s.folder.owner.Computers = entered
	err := s.disks.hold(e)
	s.computers.mu.Unlock()
	if err != nil {
		return e, err // the next start sets the limit
	}
	return e, s.folder.nameFolder(e.ID)
}

func (s *System) mayBeCalled(name string) error {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	return s.folder.owner.mayBeCalled(name)
}

// reserve keeps a name for a computer that is being made; code conflict when it
// is taken, also by another that is being made.
func (s *System) reserve(id choir.ID, name string) error {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	if err := s.folder.owner.mayBeCalled(name); err != nil {
		return err
	}
	for other, taken := range s.computers.making {
		if other != id && taken == name {
			return choir.E("computer.make", choir.CodeConflict, "a computer called %q is being made already", name).WithRemedy("choose another name")
		}
	}
	s.computers.making[id] = name
	return nil
}

// mayBeCalled refuses a name that is taken or that nobody could read.
func (o owner) mayBeCalled(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || n > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, isControl):
		return choir.Invalid("name", "a computer's name has 1 to %d characters, none of them a control character and no space around them", maxName)
	case choir.ID(name).Valid():
		return choir.Invalid("name", "%q looks like the id of a computer", name)
	case slices.ContainsFunc(o.Computers, func(e entry) bool { return e.Name == name }):
		return choir.E("computer.make", choir.CodeConflict, "there is a computer called %q already", name).WithRemedy("choose another name")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

func (f *folder) computers() string           { return filepath.Join(f.path, "computers") }
func (f *folder) finished(id choir.ID) string { return filepath.Join(f.computers(), string(id)) }
func (f *folder) unfinished(id choir.ID) string {
	return filepath.Join(f.computers(), newPrefix+string(id))
}

// build makes the folder of a computer, whole and durable, and gives its name.
// What fails leaves nothing.
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

// makeUnfinished makes an empty folder for a computer that is to be.
func (f *folder) makeUnfinished(id choir.ID) error {
	err := os.Mkdir(f.unfinished(id), 0o711)
	if err == nil {
		err = os.Chmod(f.unfinished(id), 0o711) // whatever the umask
	}
	return choir.Wrap("computer.make", choir.CodeUnavailable, err, "make the computer's folder")
}

// addToOwner writes owner.json with a new computer in it, or takes the computer's
// folder away.
func (f *folder) addToOwner(id choir.ID, o owner) error {
	if err := f.writeOwner(o); err != nil {
		return errors.Join(err, os.RemoveAll(f.unfinished(id)))
	}
	return nil
}

// nameFolder gives the folder of a computer that exists its name.
func (f *folder) nameFolder(id choir.ID) error {
	fault.Point("computer.folder.rename")
	err := os.Rename(f.unfinished(id), f.finished(id))
	if err == nil {
		fault.Point("computer.folder.sync")
		err = durablefile.SyncFolder(f.computers())
	}
	return choir.Wrap("computer.make", choir.CodeUnavailable, err, "name the folder of computer %s", id)
}

// finish names the folders of computers that a crash kept from it, and removes
// those of computers that never came to be.
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

// mustBeThere refuses to go on without the folder of a computer: an empty
// computer would come to be in its place.
func (f *folder) mustBeThere(e entry) error {
	_, err := os.Stat(f.finished(e.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return f.owner.lost(e, f.finished(e.ID))
	}
	return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at computer %q", e.Name)
}

// lost says that the folder of a computer is gone.
func (o owner) lost(e entry, dir string) error {
	err := choir.E("choir.data", choir.CodeCorrupt, "the folder of computer %q is gone: %s", e.Name, dir)
	if len(o.Computers) == 1 {
		return err.WithRemedy("put it back from a backup, or begin anew in another data folder with --data")
	}
	return err.WithRemedy("put it back from a backup; to go on without this computer, take its entry out of owner.json")
}

// Fork makes a second computer of a moment of the first.
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
	fork, err := s.make(ctx, func(n copies.NewComputer) (string, error) {
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

// Import makes a computer of an archive. Without a name it is called what it was
// called where it comes from.
func (s *System) Import(ctx context.Context, name string, r io.Reader) (api.Imported, error) {
	if !s.computers.importing.TryLock() {
		return api.Imported{}, choir.E("computer.import", choir.CodeBusy, "another computer is being imported").WithRemedy("try again when it is there")
	}
	defer s.computers.importing.Unlock()
	defer debug.FreeOSMemory() // a manifest may have been most of what this process holds
	var a timeline.Archive
	made, err := s.make(ctx, func(n copies.NewComputer) (string, error) {
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

// tellSources makes sure that the log of each computer says which others began
// with its past: a crash may have come between the fork and that. A log that
// cannot be told is told at the next start, and stops no other.
func (s *System) tellSources(ctx context.Context) {
	for _, fork := range s.computers.list() {
		if err := s.tellSource(ctx, fork); err != nil {
			s.cfg.Log.Error("the computer that a fork comes from does not say so", "fork", fork.ID(), "error", err)
		}
	}
}

func (s *System) tellSource(ctx context.Context, fork *computer.Computer) error {
	from, seq, err := fork.Origin().ForkedFrom(ctx)
	if err != nil || from == "" {
		return err
	}
	source, err := find(s.computers.list(), from)
	if err != nil || source.Store().ReadOnly() != "" {
		return nil // it is not here, or can be told nothing
	}
	// Without its cluster a log takes this too, and choir starts.
	if err := source.Origin().RecordFork(ctx, choir.RoleShell, fork.ID(), seq); err != nil && !errors.Is(err, eventstore.ErrNotReplicated) {
		return err
	}
	return nil
}
