package leak

import (
	"bytes"
	"slices"
)

// window returns the number of bytes in which a secret is looked for across two reads: as it is, or
// with as many line breaks in it as it has characters, each of two.
func (s *Secrets) window() int { return 3 * s.longest }

// breakAt returns the length of the line break at the beginning of b: CR, LF, or one of them as
// JSON writes it; 0 for none.
func breakAt(b []byte) int {
	switch {
	case b[0] == '\n' || b[0] == '\r':
		return 1
	case b[0] == '\\' && len(b) > 1 && (b[1] == 'n' || b[1] == 'r'):
		return 2
	}
	return 0
}

// flatten returns b without line breaks; b itself if it has none.
func flatten(b []byte) []byte {
	if !bytes.ContainsAny(b, "\n\r\\") {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if n := breakAt(b[i:]); n > 0 {
			i += n
			continue
		}
		out = append(out, b[i])
		i++
	}
	return out
}

// positions returns where in b each byte of flatten(b) stands.
func positions(b []byte) []int {
	var out []int
	for i := 0; i < len(b); {
		if n := breakAt(b[i:]); n > 0 {
			i += n
			continue
		}
		out = append(out, i)
		i++
	}
	return out
}

// each calls do with each needle in b and the positions of its bytes, until do returns false. do
// may overwrite those bytes.
func (s *Secrets) each(b []byte, do func(n needle, at []int) bool) {
	for _, n := range s.needles {
		for from := 0; ; {
			i := bytes.Index(b[from:], n.text)
			if i < 0 {
				break
			}
			at := make([]int, len(n.text))
			for j := range at {
				at[j] = from + i + j
			}
			if !do(n, at) {
				return
			}
			from += i + len(n.text)
		}
	}
	flat := flatten(b)
	if len(flat) == len(b) {
		return
	}
	var where []int // made at the first hit
	for _, n := range s.needles {
		for from := 0; len(n.flat) > 0; {
			i := bytes.Index(flat[from:], n.flat)
			if i < 0 {
				break
			}
			if where == nil {
				where = positions(b)
			}
			if !do(n, where[from+i:from+i+len(n.flat)]) {
				return
			}
			from += i + len(n.flat)
		}
	}
}

// begun returns the length of the longest end of b with which a secret could begin.
func (s *Secrets) begun(b []byte) int {
	end := b[len(b)-min(len(b), s.window()-1):]
	longest := s.begins(end, func(n needle) []byte { return n.text })
	// A backslash at the end may be the first half of a line break.
	for _, whole := range [][]byte{end, bytes.TrimSuffix(end, []byte{'\\'})} {
		flat := flatten(whole)
		if n := s.begins(flat, func(n needle) []byte { return n.flat }); n > 0 {
			longest = max(longest, len(end)-positions(whole)[len(flat)-n])
		}
	}
	return longest
}

// begins returns the length of the longest end of b with which one of the texts begins.
func (s *Secrets) begins(b []byte, text func(needle) []byte) int {
	for n := min(len(b), s.longest-1); n > 0; n-- {
		end := b[len(b)-n:]
		if slices.ContainsFunc(s.needles, func(one needle) bool { return len(text(one)) > n && bytes.HasPrefix(text(one), end) }) {
			return n
		}
	}
	return 0
}
