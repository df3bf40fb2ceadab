// Package journal keeps a log of events on disk: append-only segment files of
// checksummed, chained records. An append is acknowledged only after fdatasync;
// appends that wait at the same time share one. docs/FORMAT.md has every byte.
package journal

import (
	"os"
	"time"

	"choiros/internal/choir"
	"choiros/internal/groupcommit"
	"choiros/internal/lockorder"
)

// DefaultSegmentBytes is the size in bytes at which a new segment starts. It is small
// enough that reading the last segment whole does not slow down an open.
const DefaultSegmentBytes = 8 << 20

// Config tunes a journal. The zero value is right.
type Config struct {
	// SegmentBytes is the size at which a segment ends; default DefaultSegmentBytes.
	SegmentBytes int64
	// Acked is the last event known from elsewhere to be acknowledged: whatever
	// of the log is missing up to there is damage and not a torn write.
	Acked uint64
	// ReadOnly changes nothing on disk and takes no lock; Append is refused.
	ReadOnly bool
	// Committed, when given, gets every group of records after it is durable and
	// before its appends return: in order, one call at a time.
	Committed func([]Record)
	// NoSync leaves the syncs out. Only for tests that show what they are for.
	NoSync bool

	pause func(time.Duration) // between two tries to lock; time.Sleep when nil
}

// Journal is an open log. Its methods are safe for concurrent use.
type Journal struct {
	dir  string
	cfg  Config
	lock *os.File

	writeMu lockorder.Mutex[lockorder.WriteMu] // held by the writer; guards the four below
	file    *os.File                           // last segment, nil until there is one
	alloc   int64                              // bytes of it that are written, with zeros if nothing else
	tight   bool                               // the disk had no room for zeros
	buf     []byte

	mu      lockorder.Mutex[lockorder.JournalMu] // guards the rest; never held across a system call
	appends *groupcommit.Queue[Record]
	next    Record // Seq of the next record to seal and, as Hash, the one before
	content
	refusal error // why appends are refused
}

// content describes the records of the segments.
type content struct {
	head     Record // last durable record, without its bytes
	segments []segment
	damage   []Damage
}

// Open opens or creates the journal in dir. It checks the structure of all segments and
// every record of the last one. It removes a torn write at the end, which was never
// acknowledged. Damage is reported by Damage, and appends are refused until it is
// repaired. Code busy: another process has the journal open.
func Open(dir string, cfg Config) (*Journal, error) {
	if cfg.SegmentBytes <= 0 {
		cfg.SegmentBytes = DefaultSegmentBytes
	}
	j := &Journal{dir: dir, cfg: cfg}
	j.appends = groupcommit.New(&j.mu, &j.writeMu, 0, j.write)
	if err := j.open(); err != nil {
		j.closeFiles()
		return nil, wrapErr("journal.open", err, dir)
	}
	return j, nil
}

func (j *Journal) open() error {
	if !j.cfg.ReadOnly {
		if err := os.MkdirAll(j.dir, 0o700); err != nil {
			return err
		}
		if err := j.takeLock(); err != nil {
			return err
		}
	}
	j.cfg.Acked = max(j.cfg.Acked, readMark(j.dir))
	found, err := load(j.dir, j.cfg.ReadOnly, j.cfg.Acked)
	if err != nil {
		return err
	}
	return j.setContent(found)
}

// setContent replaces the journal's in-memory state by the result of load, and opens
// the last segment for appending if there is no damage. The caller holds writeMu, or is
// the only user of the journal.
func (j *Journal) setContent(found content) error {
	var err error
	if !j.cfg.ReadOnly && len(found.damage) == 0 && len(found.segments) > 0 {
		err = j.openLast(found.segments[len(found.segments)-1])
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.content = found
	j.next = Record{Seq: found.head.Seq + 1, Hash: found.head.Hash}
	j.refusal = nil
	switch {
	case j.cfg.ReadOnly:
		j.refusal = choir.Refuse("journal.append", choir.ReasonJournalReading)
	case len(found.damage) > 0:
		j.refusal = choir.Refuse("journal.append", choir.ReasonJournalDamaged, choir.TextOf("why", found.damage[0]))
	}
	return err
}

// openLast opens the last segment for writing and removes the bytes after its last
// record: a torn write, or preallocated zeros.
func (j *Journal) openLast(s segment) error {
	if err := ownCopy(s.path); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	j.file, j.alloc = f, s.size
	st, err := f.Stat()
	if err != nil || st.Size() == s.size {
		return err
	}
	return j.seal(s.size)
}

// Head returns the number and the hash of the last durable event: 0 and the zero hash
// for an empty log.
func (j *Journal) Head() (uint64, choir.Digest) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head.Seq, j.head.Hash
}

// Size sums the bytes of the segments up to the last record of each.
func (j *Journal) Size() (bytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.segments {
		bytes += j.segments[i].size
	}
	return bytes
}

// Damage returns the damage that Open found and Repair has not mended.
func (j *Journal) Damage() []Damage {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Damage(nil), j.damage...)
}

// Close waits for appends in progress, removes preallocated space, records the head in
// the mark file and closes the files. Later appends are refused.
func (j *Journal) Close() error {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	j.mu.Lock()
	sound := j.refusal == nil && j.file != nil
	if j.refusal == nil {
		j.refusal = choir.Refuse("journal.append", choir.ReasonJournalClosed)
	}
	end, head := j.end(), j.head.Seq
	j.mu.Unlock()
	var err error
	if sound {
		if err = j.seal(end); err == nil {
			err = writeMark(j.dir, head)
		}
	}
	if cerr := j.closeFiles(); err == nil {
		err = cerr
	}
	return wrapErr("journal.close", err, j.dir)
}

func (j *Journal) closeFiles() error {
	var err error
	for _, f := range []*os.File{j.file, j.lock} {
		if f != nil {
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
	}
	j.file, j.lock = nil, nil
	return err
}

// end returns the offset in the last segment at which the next record is written. The
// caller holds mu.
func (j *Journal) end() int64 {
	if len(j.segments) == 0 {
		return 0
	}
	return j.segments[len(j.segments)-1].size
}
