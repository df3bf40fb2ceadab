// Package leak finds secrets where they must not be, and strips them from streams: as they are, in
// base64 in each of its alignments and in hexadecimal; and each of these also where any of its
// characters are percent-encoded or escaped as in JSON, HTML and programs, once, and where line
// breaks stand in between.
package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
)

// Shortest is the length in bytes of the shortest secret that is looked for: a shorter one
// stands in any text by chance.
const Shortest = 8

// Form says how a secret is written.
type Form string

// The forms.
const (
	Raw     Form = "raw"
	Base64  Form = "base64"
	Hex     Form = "hex"
	Percent Form = "percent-encoded"
	Escaped Form = "escaped"
)

// needle is one text that gives a secret away.
type needle struct {
	name string
	form Form
	text []byte
	flat []byte // plain(text); nil if that is the same, or too little is left of it
}

// texts returns how a needle stands in a text that plain returned: its own escapes can have been read.
func (n needle) texts() [][]byte {
	if n.flat == nil {
		return [][]byte{n.text}
	}
	return [][]byte{n.text, n.flat}
}

// Secrets are the texts to look for. The zero value finds nothing.
type Secrets struct {
	needles []needle
	longest int
}

// New returns the forms of secrets, by their names. Secrets shorter than Shortest are left out.
func New(byName map[string]string) *Secrets {
	s := &Secrets{}
	for name, value := range byName {
		if len(value) < Shortest {
			continue
		}
		s.add(name, Raw, value)
		s.add(name, Hex, hex.EncodeToString([]byte(value)))
		s.add(name, Hex, strings.ToUpper(hex.EncodeToString([]byte(value))))
		for offset := range 3 {
			s.add(name, Base64, alignedBase64(base64.RawStdEncoding, value, offset))
			s.add(name, Base64, alignedBase64(base64.RawURLEncoding, value, offset))
		}
	}
	// The longest first: a raw text can be a part of another one.
	slices.SortFunc(s.needles, func(a, b needle) int { return len(b.text) - len(a.text) })
	return s
}

func (s *Secrets) add(name string, form Form, text string) {
	if slices.ContainsFunc(s.needles, func(n needle) bool { return n.name == name && string(n.text) == text }) {
		return
	}
	n := needle{name: name, form: form, text: []byte(text)}
	if flat := plain(n.text); len(flat) >= Shortest && len(flat) < len(text) {
		n.flat = flat
	}
	s.needles = append(s.needles, n)
	s.longest = max(s.longest, len(text))
}

// formAt returns the form of a needle in the parts of b at which it was found.
func (n needle) formAt(b []byte, at []span) Form {
	if n.form != Raw {
		return n.form
	}
	for _, one := range at {
		if one.to-one.from > 1 && len(at) > 1 {
			if b[one.from] == '%' {
				return Percent
			}
			return Escaped
		}
	}
	return Raw
}

// alignedBase64 returns the characters that base64 of any text with value at an offset modulo 3
// has for certain.
func alignedBase64(enc *base64.Encoding, value string, offset int) string {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", offset) + value))
	first := (offset*8 + 5) / 6 // characters that have bits of what stands before
	last := (offset + len(value)) * 8 / 6
	return text[first:last]
}

// Hit is a secret that was found.
type Hit struct {
	Name   string // of the secret
	Form   Form
	Offset int64 // of its first byte
}

// firstChunk is how much is read at first, and chunk how much at most at a time.
const firstChunk, chunk = 4 << 10, 256 << 10

// Find returns the first hit of each secret and form in a stream.
func (s *Secrets) Find(r io.Reader) ([]Hit, error) {
	if len(s.needles) == 0 {
		_, err := io.Copy(io.Discard, r)
		return nil, err
	}
	var hits []Hit
	var buf []byte
	base := int64(0) // offset of buf in the stream
	for size := firstChunk; ; size = min(2*size, chunk) {
		buf = slices.Grow(buf, size)
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+size])
		buf = buf[:len(buf)+n]
		s.each(buf, func(one needle, at []span) bool {
			form := one.formAt(buf, at)
			if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Name == one.name && h.Form == form }) {
				hits = append(hits, Hit{one.name, form, base + int64(at[0].from)})
			}
			return true
		})
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return hits, nil
		}
		if err != nil {
			return hits, err
		}
		keep := min(len(buf), s.window()-1)
		base += int64(len(buf) - keep)
		buf = append(buf[:0], buf[len(buf)-keep:]...)
	}
}

// In reports whether a text has one of the secrets.
func (s *Secrets) In(text string) bool {
	found := false
	s.each([]byte(text), func(needle, []span) bool { found = true; return false })
	return found
}

// InAnyCase reports whether a text has one of the secrets, with letters in any case, as the name
// of a header has.
func (s *Secrets) InAnyCase(text string) bool {
	lower := bytes.ToLower([]byte(text))
	return slices.ContainsFunc(s.needles, func(n needle) bool { return bytes.Contains(lower, bytes.ToLower(n.text)) })
}

// Strip overwrites the secrets in b with asterisks, and leaves the line breaks in them.
func (s *Secrets) Strip(b []byte) {
	s.each(b, func(_ needle, at []span) bool {
		for _, one := range at {
			for i := one.from; i < one.to; i++ {
				b[i] = '*'
			}
		}
		return true
	})
}

// Reader returns a stream without the secrets: each is overwritten with asterisks, so that
// nothing changes its length. It holds back no more than what may be the beginning of one. A
// secret with more line breaks in it than other characters can get through.
func (s *Secrets) Reader(r io.Reader) io.Reader {
	if len(s.needles) == 0 {
		return r
	}
	return &stripped{secrets: s, in: r}
}

// stripped reads a stream without secrets.
type stripped struct {
	secrets *Secrets
	in      io.Reader
	buf     []byte
	more    [32 << 10]byte
	ready   int // bytes of buf that can be given
	err     error
}

func (r *stripped) Read(p []byte) (int, error) {
	for r.ready == 0 && r.err == nil {
		n, err := r.in.Read(r.more[:])
		r.buf, r.err = append(r.buf, r.more[:n]...), err
		r.secrets.Strip(r.buf)
		r.ready = len(r.buf)
		if err == nil {
			r.ready -= r.secrets.begun(r.buf)
		}
	}
	if r.ready == 0 {
		return 0, r.err
	}
	n := copy(p, r.buf[:r.ready])
	r.buf, r.ready = r.buf[n:], r.ready-n
	return n, nil
}
