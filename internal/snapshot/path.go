package snapshot

import (
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

const hexDigits = "0123456789ABCDEF"

// EscapePath writes a raw path as valid UTF-8: bytes that are not UTF-8 become
// %XX, and a literal percent sign %25, so that UnescapePath gives the very
// bytes back.
func EscapePath(raw []byte) string {
	if utf8.Valid(raw) && !strings.Contains(string(raw), "%") {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == '%' || r == utf8.RuneError && n == 1 {
			b.Write([]byte{'%', hexDigits[raw[i]>>4], hexDigits[raw[i]&15]})
		} else {
			b.Write(raw[i : i+n])
		}
		i += n
	}
	return b.String()
}

// UnescapePath is the inverse of EscapePath. It refuses (code invalid) what
// EscapePath never writes, so that one path has one escaped form.
func UnescapePath(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return nil, choir.Invalid("path", "%q ends inside an escape", s)
		}
		high, low := strings.IndexByte(hexDigits, s[i+1]), strings.IndexByte(hexDigits, s[i+2])
		if high < 0 || low < 0 {
			return nil, choir.Invalid("path", "%q has an escape that is not %%XX in upper case", s)
		}
		out = append(out, byte(high<<4|low))
		i += 2
	}
	if EscapePath(out) != s {
		return nil, choir.Invalid("path", "%q is not how this path is escaped", s)
	}
	return out, nil
}

// join appends a name to an escaped path; the root's path is empty.
func join(dir, name string) string {
	if esc := EscapePath([]byte(name)); dir != "" {
		return dir + "/" + esc
	} else {
		return esc
	}
}
