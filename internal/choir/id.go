package choir

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// ID is a UUID in its lower-case text form. Identifiers that the system makes
// are version 7 (RFC 9562), so they sort by the time they were made.
type ID string

// NewID returns a UUIDv7 made of a time and 10 bytes read from random. Both are
// parameters so that a replay gives the same id.
func NewID(now Time, random io.Reader) (ID, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", fmt.Errorf("read randomness for an id: %w", err)
	}
	return stampID(b, now), nil
}

// DeriveID returns a UUIDv7 that depends only on a base id and the parts: it has the
// base's time, and a SHA-256 of base and parts in place of the random bits. An effect
// that is repeated after a crash thus has the same id as before.
func DeriveID(base ID, parts ...string) ID {
	h := sha256.New()
	io.WriteString(h, string(base))
	for _, p := range parts {
		h.Write([]byte{0})
		io.WriteString(h, p)
	}
	var b [16]byte
	copy(b[6:], h.Sum(nil))
	return stampID(b, base.Time())
}

func stampID(b [16]byte, at Time) ID {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return ID(out[:])
}

// Valid reports whether the id is a UUID in lower-case text form.
func (id ID) Valid() bool {
	if len(id) != 36 {
		return false
	}
	return id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' &&
		lowerHex(string(id[:8])) && lowerHex(string(id[9:13])) && lowerHex(string(id[14:18])) && lowerHex(string(id[19:23])) && lowerHex(string(id[24:]))
}

// lowerHex reports whether s consists of lower-case hexadecimal digits. It checks eight
// bytes at a time, each in a lane of a 64-bit word: adding 0x80-c to a byte below 0x80
// sets its high bit if the byte is at least c.
func lowerHex(s string) bool {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		low := x &^ high
		digit := (low + (0x80-'0')*ones) &^ (low + (0x80-'9'-1)*ones)
		letter := (low + (0x80-'a')*ones) &^ (low + (0x80-'f'-1)*ones)
		if (digit|letter)&^x&high != high {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ValidV7 reports whether the id is a UUID of version 7 (RFC 9562) in lower-case
// text form.
func (id ID) ValidV7() bool {
	if !id.Valid() || id[14] != '7' {
		return false
	}
	v := id[19]
	return v == '8' || v == '9' || v == 'a' || v == 'b'
}

// Time returns the time in the first 48 bits of a UUIDv7; zero for an invalid id.
func (id ID) Time() Time {
	if !id.Valid() {
		return 0
	}
	var b [8]byte
	if _, err := hex.Decode(b[2:], []byte(id[:8]+id[9:13])); err != nil {
		return 0
	}
	return Time(binary.BigEndian.Uint64(b[:]))
}

// Digest is a SHA-256 in lower-case hexadecimal: the name of some content.
type Digest string

// DigestOf returns the SHA-256 of content.
func DigestOf(content []byte) Digest {
	sum := sha256.Sum256(content)
	return Digest(hex.EncodeToString(sum[:]))
}

// DigestFrom returns the Digest for 32 raw bytes of a SHA-256.
func DigestFrom(sum [32]byte) Digest { return Digest(hex.EncodeToString(sum[:])) }

// Bytes returns the 32 raw bytes of the digest; ok is false if the digest is malformed.
func (d Digest) Bytes() (sum [32]byte, ok bool) {
	if !d.Valid() {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(d))
	return sum, err == nil
}

// Valid reports whether the digest is 64 lower-case hexadecimal digits.
func (d Digest) Valid() bool {
	return len(d) == 64 && lowerHex(string(d))
}
