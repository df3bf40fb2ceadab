package journal

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// Read calls fn in order for every durable event from sequence number from on. The
// bytes are valid until fn returns. It verifies checksums, not the hash chain: the
// caller or Verify does that. Code corrupt: a record is damaged; no later event is
// read.
func (j *Journal) Read(from uint64, fn func(Record) error) error {
	return j.read(from, func(f frame) error { return fn(Record{Seq: f.seq, Event: f.event, Hash: f.digest()}) })
}

// ReadEvents is Read without the hash of each record, for callers that take the hash
// from the event's JSON.
func (j *Journal) ReadEvents(from uint64, fn func(seq uint64, event []byte) error) error {
	return j.read(from, func(f frame) error { return fn(f.seq, f.event) })
}

func (j *Journal) read(from uint64, fn func(frame) error) error {
	j.mu.Lock()
	segments, head := slices.Clone(j.segments), j.head.Seq
	j.mu.Unlock()
	for i, s := range segments {
		last := head
		if i+1 < len(segments) {
			last = segments[i+1].first - 1
		}
		if last < from {
			continue
		}
		if err := readSegment(s, from, last, fn); err != nil {
			return err
		}
	}
	return nil
}

// buffers pools the large read buffers of readSegment.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 2*choir.MaxEventBytes) }}

func readSegment(s segment, from, last uint64, fn func(frame) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return wrapErr("journal.read", err, s.path)
	}
	defer f.Close()
	r := buffers.Get().(*bufio.Reader)
	defer buffers.Put(r)
	r.Reset(io.NewSectionReader(f, segmentHeader, s.size-segmentHeader))
	for seq := s.first; seq <= last; seq++ {
		fr, err := nextFrame(r)
		if err != nil || fr.seq != seq {
			return choir.Refuse("journal.read", choir.ReasonEventDamaged, choir.TextOf("event", seq), choir.TextOf("path", s.path))
		}
		if seq >= from {
			if err := fn(fr); err != nil {
				return err
			}
		}
		if _, err := r.Discard(fr.size); err != nil {
			return wrapErr("journal.read", err, s.path)
		}
	}
	return nil
}

// nextFrame returns the next record of the reader without consuming its bytes.
func nextFrame(r *bufio.Reader) (frame, error) {
	head, err := r.Peek(recordHeader)
	if err != nil {
		return frame{}, err
	}
	n := frameLength(head)
	raw, err := r.Peek(min(n, r.Size()))
	if err != nil {
		return frame{}, err
	}
	f, ok := parseFrame(raw)
	if !ok {
		return frame{}, io.ErrUnexpectedEOF
	}
	return f, nil
}

// Verify reads every segment whole and returns all damage. It changes nothing and runs
// beside appends. each, unless nil, gets every whole record in order, also after
// damage; the bytes are valid until it returns.
func (j *Journal) Verify(ctx context.Context, each func(Record) error) ([]Damage, error) {
	p := j.NewPass()
	for p.More() {
		if err := p.Next(ctx, each); err != nil {
			return nil, err
		}
	}
	return p.Damage(), nil
}

// Confirm reads the segments named in damage again, and the segments before them, and
// returns the damage still found there. It changes nothing.
func (j *Journal) Confirm(ctx context.Context, damage []Damage) ([]Damage, error) {
	suspect := func(s segment) bool {
		return slices.ContainsFunc(damage, func(d Damage) bool { return d.File == s.path })
	}
	p := j.NewPass()
	for p.More() {
		// A header and the end of the segment before it tell on each other.
		if !suspect(p.segments[0]) && !(len(p.segments) > 1 && suspect(p.segments[1])) {
			p.skip()
			continue
		}
		if err := p.Next(ctx, nil); err != nil {
			return nil, err
		}
	}
	return p.Damage(), nil
}

// skip passes over the next segment without reading it.
func (p *Pass) skip() { p.segments, p.prev = p.segments[1:], "" }

// Pass reads the journal segment by segment, up to the last event at the time of
// NewPass. It must not be used by two goroutines at once.
type Pass struct {
	segments []segment
	head     uint64
	prev     choir.Digest // hash before the next segment, empty when not known
	damage   []Damage
}

// NewPass begins a pass over the whole journal.
func (j *Journal) NewPass() *Pass {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := &Pass{segments: slices.Clone(j.segments), head: j.head.Seq, damage: slices.Clone(j.damage), prev: choir.ZeroHash}
	if len(p.segments) > 0 && p.segments[0].first != 1 {
		p.prev = ""
	}
	return p
}

// More reports whether there is a segment left.
func (p *Pass) More() bool { return len(p.segments) > 0 }

// Damage returns the damage found so far, with the damage that the journal knew before.
func (p *Pass) Damage() []Damage { return p.damage }

// Span returns the numbers of the first and the last event of the segment that Next
// reads next.
func (p *Pass) Span() (first, last uint64) {
	if len(p.segments) > 1 {
		return p.segments[0].first, p.segments[1].first - 1
	}
	return p.segments[0].first, p.head
}

// Next reads and verifies one segment and adds its damage to the pass; each is as in
// Verify.
func (p *Pass) Next(ctx context.Context, each func(Record) error) error {
	first, last := p.Span()
	if err := ctx.Err(); err != nil {
		return choir.Wrap("journal.verify", choir.CodeCancelled, err, "stopped at event %d", first)
	}
	s := p.segments[0]
	p.segments = p.segments[1:]
	found, err := verifySegment(s, p.prev)
	if err != nil {
		return err
	}
	if p.More() {
		after, err := p.segments[0].prevHash()
		if err != nil && !os.IsNotExist(err) { // a lost segment is the damage of its own turn
			return wrapErr("journal.verify", err, p.segments[0].path)
		}
		found.checkLastHash(first, last, after)
	}
	p.damage = mergeDamage(p.damage, found.closedDamage(s, last))
	p.prev = ""
	if n := len(found.frames); n > 0 && found.frames[n-1].seq == last {
		p.prev = found.frames[n-1].digest()
	}
	return found.each(each)
}

func (s scan) each(fn func(Record) error) error {
	if fn == nil {
		return nil
	}
	for _, p := range s.frames {
		if err := fn(Record{Seq: p.seq, Event: p.event, Hash: p.digest()}); err != nil {
			return err
		}
	}
	return nil
}

// verifySegment reads the segment's durable bytes, up to s.size, and scans them. prev
// is the hash before its first record, empty if unknown.
func verifySegment(s segment, prev choir.Digest) (scan, error) {
	data, err := readUpTo(s.path, s.size)
	if err != nil && !os.IsNotExist(err) { // all of a lost segment is missing
		return scan{}, wrapErr("journal.verify", err, s.path)
	}
	headed, ok := parseSegmentHeader(data, s.first)
	if prev == "" {
		prev = headed
	}
	found := scanSegment(data, s.first, prev)
	if !ok || headed != prev {
		found.gaps = append([]gap{{from: s.first, to: s.first - 1, end: segmentHeader, kind: KindHeader}}, found.gaps...)
	}
	return found, nil
}

// readUpTo reads the first size bytes of a file, or the whole file if it is shorter.
func readUpTo(path string, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return data[:n], err
}
