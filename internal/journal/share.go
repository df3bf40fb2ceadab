package journal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Part is the beginning of a segment file up to the end of a record. Its bytes never
// change, unless a repair replaces the file.
type Part struct {
	Name        string // of the file
	First, Last uint64 // events
	Size        int64  // bytes, of the file or a part of it
	path        string
	closed      bool        // another segment follows: the file ends with Last
	file        os.FileInfo // tells whether a repair has replaced the file
}

// Open opens the part for reading; the caller closes it. Code busy: a repair replaced
// the file since the part was made.
func (p Part) Open() (io.ReadCloser, error) {
	f, err := os.Open(p.path)
	if err != nil {
		return nil, wrapErr("journal.part", err, p.path)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(opened, p.file) {
		err = choir.Refuse("journal.part", choir.ReasonLogPartRepaired, choir.TextOf("name", p.Name))
	}
	if err != nil {
		f.Close() // nothing was read
		return nil, wrapErr("journal.part", err, p.path)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, 0, p.Size), f}, nil
}

// Parts returns the segment files, or beginnings of them, that contain the events up to
// seq, in order. The caller runs no Repair meanwhile. Code not_found: there is no event
// seq. Code corrupt: the log is damaged.
func (j *Journal) Parts(seq uint64) ([]Part, error) {
	j.mu.Lock()
	segments, head, damage := append([]segment(nil), j.segments...), j.head.Seq, j.damage
	j.mu.Unlock()
	if seq == 0 || seq > head {
		return nil, choir.Refuse("journal.parts", choir.ReasonNoEventYet, choir.TextOf("event", seq), choir.TextOf("head", head))
	}
	if len(damage) > 0 {
		return nil, choir.Refuse("journal.parts", choir.ReasonJournalDamagedPart, choir.TextOf("why", damage[0]))
	}
	var out []Part
	for i, s := range segments {
		if s.first > seq {
			break
		}
		p := Part{Name: filepath.Base(s.path), First: s.first, Last: head, Size: s.size, path: s.path}
		if p.closed = i+1 < len(segments); p.closed {
			p.Last = segments[i+1].first - 1
		}
		var err error
		if p.Last > seq {
			if p.Size, err = endOffset(s, seq); err != nil {
				return nil, err
			}
			p.Last, p.closed = seq, false
		}
		if p.file, err = os.Stat(s.path); err != nil {
			return nil, wrapErr("journal.parts", err, s.path)
		}
		out = append(out, p)
	}
	return out, nil
}

// endOffset returns the offset in a segment's file at which the record of event seq
// ends.
func endOffset(s segment, seq uint64) (int64, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return 0, wrapErr("journal.parts", err, s.path)
	}
	defer f.Close()
	r := buffers.Get().(*bufio.Reader)
	defer buffers.Put(r)
	r.Reset(io.NewSectionReader(f, segmentHeader, s.size-segmentHeader))
	end := int64(segmentHeader)
	for at := s.first; at <= seq; at++ {
		fr, err := nextFrame(r)
		if err != nil || fr.seq != at {
			return 0, choir.Refuse("journal.parts", choir.ReasonEventDamaged, choir.TextOf("event", at), choir.TextOf("path", s.path))
		}
		end += int64(fr.size)
		if _, err := r.Discard(fr.size); err != nil {
			return 0, wrapErr("journal.parts", err, s.path)
		}
	}
	return end, nil
}

// Share creates a journal folder with the events up to seq, byte for byte. Closed
// segments become hard links, which is safe because a closed segment is never written
// to, only replaced. The last segment is copied, as are all if dir is on another file
// system. The caller runs no Repair meanwhile.
func (j *Journal) Share(dir string, seq uint64) error {
	parts, err := j.Parts(seq)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return wrapErr("journal.share", err, dir)
	}
	for i, p := range parts {
		if err := p.share(dir, i+1 < len(parts)); err != nil {
			return wrapErr("journal.share", err, dir)
		}
	}
	return wrapErr("journal.share", writeMark(dir, seq), dir)
}

func (p Part) share(dir string, link bool) error {
	path := filepath.Join(dir, p.Name)
	if link && p.closed {
		err := os.Link(p.path, path)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EXDEV) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EMLINK) && !errors.Is(err, unix.ENOTSUP) {
			return err
		}
	}
	r, err := p.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return files.Write(path, content)
}

// ownCopy replaces a file that has several hard links by a copy, so that a write to it
// does not change the other links.
func ownCopy(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Nlink == 1 {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return files.Write(path, content)
}

// Inspect scans the bytes of a closed segment and returns the first damage, or nil if
// every record is whole.
func Inspect(name string, content []byte) *Damage {
	first, err := strconv.ParseUint(strings.TrimSuffix(name, segmentSuffix), 10, 64)
	if err != nil {
		return nil
	}
	prev, _ := parseSegmentHeader(content, first)
	s := segment{path: name, first: first, prev: prev, size: int64(len(content))}
	found := scanSegment(content, first, prev)
	last := found.last(first)
	if found.rest {
		last++ // a record began there
	}
	all := found.closedDamage(s, last)
	if prev == "" {
		all = append([]Damage{{FromSeq: first, ToSeq: first - 1, Kind: KindHeader, File: name}}, all...)
	}
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// WriteSegment writes the bytes of a segment file durably into a journal's folder. Open
// checks them later.
func WriteSegment(dir, name string, content []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return wrapErr("journal.segment", err, dir)
	}
	return wrapErr("journal.segment", files.Write(filepath.Join(dir, name), content), name)
}
