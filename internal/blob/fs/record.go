package fs

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"choiros/internal/choir"
)

const (
	recordMagic  = "CBR1"
	recordHeader = 52
	// maxRecord is how long content in the log can be: above it writing twice
	// costs more than the syncs it saves.
	maxRecord = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is one blob in the write-ahead log.
type record struct {
	digest  choir.Digest
	content []byte
}

// appendRecord writes a record as docs/FORMAT.md lays it out.
func appendRecord(buf []byte, number uint64, r record) []byte {
	start := len(buf)
	sum, _ := r.digest.Bytes()
	buf = append(buf, recordMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(r.content)))
	buf = binary.LittleEndian.AppendUint64(buf, number)
	buf = append(buf, sum[:]...)
	buf = binary.LittleEndian.AppendUint32(buf, checksum(buf[start:], r.content))
	return append(buf, r.content...)
}

func checksum(head, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:recordHeader-4], castagnoli), castagnoli, content)
}

// parseRecord reads the record at the beginning of raw; its content is a part of
// raw.
func parseRecord(raw []byte) (r record, number uint64, ok bool) {
	if len(raw) < recordHeader || string(raw[:len(recordMagic)]) != recordMagic {
		return r, 0, false
	}
	n := int(binary.LittleEndian.Uint32(raw[4:]))
	if n > maxRecord || recordHeader+n > len(raw) {
		return r, 0, false
	}
	r.content = raw[recordHeader : recordHeader+n]
	if binary.LittleEndian.Uint32(raw[recordHeader-4:]) != checksum(raw, r.content) {
		return r, 0, false
	}
	r.digest = choir.DigestFrom([32]byte(raw[16:48]))
	return r, binary.LittleEndian.Uint64(raw[8:]), choir.DigestOf(r.content) == r.digest
}

// scanRecords returns the whole records of a log file and skips torn or damaged ones.
// It ignores records with a lower number than the first one: they are left over from an
// earlier use of the file.
func scanRecords(raw []byte) []record {
	var out []record
	_, first, _ := parseRecord(raw)
	for at := 0; ; {
		next := bytes.Index(raw[at:], []byte(recordMagic))
		if next < 0 {
			return out
		}
		at += next
		r, number, ok := parseRecord(raw[at:])
		if !ok {
			at++
			continue
		}
		if number >= first {
			out = append(out, r)
		}
		at += recordHeader + len(r.content)
	}
}
