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

// Blame names the records that are wrong where the chain breaks: those in whose
// place fetch has an event that fits its neighbours. Other damage, and what the
// other copy has no answer for, stays as it is.
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
				return damage, fail("journal.blame", err, d.File)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// blame is Blame for the breaks of one segment.
func (j *Journal) blame(path string, damage []Damage, fetch Fetch) (out []Damage, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first, last, after := j.extent(path, damage)
	headed, _ := parseSegmentHeader(data, first)
	found := scanSegment(data, first, headed)
	found.meet(first, last, after)
	found.settleAll(data, fetch)
	for _, g := range found.gaps {
		if g.kind == KindChain {
			out = append(out, g.damage(path))
		}
	}
	return out, nil
}

// confirmed reports whether the record behind f follows from it.
func confirmed(data []byte, at int, f frame) bool {
	next, ok := parseFrame(data[at+f.size:])
	return ok && next.seq == f.seq+1 && next.hashHolds() && follows(next.event, f.digest())
}

// accuse takes the last record back; what stands behind it says that it is wrong.
func (s *scan) accuse() {
	bad := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	s.gaps = append(s.gaps, bad.gap())
}

// meet holds the last record of a closed segment against the hash that the next
// one begins with; an empty hash is not known.
func (s *scan) meet(first, last uint64, after choir.Digest) {
	n := len(s.frames)
	s.until, s.after = last, after
	if s.stray.event != nil && s.stray.seq == last && s.stray.digest() == after {
		s.gaps = s.gaps[:len(s.gaps)-1]
		s.breaks(first)
		s.frames = append(s.frames, s.stray)
		return
	}
	if n > 0 && after != "" && s.frames[n-1].seq == last && s.frames[n-1].digest() != after {
		s.accuse()
	}
}

// settleAll goes forward, because a gap may take in what the one before it let go.
func (s *scan) settleAll(data []byte, fetch Fetch) {
	for i := range s.gaps {
		s.settle(i, data, fetch)
	}
}

// settle has the other copy decide who is to blame for a break of the chain.
func (s *scan) settle(i int, data []byte, fetch Fetch) {
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
		s.widen(g, behind, fetch)
		return
	}
	before, ok := fetch(g.from - 1)
	if prev, _ := PrevHash(accused.event); !ok || !sound(before) || before.Hash != prev {
		return
	}
	if s.fits(behind, accused) {
		g.to, g.end = g.from-1, g.at
		s.frames = slices.Insert(s.frames, behind, placed{g.at, accused})
	}
	g.from, g.at = g.from-1, s.frames[behind-1].at
	s.frames = slices.Delete(s.frames, behind-1, behind)
	s.widen(g, behind-1, fetch)
}

// fits reports whether nothing behind a record contradicts it; behind is the
// first whole record there.
func (s *scan) fits(behind int, f frame) bool {
	if behind == len(s.frames) {
		return s.after == "" || f.seq != s.until || s.after == f.digest()
	}
	return s.frames[behind].seq != f.seq+1 || follows(s.frames[behind].event, f.digest())
}

// widen blames the records before a gap as well that are not what the other
// copy's event there follows from. behind is the first record behind the gap.
func (s *scan) widen(g *gap, behind int, fetch Fetch) {
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

// begins is the hash that a segment's header names, or its first record when the
// header is damaged or that record is confirmed; empty when neither is whole.
func (s segment) begins() (choir.Digest, error) {
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
	if !ok || first.seq != s.first || !first.hashHolds() || sound && !confirmed(raw, segmentHeader, first) {
		return headed, nil
	}
	prev, _ := PrevHash(first.event)
	return prev, nil
}
