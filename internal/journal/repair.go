package journal

import (
	"os"
	"slices"

	"choiros/internal/choir"
)

// Fetch returns a record from the other copy of the log; ok is false when that copy
// lacks it. The journal itself checks the record's hash and its place in the chain.
type Fetch func(seq uint64) (r Record, ok bool)

// Repair rewrites every damaged segment from its whole records and the records of
// fetch, into a new file that replaces the old one. It returns the damage that could
// not be repaired: those bytes are kept as they were, and appends are refused while
// there are any. The caller runs no Append meanwhile. Code busy: an append already has
// its number, and nothing was repaired. After any other error appends are refused until
// the journal is opened again.
func (j *Journal) Repair(damage []Damage, fetch Fetch) (left []Damage, err error) {
	if j.cfg.ReadOnly {
		return damage, nil
	}
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	if j.hasUnwritten() {
		return damage, choir.Refuse("journal.repair", choir.ReasonRepairBusy)
	}
	left, err = j.repair(damage, fetch)
	if err != nil {
		j.refuse(err)
	}
	return left, err
}

// hasUnwritten reports whether some records already have sequence numbers and are not
// written yet.
func (j *Journal) hasUnwritten() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.appends.Filling()
}

// refuse makes the journal refuse appends with cause, unless it already refuses them:
// the state of the segments is unknown.
func (j *Journal) refuse(cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refusal == nil {
		j.refusal = cause
	}
}

// repair does the work of Repair. The caller holds writeMu.
func (j *Journal) repair(damage []Damage, fetch Fetch) (left []Damage, err error) {
	done := map[string]bool{}
	for _, d := range damage {
		if done[d.File] {
			continue
		}
		done[d.File] = true
		if err := j.repairSegment(d.File, damage, fetch); err != nil {
			return damage, wrapErr("journal.repair", err, d.File)
		}
	}
	return j.reload(damage)
}

// reload reads the segments again after a repair and returns the remaining damage. It
// reads the segments in before whole, because an open checks less than Verify.
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
		return before, wrapErr("journal.repair", err, j.dir)
	}
	for i, s := range found.segments {
		for _, d := range before {
			if d.File != s.path {
				continue
			}
			more, err := checkSegment(found.segments[i:], found.head.Seq)
			if err != nil {
				return before, wrapErr("journal.repair", err, s.path)
			}
			found.damage = mergeDamage(found.damage, more)
		}
	}
	return slices.Clone(found.damage), wrapErr("journal.repair", j.setContent(found), j.dir)
}

// mergeDamage appends to into the damage of more that it does not contain.
func mergeDamage(into, more []Damage) []Damage {
	for _, d := range more {
		if !slices.Contains(into, d) {
			into = append(into, d)
		}
	}
	return into
}

// repairSegment replaces one segment file if at least one of its records can be
// restored.
func (j *Journal) repairSegment(path string, damage []Damage, fetch Fetch) error {
	first, last, after := j.extent(path, damage)
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	r := restoring{first: first, data: data, after: after, whole: map[uint64]frame{}, lost: map[uint64][]byte{}}
	found := scanSegment(data, first, "")
	found.checkLastHash(first, last, after)
	found.attributeBreaks(data, fetch)
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
	content, better := r.encode(last, fetch)
	if !better {
		return nil
	}
	return files.Write(path, content)
}

// extent returns the numbers of the first and the last event that a segment file has to
// contain, and the hash that the next segment's header names, empty if unknown.
func (j *Journal) extent(path string, damage []Damage) (first, last uint64, after choir.Digest) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, last = 1, max(j.head.Seq, j.cfg.Acked)
	for _, s := range j.segments {
		if s.path == path {
			first = s.first
		}
		if s.path > path {
			after, _ = s.prevHash() // without it there is one witness less
			return first, s.first - 1, after
		}
	}
	for _, d := range damage {
		last = max(last, d.ToSeq)
	}
	return first, last, ""
}

// restoring builds the new content of a damaged segment.
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

// encode returns the segment's new content up to event last, and whether it has more
// whole records than the old content. Records that neither copy has, or that do not
// follow from the record before, keep their old bytes.
func (r *restoring) encode(last uint64, fetch Fetch) (content []byte, better bool) {
	content, better = r.header(fetch)
	var prev choir.Digest
	for seq := r.first; seq <= last; seq++ {
		rec, synced, stood := r.record(seq, fetch)
		before, ok := PrevHash(rec.Event)
		follows := ok && (prev == "" || before == prev) && (seq > 1 || before == choir.ZeroHash)
		if !stood && !(follows && r.fitsNext(rec, last)) {
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

// fitsNext reports whether the record after rec, or the next segment's header, names
// the hash of rec.
func (r *restoring) fitsNext(rec Record, last uint64) bool {
	if next, ok := r.whole[rec.Seq+1]; ok {
		return follows(next.event, rec.Hash)
	}
	return rec.Seq < last || r.after == "" || r.after == rec.Hash
}

// header returns the segment's header if it is whole, else one made from the prev_hash
// of its first event; made reports the latter.
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

// record returns the record of an event from this segment, or else from the other copy.
// stood reports that this segment has it. It returns the zero Record if neither has it.
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
