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

// Read calls fn for every durable event from a sequence number on, in order. The
// bytes are fn's only until it returns. Checksums are checked, hashes are not:
// that is for the caller, who may do it beside other work, or Verify. Code
// corrupt: a record is damaged; nothing behind it is read.
func (j *Journal) Read(from uint64, fn func(Record) error) error {
	return j.read(from, func(f frame) error { return fn(Record{Seq: f.seq, Event: f.event, Hash: f.digest()}) })
}

// ReadEvents is Read for a caller who takes the hash from the event itself.
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

// buffers are large and needed for a moment.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 2*choir.MaxEventBytes) }}

func readSegment(s segment, from, last uint64, fn func(frame) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return fail("journal.read", err, s.path)
	}
	defer f.Close()
	r := buffers.Get().(*bufio.Reader)
	defer buffers.Put(r)
	r.Reset(io.NewSectionReader(f, segmentHeader, s.size-segmentHeader))
	for seq := s.first; seq <= last; seq++ {
		fr, err := nextFrame(r)
		if err != nil || fr.seq != seq {
			return choir.E("journal.read", choir.CodeCorrupt, "event %d is damaged in %s", seq, s.path).
				WithRemedy("run `choir log --verify`")
		}
		if seq >= from {
			if err := fn(fr); err != nil {
				return err
			}
		}
		if _, err := r.Discard(fr.size); err != nil {
			return fail("journal.read", err, s.path)
		}
	}
	return nil
}

// nextFrame looks at the record the reader stands at without consuming it.
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

// Verify reads every segment whole and names all damage. It changes nothing and
// appends go on meanwhile. each, when given, gets every record that is whole, in
// order, also those behind damage; the bytes are its own only until it returns.
func (j *Journal) Verify(ctx context.Context, each func(Record) error) ([]Damage, error) {
	p := j.NewPass()
	for p.More() {
		if err := p.Next(ctx, each); err != nil {
			return nil, err
		}
	}
	return p.Damage(), nil
}

// Confirm reads the segments anew in which damage was found, and those before
// them, and names what is damaged there. It changes nothing.
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

// skip leaves the next segment out.
func (p *Pass) skip() { p.segments, p.prev = p.segments[1:], "" }

// Pass reads what the journal had when it was begun, a segment at a time. It is
// for one goroutine.
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

// Damage is what was found so far, with what the journal knew before.
func (p *Pass) Damage() []Damage { return p.damage }

// Span is the first and the last event of the segment that Next will read.
func (p *Pass) Span() (first, last uint64) {
	if len(p.segments) > 1 {
		return p.segments[0].first, p.segments[1].first - 1
	}
	return p.segments[0].first, p.head
}

// Next reads a segment; see Verify.
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
		after, err := p.segments[0].begins()
		if err != nil && !os.IsNotExist(err) { // a lost segment is the damage of its own turn
			return fail("journal.verify", err, p.segments[0].path)
		}
		found.meet(first, last, after)
	}
	p.damage = merge(p.damage, found.closedDamage(s, last))
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

// verifySegment scans what was durable when the segment was looked up.
func verifySegment(s segment, prev choir.Digest) (scan, error) {
	data, err := readUpTo(s.path, s.size)
	if err != nil && !os.IsNotExist(err) { // all of a lost segment is missing
		return scan{}, fail("journal.verify", err, s.path)
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

// readUpTo reads at most so many bytes of a file.
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
