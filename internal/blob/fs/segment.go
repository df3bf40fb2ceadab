package fs

import (
	"os"

	"golang.org/x/sys/unix"

	"choiros/internal/fault"
)

const (
	// segmentBytes and segmentRecords are what a file of the log holds at most.
	segmentBytes   = 2 << 20
	segmentRecords = 1000
)

// segment is one file of the write-ahead log, reused from its beginning. It is filled
// with zeros in advance: fdatasync of a file whose length and blocks do not change
// needs no file system transaction.
type segment struct {
	file *os.File // nil of what could not be put right at Open
	size int64    // of the file
	end  int64    // behind the last record
	next uint64   // number of the next record, never used again
	held []record // what is in it
	buf  []byte
}

// createSegment creates a segment file; the caller syncs the folder. On a full disk the
// segment has no room for records.
func createSegment(path string) (*segment, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	s := &segment{file: f, size: segmentBytes, next: 1}
	if err = writeZeros(f); err != nil {
		s.size = 0
		err = f.Truncate(0)
	}
	if err == nil {
		fault.Point("blob.wal.create")
		err = f.Sync()
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// zeros are written to new segments, one after the other.
var zeros [64 << 10]byte

// writeZeros fills a new segment with zeros.
func writeZeros(f *os.File) error {
	for range segmentBytes / len(zeros) {
		if _, err := f.Write(zeros[:]); err != nil {
			return err
		}
	}
	return nil
}

// discard removes a segment that was never used.
func (s *segment) discard() {
	s.file.Close()           // nothing is in it
	os.Remove(s.file.Name()) // what stays, the next Open removes
}

// fits reports whether records more records with bytes bytes in total fit into the
// segment.
func (s *segment) fits(records, bytes int) bool {
	return s.end+int64(bytes) <= s.size && len(s.held)+records <= segmentRecords
}

// write appends records durably. After an error the content of the segment is unknown.
func (s *segment) write(records []record) error {
	s.buf = s.buf[:0]
	for _, r := range records {
		s.buf = appendRecord(s.buf, s.next, r)
		s.next++
	}
	if _, err := s.file.WriteAt(s.buf, s.end); err != nil {
		return err
	}
	fault.Point("blob.wal.sync")
	if err := unix.Fdatasync(int(s.file.Fd())); err != nil {
		return err
	}
	fault.Point("blob.wal.synced")
	s.end += int64(len(s.buf))
	s.held = append(s.held, records...)
	return nil
}

// reset makes the segment empty again. Old records stay in the file after the new ones;
// their lower numbers tell them apart.
func (s *segment) reset() {
	s.end, s.held, s.buf = 0, nil, nil
}
