package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/timeline"
)

// computers are those of the data folder that are open. One can be added while
// the others run.
type computers struct {
	making sync.Mutex // held by whoever makes a new one

	mu    sync.Mutex // guards what follows, and the computers in owner.json
	all   []*computer.Computer
	serve *suture.Supervisor // nil until Serve
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
	if c.serve != nil {
		c.serve.Add(one)
	}
}

// wake serves every computer, and those that are added later.
func (c *computers) wake(sup *suture.Supervisor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve = sup
	for _, one := range c.all {
		sup.Add(one)
	}
}

// newPrefix begins the name of a folder in which a computer is being made.
const newPrefix = ".new-"

// maxName is how long a computer's name may be, in characters.
const maxName = 100

// make makes a computer: in a folder of its own beside the others first, then in
// owner.json, which is the moment from which it exists, then under its own name.
// A crash before that moment leaves nothing, one after it a whole computer.
func (s *System) make(ctx context.Context, fill func(computer.NewComputer) (name string, err error)) (*computer.Computer, error) {
	if !s.computers.making.TryLock() {
		return nil, choir.E("computer.make", choir.CodeBusy, "another computer is being made").WithRemedy("try again when it is there")
	}
	defer s.computers.making.Unlock()
	var e entry
	var err error
	if e.ID, err = choir.NewID(choir.TimeOf(s.cfg.Now()), s.cfg.Random); err != nil {
		return nil, err
	}
	if IsRoot() {
		e.HostUID = hostUID(e.ID)
	}
	if e.Name, err = s.folder.build(e, s.newComputer(e), fill); err != nil {
		return nil, err
	}
	if err := s.enter(e); err != nil {
		return nil, err
	}
	c, err := computer.Open(ctx, s.computerConfig(e, s.guest))
	if err != nil {
		return nil, choir.Wrap("computer.make", "", err, "computer %q was made and cannot be opened", e.Name)
	}
	s.computers.add(c)
	return c, nil
}

func (s *System) newComputer(e entry) computer.NewComputer {
	now := func() choir.Time { return choir.TimeOf(s.cfg.Now()) }
	return computer.NewComputer{
		ID: e.ID, User: s.folder.owner.User, OpenBlobs: s.cfg.OpenBlobs, Now: now,
		NewID: func() (choir.ID, error) { return choir.NewID(now(), s.cfg.Random) },
	}
}

// enter makes the computer exist. The caller holds making.
func (s *System) enter(e entry) error {
	entered := append(slices.Clone(s.folder.owner.Computers), e)
	if err := s.folder.enter(e.ID, owner{User: s.folder.owner.User, Computers: entered}); err != nil {
		return err
	}
	s.computers.mu.Lock()
	s.folder.owner.Computers = entered
	s.computers.mu.Unlock()
	return s.folder.settle(e.ID)
}

func (s *System) mayBeCalled(name string) error {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	return s.folder.owner.mayBeCalled(name)
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
func (f *folder) build(e entry, n computer.NewComputer, fill func(computer.NewComputer) (string, error)) (name string, err error) {
	n.Dir = f.unfinished(e.ID)
	if err := f.makeUnfinished(e.ID); err != nil {
		return "", err
	}
	if name, err = fill(n); err == nil {
		err = errors.Join(syncFolder(n.Dir), syncFolder(f.computers()))
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

// enter writes owner.json with a new computer in it, or takes the computer's
// folder away.
func (f *folder) enter(id choir.ID, o owner) error {
	raw, err := json.MarshalIndent(o, "", "  ")
	if err == nil {
		err = writeDurably(filepath.Join(f.path, "owner.json"), raw)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(f.unfinished(id)))
	}
	return nil
}

// settle gives the folder of a computer that exists its name.
func (f *folder) settle(id choir.ID) error {
	fault.Point("computer.folder.rename")
	err := os.Rename(f.unfinished(id), f.finished(id))
	if err == nil {
		fault.Point("computer.folder.sync")
		err = syncFolder(f.computers())
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
			err = f.settle(id)
		} else {
			err = choir.Wrap("choir.data", choir.CodeUnavailable, os.RemoveAll(dir), "remove %s", dir)
		}
		if err != nil {
			return err
		}
	}
	return f.mustBeWhole()
}

// mustBeWhole refuses to go on without the folder of a computer: an empty
// computer would come to be in its place.
func (f *folder) mustBeWhole() error {
	for _, e := range f.owner.Computers {
		if _, err := os.Stat(f.finished(e.ID)); errors.Is(err, fs.ErrNotExist) {
			return f.owner.lost(e, f.finished(e.ID))
		} else if err != nil {
			return choir.Wrap("choir.data", choir.CodeUnavailable, err, "look at computer %q", e.Name)
		}
	}
	return nil
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
	point, err := c.FindFork(ctx, r.Event)
	if err != nil {
		return api.Forked{}, err
	}
	out := api.Forked{Name: r.Name, Seq: point.Seq, Hash: point.Hash, Snapshot: point.Snapshot, Withheld: point.Withheld, DryRun: r.DryRun}
	if r.DryRun {
		return out, nil
	}
	fork, err := s.make(ctx, func(n computer.NewComputer) (string, error) {
		n.Name = r.Name
		if err := s.mayBeCalled(n.Name); err != nil {
			return "", err
		}
		return n.Name, c.ForkInto(ctx, point, n)
	})
	if err != nil {
		return api.Forked{}, err
	}
	out.ID = fork.ID()
	return out, choir.Wrap("computer.fork", "", c.Forked(ctx, role, fork.ID(), point.Seq), "%s is there, and the log it comes from could not say so", r.Name)
}

// Import makes a computer of an archive. Without a name it is called what it was
// called where it comes from.
func (s *System) Import(ctx context.Context, name string, r io.Reader) (api.Imported, error) {
	var a timeline.Archive
	made, err := s.make(ctx, func(n computer.NewComputer) (string, error) {
		var err error
		a, err = n.Import(ctx, r, func(a timeline.Archive) (string, error) {
			if name == "" {
				name = a.Name
			}
			return name, s.mayBeCalled(name)
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
// with its past: a crash may have come between the fork and that.
func (s *System) tellSources(ctx context.Context) error {
	for _, fork := range s.computers.list() {
		from, seq, err := fork.ForkedFrom(ctx)
		if err != nil {
			return err
		}
		source, err := s.Computer(from)
		if from == "" || err != nil || source.Store().ReadOnly() != "" {
			continue // it is not here, or can be told nothing
		}
		// Without its cluster a log takes this too, and choir starts.
		if err := source.Forked(ctx, choir.RoleShell, fork.ID(), seq); err != nil && !errors.Is(err, eventstore.ErrNotReplicated) {
			return err
		}
	}
	return nil
}
