package journal

import (
	"os"
	"slices"

	"choiros/internal/choir"
)

// ReadIntact calls fn in order for every event from sequence number from on, taken from
// the journal or, where its record is damaged, from fetch. Events damaged in both
// copies are skipped. It reads whole segments into memory, so it is meant for logs that
// are only read.
func (j *Journal) ReadIntact(from uint64, fetch Fetch, fn func(seq uint64, event []byte) error) error {
	j.mu.Lock()
	segments, head := slices.Clone(j.segments), j.head.Seq
	for _, d := range j.damage {
		head = max(head, d.ToSeq)
	}
	j.mu.Unlock()
	r := intact{want: max(from, 1), fetch: fetch, fn: fn}
	for i, s := range segments {
		last, after := head, choir.Digest("")
		if i+1 < len(segments) {
			last = segments[i+1].first - 1
			after, _ = segments[i+1].prevHash() // without it there is one witness less
		}
		if last < r.want {
			continue
		}
		if err := r.emitSegment(s, last, after); err != nil {
			return err
		}
	}
	return r.fillFromCopy(head)
}

// intact delivers events in order to fn, each once.
type intact struct {
	want  uint64 // next event to hand on
	prev  choir.Digest
	fetch Fetch
	fn    func(seq uint64, event []byte) error
}

// emitSegment reads one segment whole and emits its records up to last. It reads ahead
// because later records show which of two contradicting records is wrong. after is the
// hash that the next segment's header names.
func (r *intact) emitSegment(s segment, last uint64, after choir.Digest) error {
	data, err := os.ReadFile(s.path)
	if err != nil {
		return wrapErr("journal.read", err, s.path)
	}
	found := scanSegment(data[:min(int64(len(data)), s.size)], s.first, s.prev)
	found.checkLastHash(s.first, last, after)
	found.attributeBreaks(data, r.fetch)
	for _, p := range found.frames {
		if p.seq < r.want || p.seq > last {
			continue
		}
		if err := r.emitRecord(p.seq, p.event, p.digest()); err != nil {
			return err
		}
	}
	return r.fillFromCopy(last)
}

// emitRecord passes one whole record to fn, after the missing records before it from
// the other copy.
func (r *intact) emitRecord(seq uint64, event []byte, hash choir.Digest) error {
	if err := r.fillFromCopy(seq - 1); err != nil {
		return err
	}
	r.want, r.prev = seq+1, hash
	return r.fn(seq, event)
}

// fillFromCopy passes the missing events up to number to from the other copy to fn.
// Events that the other copy lacks or that break the chain are skipped.
func (r *intact) fillFromCopy(to uint64) error {
	for ; r.want <= to; r.want++ {
		rec, ok := r.fetch(r.want)
		if !ok || rec.Seq != r.want || !sound(rec) || r.prev != "" && !follows(rec.Event, r.prev) {
			r.prev = ""
			continue
		}
		r.prev = rec.Hash
		if err := r.fn(rec.Seq, rec.Event); err != nil {
			return err
		}
	}
	return nil
}
