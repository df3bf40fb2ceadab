package snapshot

import (
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

const hexDigits = "0123456789ABCDEF"

// EscapePath returns a raw path as valid UTF-8: each byte that is not UTF-8 becomes %XX,
// and a percent sign %25. UnescapePath reverses it exactly.
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

// UnescapePath returns the raw path of an escaped one. A string that EscapePath cannot
// have written is code invalid, so each path has exactly one escaped form.
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

// join returns the escaped path of a raw name in the folder with escaped path dir; "" is
// the root.
func join(dir, name string) string {
	if esc := EscapePath([]byte(name)); dir != "" {
		return dir + "/" + esc
	} else {
		return esc
	}
}
