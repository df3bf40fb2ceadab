package leak

import (
	"bytes"
	"slices"
)

// span is a part of a text: the bytes from one offset up to another.
type span struct{ from, to int }

// window returns the number of bytes in which a secret is looked for across two reads: with each
// character escaped, and a line break of two bytes behind it.
func (s *Secrets) window() int { return (longestEscape + 2) * s.longest }

// marks are the bytes that plain looks at.
const marks = "\n\r\\%&"

// plain returns b without line breaks, and with what escapes stand for; b itself if it has none.
func plain(b []byte) []byte {
	first := bytes.IndexAny(b, marks)
	if first < 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)), b[:first]...)
	for i := first; i < len(b); {
		c, n := next(b[i:])
		if c != '\n' && c != '\r' {
			out = append(out, c)
		}
		i += n
	}
	return out
}

// next returns the first character of b, which may be escaped, and its length.
func next(b []byte) (c byte, n int) {
	if c = b[0]; c == '%' || c == '\\' || c == '&' {
		if c, n, _ := unescape(b); n > 0 {
			return c, n
		}
	}
	return c, 1
}

// positions returns where in b each byte of plain(b) stands.
func positions(b []byte) []span {
	var out []span
	for i := 0; i < len(b); {
		c, n := next(b[i:])
		if c != '\n' && c != '\r' {
			out = append(out, span{i, i + n})
		}
		i += n
	}
	return out
}

// each calls do with each needle in b and the parts of b that its bytes are, until do returns false.
// do may overwrite those parts.
func (s *Secrets) each(b []byte, do func(n needle, at []span) bool) {
	for _, n := range s.needles {
		for from := 0; ; {
			i := bytes.Index(b[from:], n.text)
			if i < 0 {
				break
			}
			if !do(n, []span{{from + i, from + i + len(n.text)}}) {
				return
			}
			from += i + len(n.text)
		}
	}
	read := plain(b)
	if len(read) == len(b) {
		return
	}
	var where []span // made at the first hit
	for _, n := range s.needles {
		for _, text := range n.texts() {
			for from := 0; ; {
				i := bytes.Index(read[from:], text)
				if i < 0 {
					break
				}
				if where == nil {
					where = positions(b)
				}
				if !do(n, where[from+i:from+i+len(text)]) {
					return
				}
				from += i + len(text)
			}
		}
	}
}

// begun returns the length of the longest end of b with which a secret could begin.
func (s *Secrets) begun(b []byte) int {
	end := b[len(b)-min(len(b), s.window()-1):]
	longest := max(s.begins(end, nil), s.begunIn(end, nil))
	if cut := begunEscape(end); cut < len(end) {
		longest = max(longest, s.begunIn(end[:cut], end[cut:]))
	}
	return longest
}

// begunIn returns the length of the longest end of b, without line breaks and escapes, with which a
// secret begins, and of the beginning of an escape behind b; 0 if none begins.
func (s *Secrets) begunIn(b, escape []byte) int {
	n := s.begins(plain(b), escape)
	switch {
	case n < 0:
		return 0
	case n == 0:
		return len(escape)
	}
	where := positions(b)
	return len(b) - where[len(where)-n].from + len(escape)
}

// begunEscape returns where the beginning of an escape stands with which b ends; len(b) for none.
func begunEscape(b []byte) int {
	if !bytes.ContainsAny(b[max(0, len(b)-longestEscape):], marks) {
		return len(b)
	}
	for i := 0; i < len(b); {
		_, n, more := unescape(b[i:])
		if more {
			return i
		}
		i += max(n, 1)
	}
	return len(b)
}

// begins returns the length of the longest end of b with which a secret begins that goes on; -1 for
// none. With the beginning of an escape behind b the secret goes on with that, so that an end of no
// bytes counts too.
func (s *Secrets) begins(b, escape []byte) int {
	least := 1
	if len(escape) > 0 {
		least = 0
	}
	for n := min(len(b), s.longest-1); n >= least; n-- {
		end := b[len(b)-n:]
		goesOn := func(text []byte) bool {
			return len(text) > n && bytes.HasPrefix(text, end) && (len(escape) == 0 || canBecome(escape, text[n]) || n > 0 && canBecome(escape, '\n'))
		}
		if slices.ContainsFunc(s.needles, func(one needle) bool { return goesOn(one.text) || goesOn(one.flat) }) {
			return n
		}
	}
	return -1
}
