package journal

import (
	"os"

	"choiros/internal/choir"
)

// load reads and checks the segments of a folder. acked is the number of the last
// acknowledged event: events missing up to it count as damage.
func load(dir string, readOnly bool, acked uint64) (content, error) {
	segments, err := listSegments(dir, readOnly)
	if readOnly && acked > 0 && os.IsNotExist(err) {
		err = nil // the whole folder is gone: that is damage as well
	}
	if err != nil {
		return content{}, err
	}
	c := content{segments: segments, head: Record{Hash: choir.ZeroHash}}
	c.lostBeginning(dir, acked)
	if err := c.checkClosed(); err != nil {
		return c, err
	}
	return c, c.checkLast(acked)
}

// lostBeginning reports the events before the first segment file as damage, or all up
// to acked if there is no file.
func (c *content) lostBeginning(dir string, acked uint64) {
	to := acked
	if len(c.segments) > 0 {
		to = c.segments[0].first - 1
	}
	if to > 0 {
		c.damage = append(c.damage, Damage{FromSeq: 1, ToSeq: to, Kind: KindMissing, File: segmentPath(dir, 1)})
	}
}

// checkClosed compares the last hash of each closed segment with the hash in the next
// segment's header. It reads a segment whole only when the two differ.
func (c *content) checkClosed() error {
	var tail [32]byte
	for i := range c.segments {
		s := &c.segments[i]
		end, err := s.inspect()
		if err != nil {
			return err
		}
		if i > 0 && (s.prev == "" || s.prev != choir.DigestFrom(tail)) {
			for k := i - 1; k <= i && k+1 < len(c.segments); k++ {
				found, err := checkSegment(c.segments[k:], 0)
				if err != nil {
					return err
				}
				c.damage = mergeDamage(c.damage, found)
			}
		}
		if s.prev == "" {
			c.damage = append(c.damage, Damage{FromSeq: s.first, ToSeq: s.first - 1, Kind: KindHeader, File: s.path, End: segmentHeader})
		}
		tail = end
	}
	return nil
}

// checkLast reads the last segment whole and checks its records. An unacknowledged torn
// write at its end is left out of the segment's size.
func (c *content) checkLast(acked uint64) error {
	if len(c.segments) == 0 {
		return nil
	}
	s := &c.segments[len(c.segments)-1]
	data, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	found := scanSegment(data, s.first, s.prev)
	last := found.last(s.first)
	lost := max(last, acked, found.promised)
	if found.rest && lost == last && !tornAt(data, found.end) {
		// Neither a record nor a torn write: one event was here at least.
		lost = last + 1
	}
	c.damage = append(c.damage, found.damage(*s, lost)...)
	s.size = int64(found.end)
	c.head = Record{Seq: s.first - 1, Hash: s.prev}
	if n := len(found.frames); n > 0 {
		c.head = Record{Seq: found.frames[n-1].seq, Hash: found.frames[n-1].digest()}
	}
	return nil
}

// checkSegment reads segments[0] whole and returns its damage, including events that
// are missing before the next segment, or up to head if it is the last.
func checkSegment(segments []segment, head uint64) ([]Damage, error) {
	s := segments[0]
	data, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	found := scanSegment(data, s.first, s.prev)
	if len(segments) > 1 {
		after, err := segments[1].prevHash()
		if err != nil {
			return nil, err
		}
		head = segments[1].first - 1
		found.checkLastHash(s.first, head, after)
	}
	return found.closedDamage(s, head), nil
}

// last returns the number of the last record found, including records that break the
// chain, or first-1 if there is none.
func (s scan) last(first uint64) uint64 {
	last := first - 1
	if n := len(s.frames); n > 0 {
		last = s.frames[n-1].seq
	}
	if n := len(s.gaps); n > 0 {
		last = max(last, s.gaps[n-1].to)
	}
	return last
}

func (g gap) damage(path string) Damage {
	return Damage{FromSeq: g.from, ToSeq: g.to, Kind: g.kind, File: path, Offset: int64(g.at), End: int64(g.end)}
}

// damage converts the gaps of a segment to Damage and adds one for the events that are
// missing after its last record up to last.
func (s scan) damage(seg segment, last uint64) []Damage {
	var out []Damage
	for _, g := range s.gaps {
		out = append(out, g.damage(seg.path))
	}
	if have := s.last(seg.first); have < last {
		kind := KindMissing
		if s.rest {
			kind = KindRecord
		}
		out = append(out, Damage{FromSeq: have + 1, ToSeq: last, Kind: kind, File: seg.path, Offset: int64(s.end), End: int64(s.end + s.behind)})
	}
	return out
}

// closedDamage returns the damage of a segment that is followed by another, where bytes
// after the last record are damage too.
func (s scan) closedDamage(seg segment, last uint64) []Damage {
	out := s.damage(seg, last)
	if s.behind > 0 && s.last(seg.first) >= last {
		out = append(out, Damage{FromSeq: last + 1, ToSeq: last, Kind: KindRecord, File: seg.path, Offset: int64(s.end), End: int64(s.end + s.behind)})
	}
	return out
}
