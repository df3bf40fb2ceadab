package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Record is one event of the chain: its sequence number, its canonical JSON as
// choir.SealEvent makes it, and the hash that stands in there.
type Record struct {
	Seq   uint64
	Event []byte
	Hash  choir.Digest
	// Value is handed on to Config.Committed and not stored.
	Value any
}

const (
	recordMagic  = "CJR1"
	recordHeader = 28
	hashBytes    = sha256.Size
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a record as stored in a segment.
type frame struct {
	seq    uint64
	synced uint64 // every record up to here was durable before this was written
	event  []byte // a part of the segment's bytes
	hash   []byte // 32 bytes, a part of the segment's bytes
	size   int
}

// appendFrame writes a record as docs/FORMAT.md lays it out.
func appendFrame(buf []byte, synced uint64, r Record) []byte {
	start := len(buf)
	buf = append(buf, recordMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(r.Event)))
	buf = binary.LittleEndian.AppendUint64(buf, r.Seq)
	buf = binary.LittleEndian.AppendUint64(buf, synced)
	buf = append(buf, 0, 0, 0, 0)
	buf = append(buf, r.Event...)
	sum, _ := r.Hash.Bytes()
	buf = append(buf, sum[:]...)
	binary.LittleEndian.PutUint32(buf[start+24:], checksum(buf[start:]))
	return buf
}

// checksum returns the CRC-32C of a record: its header up to the checksum field, its
// event and its hash.
func checksum(raw []byte) uint32 {
	return crc32.Update(crc32.Checksum(raw[:24], castagnoli), castagnoli, raw[recordHeader:])
}

// parseFrame reads the record at the beginning of raw. It checks the checksum
// but not the hash.
func parseFrame(raw []byte) (frame, bool) {
	if len(raw) < recordHeader || string(raw[:4]) != recordMagic {
		return frame{}, false
	}
	n := int(binary.LittleEndian.Uint32(raw[4:]))
	if n > choir.MaxEventBytes || recordHeader+n+hashBytes > len(raw) {
		return frame{}, false
	}
	raw = raw[:recordHeader+n+hashBytes]
	if binary.LittleEndian.Uint32(raw[24:]) != checksum(raw) {
		return frame{}, false
	}
	return frame{
		seq:    binary.LittleEndian.Uint64(raw[8:]),
		synced: binary.LittleEndian.Uint64(raw[16:]),
		event:  raw[recordHeader : recordHeader+n],
		hash:   raw[recordHeader+n:],
		size:   len(raw),
	}, true
}

// hashHolds reports whether the record's hash is the SHA-256 of its event.
func (f frame) hashHolds() bool {
	if fault.NoChain {
		return true
	}
	sum, ok := hashOf(f.event)
	return ok && bytes.Equal(sum[:], f.hash)
}

var hashKey = []byte(`,"hash":"`)

// hashOf returns the SHA-256 of an event's JSON without its hash member. Only
// identifiers precede that member in canonical JSON, so the first occurrence of its key
// is the right one.
func hashOf(event []byte) ([hashBytes]byte, bool) {
	at := bytes.Index(event, hashKey)
	behind := at + len(hashKey) + 2*hashBytes + len(`"`)
	if at < 0 || behind > len(event) {
		return [hashBytes]byte{}, false
	}
	var buf [1024]byte
	return sha256.Sum256(append(append(buf[:0], event[:at]...), event[behind:]...)), true
}

func (f frame) digest() choir.Digest { return choir.DigestFrom([32]byte(f.hash)) }

var prevKey = []byte(`"prev_hash":"`)

// PrevHash returns the hash of the preceding event that an event's JSON names in
// prev_hash. Only short members without free text follow prev_hash in canonical JSON,
// so the last occurrence of the key is the right one. ok is false if there is no valid
// hash.
func PrevHash(event []byte) (choir.Digest, bool) {
	at := bytes.LastIndex(event, prevKey) + len(prevKey)
	if at < len(prevKey) || at+64 > len(event) {
		return "", false
	}
	d := choir.Digest(event[at : at+64])
	return d, d.Valid()
}

// follows reports whether the event names prev as the hash of the event before it.
func follows(event []byte, prev choir.Digest) bool {
	if fault.NoChain {
		return true
	}
	at := bytes.LastIndex(event, prevKey) + len(prevKey)
	return at >= len(prevKey) && at+64 <= len(event) && string(event[at:at+64]) == string(prev)
}

// frameLength returns the total size in bytes of the record whose header is head.
func frameLength(head []byte) int {
	return recordHeader + int(binary.LittleEndian.Uint32(head[4:])) + hashBytes
}
