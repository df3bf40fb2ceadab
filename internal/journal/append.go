package journal

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Seal makes the records of one append once their place in the chain is known:
// the first has number next, and prev is the hash before it. It is called with
// the journal's lock held and must neither block nor call the journal.
type Seal func(next uint64, prev choir.Digest) ([]Record, error)

// batch is a group of appends that share one write and one sync. The goroutine
// that begins it is its leader and writes it; the others wait for done.
type batch struct {
	records []Record
	done    chan struct{} // closed by the leader
	err     error         // read after done
}

// growth is by how much a segment grows at once: fdatasync of bytes that are
// there already takes two thirds of the time it takes when a file became longer.
const growth = 1 << 20

// Append seals records and returns when they are durable, or an error and none
// of them is in the log. An append without records waits for those before it.
// Code no_space: the disk is full, try again when it is not. Code corrupt: there
// is damage. Any other refusal lasts until the journal is opened again.
func (j *Journal) Append(seal Seal) error {
	b, leader, err := j.join(seal)
	if err != nil {
		return err
	}
	if !leader {
		<-b.done
		return b.err
	}
	j.writeMu.Lock()
	j.detach(b)
	if b.err == nil {
		b.err = j.write(b)
	}
	j.writeMu.Unlock()
	close(b.done)
	return b.err
}

func (j *Journal) join(seal Seal) (*batch, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refusal != nil {
		return nil, false, j.refusal
	}
	records, err := seal(j.next.Seq, j.next.Hash)
	if err != nil {
		return nil, false, err
	}
	b, leader := j.filling, false
	if b == nil {
		b, leader = &batch{done: make(chan struct{})}, true
		j.filling = b
	}
	b.records = append(b.records, records...)
	if n := len(records); n > 0 {
		j.next = Record{Seq: records[n-1].Seq + 1, Hash: records[n-1].Hash}
	}
	return b, leader, nil
}

// detach closes the batch for others. It first lets goroutines that are ready to
// run join, because those the last sync set free come back at about the same
// time and would otherwise wait for a sync of their own.
func (j *Journal) detach(b *batch) {
	for size := -1; ; runtime.Gosched() {
		j.mu.Lock()
		if size == len(b.records) || b.err != nil {
			if j.filling == b {
				j.filling = nil
			}
			j.mu.Unlock()
			return
		}
		size = len(b.records)
		j.mu.Unlock()
	}
}

// write makes a batch durable and known. The caller holds writeMu.
func (j *Journal) write(b *batch) error {
	if len(b.records) == 0 {
		return nil
	}
	j.mu.Lock()
	head, end, refusal := j.head, j.end(), j.refusal
	j.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	j.buf = j.buf[:0]
	for _, r := range b.records {
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
	last := b.records[len(b.records)-1]
	j.mu.Lock()
	j.head = Record{Seq: last.Seq, Hash: last.Hash}
	j.segments[len(j.segments)-1].size = end + int64(len(j.buf))
	j.mu.Unlock()
	if j.cfg.Committed != nil {
		j.cfg.Committed(b.records)
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

// makeRoom begins a new segment when the last one is full, and fills what comes
// next with zeros. That the disk has no room for the zeros is no error yet.
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

// preallocate fills the file with zeros from its end to well past what is
// needed. A disk without room for that may still have room for the records, so
// it is not tried again in this segment.
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
	if err := writeFile(s.path, encodeSegmentHeader(s.first, s.prev)); err != nil {
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

// giveUp takes back what a failed write left and fails the appends that were
// sealed behind it. After a failed sync nobody knows what is on the disk, so the
// journal refuses appends until it is opened again.
func (j *Journal) giveUp(cause error, head Record, end int64, poison bool) error {
	cause = fail("journal.append", cause, j.dir)
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
	if j.filling != nil {
		j.filling.err, j.filling = cause, nil
	}
	return cause
}

// seal makes the last segment end at its last record, durably.
func (j *Journal) seal(end int64) error {
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	j.alloc = end
	fault.Point("journal.seal")
	return j.file.Sync()
}
