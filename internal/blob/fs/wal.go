package fs

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/groupcommit"
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

// wal is the write-ahead log of a store: content is durable here before it has a file.
// Its folder holds files while some durable content may lack its file; the next open
// replays them. One segment is filled while the content of another gets its files.
type wal struct {
	dir     string
	logged  func([]record) // called when records are durable; must not block
	onTimer func()

	mu      sync.Mutex // of appends
	appends *groupcommit.Queue[record]

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

func newWAL(dir string, logged func([]record), onTimer func()) *wal {
	w := &wal{dir: dir, logged: logged, onTimer: onTimer}
	w.appends = groupcommit.New(&w.mu, &w.writeMu, groupBytes, w.write)
	return w
}

// errNoRoom reports that the write-ahead log is full or unusable and the content must
// be written to files.
var errNoRoom = errors.New("the log has no room")

// append makes records durable in the log, or returns errNoRoom. It keeps references to
// their content.
func (w *wal) append(records []record) error {
	w.mu.Lock()
	place := w.appends.Join(records, sizeOf(records))
	w.mu.Unlock()
	return w.appends.Finish(place)
}

// sizeOf returns the bytes of records in a segment.
func sizeOf(records []record) (bytes int) {
	for _, r := range records {
		bytes += recordHeader + len(r.content)
	}
	return bytes
}

// write makes the records of a group durable. The caller holds writeMu.
func (w *wal) write(records []record) error {
	s, err := w.segmentFor(len(records), sizeOf(records))
	if err != nil {
		return err
	}
	if err := s.write(records); err != nil {
		w.broken = true
		return err
	}
	w.logged(records)
	if !w.full {
		w.timer.Reset(idle)
	}
	return nil
}

// segmentFor returns a segment with room for records records of bytes bytes in total,
// or errNoRoom. The caller holds writeMu.
func (w *wal) segmentFor(records, bytes int) (*segment, error) {
	if err := w.markDirtyLocked(); err != nil {
		return nil, err
	}
	if w.broken {
		return nil, errNoRoom
	}
	if !w.active.fits(records, bytes) && w.swapSegments() {
		w.full = true
		w.timer.Reset(0)
	}
	if !w.active.fits(records, bytes) {
		return nil, errNoRoom
	}
	return w.active, nil
}

// swapSegments makes the spare segment the active one, and the active one the one to
// flush. It reports false if the active segment is empty or there is no spare. The
// caller holds writeMu.
func (w *wal) swapSegments() bool {
	if w.active == nil || len(w.active.held) == 0 || w.spare == nil {
		return false
	}
	w.settling, w.active, w.spare = w.active, w.spare, nil
	return true
}

// markDirty durably marks the store as written to, so that the next open replays the
// log.
func (w *wal) markDirty() error {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	return w.markDirtyLocked()
}

// markDirtyLocked is markDirty for callers that hold writeMu.
func (w *wal) markDirtyLocked() error {
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

// retire returns the segment whose content is to be flushed to files next, or nil if
// the log is empty.
func (w *wal) retire() *segment {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.full = false
	if w.settling == nil {
		w.swapSegments()
	}
	return w.settling
}

// keepRecords keeps records of an earlier process that could not be written to files.
// The log accepts nothing more.
func (w *wal) keepRecords(records []record, lock *os.File) {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.settling, w.lock, w.broken = &segment{held: records}, lock, true
}

// recycle makes a flushed segment the spare one.
func (w *wal) recycle() {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	if w.settling.file != nil {
		w.settling.reset()
		w.spare = w.settling
	}
	w.settling = nil
}

// close ends the log. It removes the log's files unless they hold content that has no
// file yet.
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

// lockDir opens and locks a folder; closing the returned file unlocks it.
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
