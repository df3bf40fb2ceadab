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
// returns what could not be restored: its bytes stay where they were between
// what could, and appends are refused while there is any. The caller lets no
// Append run meanwhile. Code busy: an append has been given its number already,
// and nothing was repaired. After any other error appends are refused until the
// journal is opened again.
func (j *Journal) Repair(damage []Damage, fetch Fetch) (left []Damage, err error) {
	if j.cfg.ReadOnly {
		return damage, nil
	}
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	if j.joined() {
		return damage, choir.E("journal.repair", choir.CodeBusy, "an append is under way").WithRemedy("repair when none is")
	}
	left, err = j.repair(damage, fetch)
	if err != nil {
		j.refuse(err)
	}
	return left, err
}

// joined reports whether records have numbers and are not written yet.
func (j *Journal) joined() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.filling != nil
}

// refuse refuses appends: nobody knows what the segments hold.
func (j *Journal) refuse(cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refusal == nil {
		j.refusal = cause
	}
}

// repair is Repair with writeMu held.
func (j *Journal) repair(damage []Damage, fetch Fetch) (left []Damage, err error) {
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
		for _, d := range before {
			if d.File != s.path {
				continue
			}
			more, err := checkSegment(found.segments[i:], found.head.Seq)
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

// repairSegment replaces one file if any of its records can be restored.
func (j *Journal) repairSegment(path string, damage []Damage, fetch Fetch) error {
	first, last, after := j.extent(path, damage)
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	r := restoring{first: first, data: data, after: after, whole: map[uint64]frame{}, lost: map[uint64][]byte{}}
	found := scanSegment(data, first, "")
	found.meet(first, last, after)
	found.settleAll(data, fetch)
	for _, p := range found.frames {
		r.whole[p.seq] = p.frame
	}
	for _, g := range found.gaps {
		r.lost[g.from] = data[g.at:g.end]
	}
	for _, d := range damage {
		for seq := d.FromSeq; d.File == path && d.Kind == KindChain && seq <= d.ToSeq; seq++ {
			r.reject(seq) // whole, but not what belongs there
		}
	}
	content, better := r.layOut(last, fetch)
	if !better {
		return nil
	}
	return writeFile(path, content)
}

// extent is the range of events a segment file has to hold, and the hash that
// the segment behind it begins with, empty when that is not known.
func (j *Journal) extent(path string, damage []Damage) (first, last uint64, after choir.Digest) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, last = 1, max(j.head.Seq, j.cfg.Acked)
	for _, s := range j.segments {
		if s.path == path {
			first = s.first
		}
		if s.path > path {
			after, _ = s.begins() // without it there is one witness less
			return first, s.first - 1, after
		}
	}
	for _, d := range damage {
		last = max(last, d.ToSeq)
	}
	return first, last, ""
}

// restoring lays a segment out anew.
type restoring struct {
	first uint64
	data  []byte            // the segment as it is
	after choir.Digest      // what the next segment begins with, empty when not known
	whole map[uint64]frame  // records that are whole
	lost  map[uint64][]byte // bytes that stand in the place of an event, and those behind it, that is not
}

func (r *restoring) reject(seq uint64) {
	f, ok := r.whole[seq]
	if !ok {
		return
	}
	delete(r.whole, seq)
	r.lost[seq] = appendFrame(nil, f.synced, Record{Seq: seq, Event: f.event, Hash: f.digest()})
}

// layOut gives the new content, and whether it has more than the old. What is
// in neither copy, or does not follow from the record before, keeps its bytes.
func (r *restoring) layOut(last uint64, fetch Fetch) (content []byte, better bool) {
	content, better = r.header(fetch)
	var prev choir.Digest
	for seq := r.first; seq <= last; seq++ {
		rec, synced, stood := r.record(seq, fetch)
		before, ok := PrevHash(rec.Event)
		follows := ok && (prev == "" || before == prev) && (seq > 1 || before == choir.ZeroHash)
		if !stood && !(follows && r.fits(rec, last)) {
			content = append(content, r.lost[seq]...)
			prev = ""
			continue
		}
		better = better || !stood
		content = appendFrame(content, synced, rec)
		prev = rec.Hash
	}
	return content, better || len(content) < len(r.data)
}

// fits reports whether what stands behind a restored record follows from it.
func (r *restoring) fits(rec Record, last uint64) bool {
	if next, ok := r.whole[rec.Seq+1]; ok {
		return follows(next.event, rec.Hash)
	}
	return rec.Seq < last || r.after == "" || r.after == rec.Hash
}

// header is the segment's own when it is whole, else made of its first event.
func (r *restoring) header(fetch Fetch) (header []byte, made bool) {
	rec, _, _ := r.record(r.first, fetch)
	prev, known := PrevHash(rec.Event)
	if headed, ok := parseSegmentHeader(r.data, r.first); ok && (!known || headed == prev) {
		return slices.Clone(r.data[:segmentHeader]), false
	}
	if known {
		return encodeSegmentHeader(r.first, prev), true
	}
	return append(slices.Clone(r.data[:min(len(r.data), segmentHeader)]), make([]byte, segmentHeader-min(len(r.data), segmentHeader))...), false
}

// record is an event's from this copy or the other; stood says that it was here.
func (r *restoring) record(seq uint64, fetch Fetch) (rec Record, synced uint64, stood bool) {
	if f, ok := r.whole[seq]; ok {
		return Record{Seq: seq, Event: f.event, Hash: f.digest()}, f.synced, true
	}
	if rec, ok := fetch(seq); ok && rec.Seq == seq && sound(rec) {
		return rec, 0, false
	}
	return Record{}, 0, false
}

func sound(r Record) bool {
	sum, ok := hashOf(r.Event)
	return ok && choir.DigestFrom(sum) == r.Hash
}
