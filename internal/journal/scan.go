package journal

import (
	"bytes"
	"encoding/binary"

	"choiros/internal/choir"
)

// scan holds the records and gaps found in a segment's bytes.
type scan struct {
	frames   []placed // whole records, ascending
	gaps     []gap
	stray    placed       // the last record, when it does not follow and nothing confirms it
	until    uint64       // last event of a closed segment, when meet was told
	after    choir.Digest // what the next segment begins with, when meet was told
	end      int          // offset behind the last whole record
	behind   int          // bytes behind end
	rest     bool         // some of them are not zero
	promised uint64       // the records say that everything up to here was durable
}

type placed struct {
	at int
	frame
}

// gap returns a chain gap that covers exactly this record.
func (p placed) gap() gap { return gap{p.seq, p.seq, p.at, p.at + p.size, KindChain} }

// gap is a run of records that should be there and are not whole.
type gap struct {
	from, to uint64
	at, end  int
	kind     string
}

// scanSegment finds all whole records in a segment's bytes, and the gaps between them.
// After damage it continues at the next whole record. It does not judge bytes after the
// last whole record; tornAt does.
func scanSegment(data []byte, first uint64, prev choir.Digest) scan {
	s := scan{end: min(segmentHeader, len(data))}
	want, at := first, s.end
	for {
		f, ok := parseFrame(data[at:])
		kind := KindRecord
		if ok && f.seq == want && f.hashHolds() {
			if prev == "" || follows(f.event, prev) {
				s.addFrame(at, f)
				prev, want, at = f.digest(), want+1, s.end
				continue
			}
			if kind = KindChain; confirmedByNext(data, at, f) {
				s.rejectPrevious(first)
				prev = ""
				continue
			}
		}
		from := at + 1
		if ok && f.seq > want {
			from = at // the records before it are not here at all
		}
		next, found := resync(data, from, want)
		if !found {
			if kind == KindChain {
				s.stray = placed{at, f}
				s.gaps = append(s.gaps, s.stray.gap())
				s.end = at + f.size
			}
			s.behind, s.rest = len(data)-s.end, !allZero(data[s.end:])
			return s
		}
		if next.seq > want {
			s.gaps = append(s.gaps, gap{want, next.seq - 1, at, next.at, kind})
		} else {
			// All records are whole; what lies between them is not.
			s.gaps = append(s.gaps, gap{want, want - 1, at, next.at, KindRecord})
		}
		want, at, prev = next.seq, next.at, ""
	}
}

// rejectPrevious reports a gap for the last record found, because a confirmed record
// after it names another hash. Without a record the gap covers the segment's header.
func (s *scan) rejectPrevious(first uint64) {
	if len(s.frames) > 0 {
		s.dropLast()
		return
	}
	s.gaps = append(s.gaps, gap{from: first, to: first - 1, end: segmentHeader, kind: KindHeader})
}

// addFrame appends a whole record to the frames of the scan.
func (s *scan) addFrame(at int, f frame) {
	s.frames = append(s.frames, placed{at, f})
	s.end = at + f.size
	s.promised = max(s.promised, f.synced)
}

// resync finds the next whole record at or behind from with a sequence number of at
// least want.
func resync(data []byte, from int, want uint64) (placed, bool) {
	for from < len(data) {
		i := bytes.Index(data[from:], []byte(recordMagic))
		if i < 0 {
			break
		}
		from += i
		if f, ok := parseFrame(data[from:]); ok && f.seq >= want && f.hashHolds() {
			return placed{from, f}, true
		}
		from++
	}
	return placed{}, false
}

const sector = 512

// tornAt reports whether the bytes at an offset look like a write that a power cut
// interrupted: the file ends early, or a whole sector of the record is still zero. A
// complete record with a wrong checksum is damage instead. No sector of a record is all
// zeros when written: each holds the magic, JSON or a part of a hash.
func tornAt(data []byte, at int) bool {
	size := recordHeader
	if at+8 <= len(data) && string(data[at:at+4]) == recordMagic {
		size = recordHeader + int(binary.LittleEndian.Uint32(data[at+4:])) + hashBytes
	}
	if size > recordHeader+hashBytes+choir.MaxEventBytes {
		return false
	}
	if at+size > len(data) {
		return true
	}
	for from := at; from < at+size; {
		to := min((from/sector+1)*sector, at+size)
		if allZero(data[from:to]) {
			return true
		}
		from = to
	}
	return false
}

var zeros [64 << 10]byte

func allZero(b []byte) bool {
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}
