package journal

import (
	"os"
	"slices"

	"choiros/internal/choir"
)

// Fetch gives a record from another copy of the log; ok is false when that has
// none. The journal checks its hash and its place in the chain itself.
type Fetch func(seq uint64) (r Record, ok bool)

// Repair writes every damaged segment anew from the records that are whole and
// those that fetch gives, beside the old one, and puts it in its place. It
// returns what could not be restored: these segments are left as they were, and
// appends are refused while there are any.
func (j *Journal) Repair(damage []Damage, fetch Fetch) (left []Damage, err error) {
	if j.cfg.ReadOnly {
		return damage, nil
	}
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	done := map[string]bool{}
	for _, d := range damage {
		if done[d.File] {
			continue
		}
		done[d.File] = true
		if err := j.repairSegment(d.File, damage, fetch); err != nil {
			return damage, fail("journal.repair", err, d.File)
		}
	}
	return j.reload(damage)
}

// reload looks at the segments again, and whole at those that were damaged: an
// open would not see everything that Verify found.
func (j *Journal) reload(before []Damage) ([]Damage, error) {
	if j.file != nil {
		j.file.Close() // every record in it is synced
		j.file = nil
	}
	acked, _ := j.Head()
	for _, d := range before {
		acked = max(acked, d.ToSeq)
	}
	found, err := load(j.dir, false, max(acked, j.cfg.Acked))
	if err != nil {
		return before, fail("journal.repair", err, j.dir)
	}
	for i, s := range found.segments {
		last := found.head.Seq
		if i+1 < len(found.segments) {
			last = found.segments[i+1].first - 1
		}
		for _, d := range before {
			if d.File != s.path {
				continue
			}
			more, err := checkSegment(s, last)
			if err != nil {
				return before, fail("journal.repair", err, s.path)
			}
			found.damage = merge(found.damage, more)
		}
	}
	return slices.Clone(found.damage), fail("journal.repair", j.adopt(found), j.dir)
}

// merge adds damage that is not known yet.
func merge(into, more []Damage) []Damage {
	for _, d := range more {
		if !slices.Contains(into, d) {
			into = append(into, d)
		}
	}
	return into
}

// repairSegment replaces one file if all of its records can be had.
func (j *Journal) repairSegment(path string, damage []Damage, fetch Fetch) error {
	first, last := j.extent(path, damage)
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	whole := map[uint64]frame{}
	for _, p := range scanSegment(data, first, "").frames {
		whole[p.seq] = p.frame
	}
	for _, d := range damage {
		for seq := d.FromSeq; d.File == path && d.Kind == KindChain && seq <= d.ToSeq; seq++ {
			delete(whole, seq) // whole, but not what belongs there
		}
	}
	content, ok := restore(first, last, whole, fetch)
	if !ok {
		return nil
	}
	return writeFile(path, content)
}

// extent is the range of events a segment file has to hold.
func (j *Journal) extent(path string, damage []Damage) (first, last uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, last = 1, max(j.head.Seq, j.cfg.Acked)
	for _, s := range j.segments {
		if s.path == path {
			first = s.first
		}
		if s.path > path {
			return first, s.first - 1
		}
	}
	for _, d := range damage {
		last = max(last, d.ToSeq)
	}
	return first, last
}

// restore lays a segment out anew. It fails when a record is in neither copy or
// does not follow from the one before.
func restore(first, last uint64, whole map[uint64]frame, fetch Fetch) ([]byte, bool) {
	var content []byte
	var prev choir.Digest
	for seq := first; seq <= last; seq++ {
		var r Record
		var synced uint64
		if f, ok := whole[seq]; ok {
			r, synced = Record{Seq: seq, Event: f.event, Hash: f.digest()}, f.synced
		} else if r, ok = fetch(seq); !ok || r.Seq != seq || !sound(r) {
			return nil, false
		}
		before, ok := PrevHash(r.Event)
		if !ok || seq > first && before != prev || seq == 1 && before != choir.ZeroHash {
			return nil, false
		}
		if seq == first {
			content = encodeSegmentHeader(first, before)
		}
		content = appendFrame(content, synced, r)
		prev = r.Hash
	}
	return content, first <= last
}

func sound(r Record) bool {
	sum, ok := hashOf(r.Event)
	return ok && choir.DigestFrom(sum) == r.Hash
}
