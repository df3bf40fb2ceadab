package journal

import (
	"os"
	"slices"

	"choiros/internal/choir"
)

// ReadIntact calls fn for every event from a sequence number on that is whole
// here or that fetch gives, in order. It goes on behind damage: what fn does not
// get is damaged in both copies. It is for a log that is only read, because it
// reads damaged segments whole.
func (j *Journal) ReadIntact(from uint64, fetch Fetch, fn func(seq uint64, event []byte) error) error {
	j.mu.Lock()
	segments, head := slices.Clone(j.segments), j.head.Seq
	for _, d := range j.damage {
		head = max(head, d.ToSeq)
	}
	j.mu.Unlock()
	r := intact{want: max(from, 1), fetch: fetch, fn: fn}
	for i, s := range segments {
		last := head
		if i+1 < len(segments) {
			last = segments[i+1].first - 1
		}
		if last < r.want {
			continue
		}
		if err := r.segment(s, last); err != nil {
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
	err   error // fn's
}

func (r *intact) segment(s segment, last uint64) error {
	err := readSegment(s, r.want, last, func(f frame) error {
		if r.prev != "" && f.seq == r.want && !follows(f.event, r.prev) {
			return choir.E("journal.read", choir.CodeCorrupt, "event %d does not follow from the one before", f.seq)
		}
		return r.take(f.seq, f.event, f.digest())
	})
	if err == nil || r.err != nil || choir.CodeOf(err) != choir.CodeCorrupt {
		return err
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fail("journal.read", err, s.path)
	}
	for _, p := range scanSegment(data, s.first, s.prev).frames {
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
	r.err = r.fn(seq, event)
	return r.err
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
		if r.err = r.fn(rec.Seq, rec.Event); r.err != nil {
			return r.err
		}
	}
	return nil
}
