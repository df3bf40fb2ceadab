package journal

import (
	"os"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/groupcommit"
)

// Seal computes the records of one append. next is the sequence number of the first
// record, prev the hash of the event before it. Append calls it while it holds the
// journal's lock, so it must neither block nor call the journal.
type Seal func(next uint64, prev choir.Digest) ([]Record, error)

// growth is the number of bytes by which a segment file grows at once. fdatasync of
// preallocated bytes takes two thirds of the time of an fdatasync after the file became
// longer.
const growth = 1 << 20

// Append writes the records that seal computes, and returns when they are durable.
// After an error none of them is in the log. A seal without records waits until all
// earlier records are durable. Code no_space: the disk is full, and a later call may
// succeed. Code corrupt: the log is damaged. After any other error all appends fail
// until the journal is opened again.
func (j *Journal) Append(seal Seal) error {
	place, err := j.join(seal)
	if err != nil {
		return err
	}
	return j.appends.Finish(place)
}

func (j *Journal) join(seal Seal) (place groupcommit.Place[Record], err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refusal != nil {
		return place, j.refusal
	}
	records, err := seal(j.next.Seq, j.next.Hash)
	if err != nil {
		return place, err
	}
	if n := len(records); n > 0 {
		j.next = Record{Seq: records[n-1].Seq + 1, Hash: records[n-1].Hash}
	}
	return j.appends.Join(records, 0), nil
}

// write writes the records of a group to the last segment, syncs it and then updates
// the head. The caller holds writeMu.
func (j *Journal) write(records []Record) error {
	if len(records) == 0 {
		return nil
	}
	j.mu.Lock()
	head, end, refusal := j.head, j.end(), j.refusal
	j.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	j.buf = j.buf[:0]
	for _, r := range records {
		j.buf = appendFrame(j.buf, head.Seq, r)
	}
	if err := j.makeRoom(&end, head); err != nil {
		return j.giveUp(err, head, end, false)
	}
	if _, err := j.file.WriteAt(j.buf, end); err != nil {
		return j.giveUp(err, head, end, false)
	}
	if err := j.sync(); err != nil {
		return j.giveUp(err, head, end, true)
	}
	last := records[len(records)-1]
	j.mu.Lock()
	j.head = Record{Seq: last.Seq, Hash: last.Hash}
	j.segments[len(j.segments)-1].size = end + int64(len(j.buf))
	j.mu.Unlock()
	if j.cfg.Committed != nil {
		j.cfg.Committed(records)
	}
	return nil
}

func (j *Journal) sync() error {
	fault.Point("journal.sync")
	defer fault.Point("journal.synced")
	if j.cfg.NoSync || fault.NoSync {
		return nil
	}
	return unix.Fdatasync(int(j.file.Fd()))
}

// makeRoom starts a new segment when the last one is full, and preallocates space for
// the buffered records. A disk too full to preallocate is not an error.
func (j *Journal) makeRoom(end *int64, head Record) error {
	need := int64(len(j.buf))
	if j.file == nil || *end > segmentHeader && *end+need > j.cfg.SegmentBytes {
		if err := j.beginSegment(*end, head); err != nil {
			return err
		}
		*end = segmentHeader
	}
	if *end+need <= j.alloc {
		return nil
	}
	return j.preallocate(*end, need)
}

// preallocate fills the file with zeros from its end to beyond end+need. When the disk
// is too full, it truncates the file again and does not preallocate in this segment any
// more: the records themselves may still fit.
func (j *Journal) preallocate(end, need int64) error {
	if j.tight {
		return nil
	}
	to := ((end+need)/growth + 1) * growth
	for at := max(end, j.alloc); at < to; at += int64(len(zeros)) {
		if _, err := j.file.WriteAt(zeros[:min(int64(len(zeros)), to-at)], at); err != nil {
			j.tight, j.alloc = true, end
			return j.file.Truncate(end)
		}
	}
	j.alloc = to
	return nil
}

func (j *Journal) beginSegment(end int64, head Record) error {
	if j.file != nil {
		if err := j.seal(end); err != nil {
			return err
		}
		if err := writeMark(j.dir, head.Seq); err != nil {
			return err
		}
	}
	s := segment{path: segmentPath(j.dir, head.Seq+1), first: head.Seq + 1, prev: head.Hash, size: segmentHeader}
	if err := files.Write(s.path, encodeSegmentHeader(s.first, s.prev)); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if j.file != nil {
		j.file.Close() // synced and only to be read from here on
	}
	j.file, j.alloc, j.tight = f, segmentHeader, false
	j.mu.Lock()
	j.segments = append(j.segments, s)
	j.mu.Unlock()
	return nil
}

// giveUp handles a failed write: it cuts the half-written bytes off the segment and
// fails the appends that were sealed after the failed group. poison, set after a failed
// sync, makes the journal refuse all appends until it is opened again.
func (j *Journal) giveUp(cause error, head Record, end int64, poison bool) error {
	cause = wrapErr("journal.append", cause, j.dir)
	if j.file != nil {
		if err := j.seal(end); err != nil {
			poison = true
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next = Record{Seq: head.Seq + 1, Hash: head.Hash}
	if poison {
		j.refusal = cause
	}
	j.appends.Refuse(cause)
	return cause
}

// seal cuts preallocated space off the last segment, whose last record ends at end, and
// syncs the file.
func (j *Journal) seal(end int64) error {
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	j.alloc = end
	fault.Point("journal.seal")
	return j.file.Sync()
}
