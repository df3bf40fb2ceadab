package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
)

// files writes segment headers, repaired segments and the mark file durably.
var files = durablefile.Files{
	BeforeSync:       func() { fault.Point("journal.file.sync") },
	BeforeRename:     func() { fault.Point("journal.file.rename") },
	BeforeFolderSync: func() { fault.Point("journal.folder.sync") },
}

const (
	segmentMagic  = "CHOIRJ01"
	segmentHeader = 52
	segmentSuffix = ".seg"
)

// segment is one file: a header, then records without gaps.
type segment struct {
	path  string
	first uint64
	prev  choir.Digest // hash before the first record; empty when the header is damaged
	size  int64        // bytes that hold the header and whole records
}

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))
}

func encodeSegmentHeader(first uint64, prev choir.Digest) []byte {
	sum, _ := prev.Bytes()
	buf := append(make([]byte, 0, segmentHeader), segmentMagic...)
	buf = binary.LittleEndian.AppendUint64(buf, first)
	buf = append(buf, sum[:]...)
	return binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
}

func parseSegmentHeader(raw []byte, first uint64) (choir.Digest, bool) {
	if len(raw) < segmentHeader || string(raw[:8]) != segmentMagic {
		return "", false
	}
	sound := binary.LittleEndian.Uint32(raw[48:]) == crc32.Checksum(raw[:48], castagnoli)
	if !sound || binary.LittleEndian.Uint64(raw[8:]) != first {
		return "", false
	}
	return choir.DigestFrom([32]byte(raw[16:48])), true
}

// listSegments lists the segments of a folder in their order and removes half-made
// files of a crash, unless only reading.
func listSegments(dir string, readOnly bool) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, e := range entries {
		name := e.Name()
		if halfMade(name) && !readOnly {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
		digits, ok := strings.CutSuffix(name, segmentSuffix)
		if !ok {
			continue
		}
		first, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || first == 0 {
			continue
		}
		out = append(out, segment{path: filepath.Join(dir, name), first: first})
	}
	return out, nil
}

// halfMade reports whether name is that of an unfinished temporary file that a crash
// left; earlier builds used the suffix .tmp.
func halfMade(name string) bool {
	return durablefile.Unfinished(name) || strings.HasSuffix(name, ".tmp")
}

// inspect reads the segment's size and prev into s. It returns the file's last 32
// bytes: in a closed segment the hash of its last record, which is the next segment's
// prev.
func (s *segment) inspect() (tail [32]byte, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return tail, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return tail, err
	}
	s.size = st.Size()
	var head [segmentHeader]byte
	if _, err := f.ReadAt(head[:], 0); err == nil {
		s.prev, _ = parseSegmentHeader(head[:], s.first)
	}
	if s.size >= segmentHeader+32 {
		_, err = f.ReadAt(tail[:], s.size-32)
	}
	return tail, err
}
