package fs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

const (
	walDir = "wal"
	// groupBytes is how much one write to the log has at most, except that a batch
	// is never split.
	groupBytes = 1 << 20
	// idle is for how long nothing is committed before what is in the log alone is
	// synced in the background.
	idle = 5 * time.Second
)

// wal is the write-ahead log of a store: content is durable here before it has a
// file. Its folder holds files while there may be less under names than was
// promised, which whoever opens the store next puts right. One segment is filled
// while the content of another gets its files.
type wal struct {
	dir     string
	logged  func([]record) // called when records are durable; must not block
	onTimer func()

	mu      sync.Mutex // guards filling
	filling *group

	writeMu  sync.Mutex // guards the rest, and every write
	lock     *os.File   // shared while there are files
	active   *segment   // nil until something is written
	settling *segment   // full, or taken out
	spare    *segment
	broken   bool // nothing more is written here
	closed   bool
	timer    *time.Timer
	full     bool // the timer is to fire at once
}

// group is records that share one write and one sync. The goroutine that begins
// it is its leader and writes it; the others wait for done.
type group struct {
	records []record
	bytes   int
	commits int
	done    chan struct{} // closed by the leader
	err     error         // read after done
}

// errNoRoom says that content has to be made durable in another way.
var errNoRoom = errors.New("the log has no room")

// append makes records durable, or gives errNoRoom. It keeps their content.
func (w *wal) append(records []record) error {
	g, leader := w.join(records)
	if !leader {
		<-g.done
		return g.err
	}
	w.writeMu.Lock()
	w.detach(g)
	g.err = w.write(g)
	w.writeMu.Unlock()
	close(g.done)
	return g.err
}

func (w *wal) join(records []record) (g *group, leader bool) {
	bytes := 0
	for _, r := range records {
		bytes += recordHeader + len(r.content)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if g = w.filling; g == nil || g.bytes+bytes > groupBytes {
		g, leader = &group{done: make(chan struct{})}, true
		w.filling = g
	}
	g.records = append(g.records, records...)
	g.bytes += bytes
	g.commits++
	return g, leader
}

// detach closes the group for others. It first lets goroutines that are ready to
// run join, because those the last sync set free come back at about the same
// time and would otherwise wait for a sync of their own.
func (w *wal) detach(g *group) {
	for commits := 0; ; runtime.Gosched() {
		w.mu.Lock()
		if commits == g.commits || w.filling != g {
			if w.filling == g {
				w.filling = nil
			}
			w.mu.Unlock()
			return
		}
		commits = g.commits
		w.mu.Unlock()
	}
}

// write makes a group durable. The caller holds writeMu.
func (w *wal) write(g *group) error {
	s, err := w.room(len(g.records), g.bytes)
	if err != nil {
		return err
	}
	if err := s.write(g.records); err != nil {
		w.broken = true
		return err
	}
	w.logged(g.records)
	if !w.full {
		w.timer.Reset(idle)
	}
	return nil
}

// room finds a segment with room. The caller holds writeMu.
func (w *wal) room(records, bytes int) (*segment, error) {
	if err := w.begun(); err != nil {
		return nil, err
	}
	if w.broken {
		return nil, errNoRoom
	}
	if !w.active.fits(records, bytes) && w.turn() {
		w.full = true
		w.timer.Reset(0)
	}
	if !w.active.fits(records, bytes) {
		return nil, errNoRoom
	}
	return w.active, nil
}

// turn takes the active segment out and puts the spare one in its place, if there
// is one and a reason to. The caller holds writeMu.
func (w *wal) turn() bool {
	if w.active == nil || len(w.active.held) == 0 || w.spare == nil {
		return false
	}
	w.settling, w.active, w.spare = w.active, w.spare, nil
	return true
}

// begin makes sure that whoever opens the store next knows that it was written to.
func (w *wal) begin() error {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	return w.begun()
}

// begun is begin for who holds writeMu.
func (w *wal) begun() error {
	switch {
	case w.closed:
		return choir.E("blob.put", choir.CodeUnavailable, "the blob store %s is closed", filepath.Dir(w.dir))
	case w.lock != nil:
		return nil
	}
	lock, err := lockDir(w.dir, unix.LOCK_SH)
	if err != nil {
		return err
	}
	active, spare, err := createSegments(w.dir)
	if errors.Is(err, os.ErrExist) {
		err = choir.E("blob.put", choir.CodeConflict, "another process writes to the blob store %s", filepath.Dir(w.dir)).
			WithRemedy("stop it, and open the store again")
	}
	if err != nil {
		lock.Close() // nothing was written
		return err
	}
	w.lock, w.active, w.spare = lock, active, spare
	w.timer = time.AfterFunc(idle, w.onTimer)
	return nil
}

func createSegments(dir string) (a, b *segment, err error) {
	if a, err = createSegment(filepath.Join(dir, "0")); err != nil {
		return nil, nil, err
	}
	if b, err = createSegment(filepath.Join(dir, "1")); err == nil {
		if err = syncDir(dir); err == nil {
			return a, b, nil
		}
		b.discard()
	}
	a.discard()
	return nil, nil, err
}

// retire gives the segment whose content is to be synced next; nil when all of
// it is.
func (w *wal) retire() *segment {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.full = false
	if w.settling == nil {
		w.turn()
	}
	return w.settling
}

// adopt keeps what lies in the files of the log and could not get files of its
// own. Nothing more is written to the log.
func (w *wal) adopt(records []record, lock *os.File) {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.settling, w.lock, w.broken = &segment{held: records}, lock, true
}

// recycle takes a segment back whose content is durable without it.
func (w *wal) recycle() {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	if w.settling.file != nil {
		w.settling.reset()
		w.spare = w.settling
	}
	w.settling = nil
}

// close ends the log. Its files are removed unless something needs them.
func (w *wal) close() error {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.closed = true
	if w.lock == nil {
		return nil
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	needed := w.settling != nil || w.active != nil && len(w.active.held) > 0
	var errs []error
	for _, s := range []*segment{w.active, w.settling, w.spare} {
		if s != nil && s.file != nil {
			errs = append(errs, s.file.Close())
		}
	}
	if !needed {
		errs = append(errs, removeSegments(w.dir))
	}
	errs = append(errs, w.lock.Close())
	w.active, w.settling, w.spare, w.lock = nil, nil, nil, nil
	return errors.Join(errs...)
}

func removeSegments(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		fault.Point("blob.wal.remove")
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// lockDir opens and locks a folder; closing it unlocks.
func lockDir(dir string, how int) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(d.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		d.Close() // nothing was written
		return nil, err
	}
	return d, nil
}
