// Package visible makes control characters of untrusted text visible, so that
// names, messages and output of guests cannot drive the owner's terminal.
package visible

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Line returns s on one line: control characters (C0, DEL, C1), line separators,
// bidirectional controls and bytes that are not UTF-8 become escapes such as
// \x1b, \n and \u202e. Everything else, backslashes too, stays as it is.
func Line(s string) string { return string(appendEscaped(nil, []byte(s), oneLine)) }

// Text returns s like Line, but keeps \n and \t.
func Text(s string) string { return string(appendEscaped(nil, []byte(s), text)) }

// Writer escapes what is written to it as Text does, or, with JSON, as escapes
// that keep a JSON document's meaning. It holds back an incomplete UTF-8
// sequence until the next Write. Many goroutines may write at once.
type Writer struct {
	to     io.Writer
	escape style

	mu      sync.Mutex // guards partial and the order of writes
	partial []byte
}

// NewWriter returns a Writer of text for people.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, escape: text} }

// NewJSONWriter returns a Writer of JSON documents. Only what lies in their
// strings can need an escape, and there \uXXXX means the character itself.
func NewJSONWriter(to io.Writer) *Writer { return &Writer{to: to, escape: json} }

// Write implements io.Writer; n counts bytes of b.
func (w *Writer) Write(b []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := append(w.partial, b...)
	cut := len(whole) - incomplete(whole)
	if _, err := w.to.Write(appendEscaped(nil, whole[:cut], w.escape)); err != nil {
		return 0, err
	}
	w.partial = bytes.Clone(whole[cut:])
	return len(b), nil
}

// Close writes an incomplete sequence that nothing followed. It does not close
// the writer below.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := appendEscaped(nil, w.partial, w.escape)
	w.partial = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := w.to.Write(rest)
	return err
}

// incomplete counts the bytes at the end of b that may begin a rune.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

type style int

const (
	text style = iota
	oneLine
	json
)

func appendEscaped(to, b []byte, as style) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			if as == json {
				to = append(to, "\ufffd"...)
			} else {
				to = fmt.Appendf(to, `\x%02x`, b[0])
			}
		case (r == '\n' || r == '\t') && as != oneLine:
			to = append(to, byte(r))
		case r == '\n':
			to = append(to, `\n`...)
		case r == '\t':
			to = append(to, `\t`...)
		case !drives(r):
			to = append(to, b[:size]...)
		case r < 0x80 && as != json:
			to = fmt.Appendf(to, `\x%02x`, r)
		default:
			to = fmt.Appendf(to, `\u%04x`, r) // all that drives lies in the first plane
		}
		b = b[size:]
	}
	return to
}

// drives reports whether a terminal may act on r instead of showing it.
func drives(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp)
}
