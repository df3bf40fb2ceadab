package journal

import (
	"os"
	"slices"

	"choiros/internal/choir"
)

// ReadIntact calls fn for every event from a sequence number on that is whole
// here or that fetch gives, in order. It goes on behind damage: what fn does not
// get is damaged in both copies. It is for a log that is only read, because it
// reads segments whole.
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
			after, _ = segments[i+1].begins() // without it there is one witness less
		}
		if last < r.want {
			continue
		}
		if err := r.segment(s, last, after); err != nil {
			return err
		}
	}
	return r.fill(head)
}

// intact hands events on, each once.
type intact struct {
	want  uint64 // next event to hand on
	prev  choir.Digest
	fetch Fetch
	fn    func(seq uint64, event []byte) error
}

// segment reads a segment whole, because what follows tells which record is wrong.
func (r *intact) segment(s segment, last uint64, after choir.Digest) error {
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fail("journal.read", err, s.path)
	}
	found := scanSegment(data[:min(int64(len(data)), s.size)], s.first, s.prev)
	found.meet(s.first, last, after)
	found.settleAll(data, r.fetch)
	for _, p := range found.frames {
		if p.seq < r.want || p.seq > last {
			continue
		}
		if err := r.take(p.seq, p.event, p.digest()); err != nil {
			return err
		}
	}
	return r.fill(last)
}

// take hands a whole record on, and before it what is missing from the other copy.
func (r *intact) take(seq uint64, event []byte, hash choir.Digest) error {
	if err := r.fill(seq - 1); err != nil {
		return err
	}
	r.want, r.prev = seq+1, hash
	return r.fn(seq, event)
}

// fill hands on what the other copy has up to an event.
func (r *intact) fill(to uint64) error {
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
