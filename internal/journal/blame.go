package journal

import (
	"io"
	"os"
	"slices"
	"sort"

	"choiros/internal/choir"
)

// A chain breaks between two records, and only one of them need be wrong. An
// event's hash covers the hash of the one before, so a record that its successor
// confirms is right and the one before it is to blame. Where nothing confirms it
// the other copy decides: see Blame.

// Blame refines breaks of the hash chain in damage: it names the exact record that is
// wrong if the other copy (fetch) has an event for its place that fits both neighbours.
// Other damage, and breaks without such an event, are returned unchanged.
func (j *Journal) Blame(damage []Damage, fetch Fetch) ([]Damage, error) {
	var out []Damage
	done := map[string]bool{}
	for _, d := range damage {
		switch {
		case d.Kind != KindChain:
			out = append(out, d)
		case !done[d.File]:
			done[d.File] = true
			found, err := j.blame(d.File, damage, fetch)
			if err != nil {
				return damage, wrapErr("journal.blame", err, d.File)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// blame does the work of Blame for the chain breaks of one segment file.
func (j *Journal) blame(path string, damage []Damage, fetch Fetch) (out []Damage, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first, last, after := j.extent(path, damage)
	headed, _ := parseSegmentHeader(data, first)
	found := scanSegment(data, first, headed)
	found.checkLastHash(first, last, after)
	found.attributeBreaks(data, fetch)
	for _, g := range found.gaps {
		if g.kind == KindChain {
			out = append(out, g.damage(path))
		}
	}
	return out, nil
}

// confirmedByNext reports whether the record after f, which begins at data[at], is
// whole and names f's hash as its predecessor.
func confirmedByNext(data []byte, at int, f frame) bool {
	next, ok := parseFrame(data[at+f.size:])
	return ok && next.seq == f.seq+1 && next.hashHolds() && follows(next.event, f.digest())
}

// dropLast removes the last record and reports it as a gap: the next record's hash
// chain contradicts it.
func (s *scan) dropLast() {
	bad := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	s.gaps = append(s.gaps, bad.gap())
}

// checkLastHash compares the hash of a closed segment's last record with after, the
// hash that the next segment's header names. On a mismatch it reports the last record
// as a gap. An empty after is unknown and matches everything.
func (s *scan) checkLastHash(first, last uint64, after choir.Digest) {
	n := len(s.frames)
	s.until, s.after = last, after
	if s.stray.event != nil && s.stray.seq == last && s.stray.digest() == after {
		s.gaps = s.gaps[:len(s.gaps)-1]
		s.rejectPrevious(first)
		s.frames = append(s.frames, s.stray)
		return
	}
	if n > 0 && after != "" && s.frames[n-1].seq == last && s.frames[n-1].digest() != after {
		s.dropLast()
	}
}

// attributeBreaks calls attributeBreak for each gap, in ascending order: a gap may grow
// over records that an earlier gap released.
func (s *scan) attributeBreaks(data []byte, fetch Fetch) {
	for i := range s.gaps {
		s.attributeBreak(i, data, fetch)
	}
}

// attributeBreak decides, with the event of the other copy, which of the two records at
// a break of the hash chain is wrong, and moves the gap there.
func (s *scan) attributeBreak(i int, data []byte, fetch Fetch) {
	g := &s.gaps[i]
	if g.kind != KindChain || g.from != g.to {
		return
	}
	accused, ok := parseFrame(data[g.at:])
	if !ok || accused.seq != g.from {
		return
	}
	behind := sort.Search(len(s.frames), func(k int) bool { return s.frames[k].seq > g.from })
	first := behind == 0 || s.frames[behind-1].seq != g.from-1
	if first || follows(accused.event, s.frames[behind-1].digest()) {
		s.growGap(g, behind, fetch)
		return
	}
	before, ok := fetch(g.from - 1)
	if prev, _ := PrevHash(accused.event); !ok || !sound(before) || before.Hash != prev {
		return
	}
	if s.fitsNext(behind, accused) {
		g.to, g.end = g.from-1, g.at
		s.frames = slices.Insert(s.frames, behind, placed{g.at, accused})
	}
	g.from, g.at = g.from-1, s.frames[behind-1].at
	s.frames = slices.Delete(s.frames, behind-1, behind)
	s.growGap(g, behind-1, fetch)
}

// fitsNext reports whether the hash of f agrees with the record after it, or with the
// next segment's header. behind is the index of the first whole record after f.
func (s *scan) fitsNext(behind int, f frame) bool {
	if behind == len(s.frames) {
		return s.after == "" || f.seq != s.until || s.after == f.digest()
	}
	return s.frames[behind].seq != f.seq+1 || follows(s.frames[behind].event, f.digest())
}

// growGap extends a gap backwards over whole records that contradict the other copy:
// the other copy's event at the gap names another predecessor than they are. behind is
// the index of the first whole record after the gap.
func (s *scan) growGap(g *gap, behind int, fetch Fetch) {
	for k := behind - 1; k >= 0 && s.frames[k].seq == g.from-1; k-- {
		here, ok := fetch(g.from)
		if !ok || !sound(here) || follows(here.Event, s.frames[k].digest()) {
			return
		}
		before, ok := fetch(g.from - 1)
		if !ok || !sound(before) || !follows(here.Event, before.Hash) {
			return
		}
		g.from, g.at = before.Seq, s.frames[k].at
		s.frames = slices.Delete(s.frames, k, k+1)
	}
}

// prevHash returns the hash of the event before the segment: from its header, or from
// its first record if the header is damaged or the second record confirms the first. It
// is empty when neither can be read.
func (s segment) prevHash() (choir.Digest, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw := make([]byte, segmentHeader+2*(recordHeader+choir.MaxEventBytes+hashBytes))
	n, err := f.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	raw = raw[:n]
	headed, sound := parseSegmentHeader(raw, s.first)
	first, ok := parseFrame(raw[min(n, segmentHeader):])
	if !ok || first.seq != s.first || !first.hashHolds() || sound && !confirmedByNext(raw, segmentHeader, first) {
		return headed, nil
	}
	prev, _ := PrevHash(first.event)
	return prev, nil
}
