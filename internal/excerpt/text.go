package excerpt

import "strings"

// Text returns bytes as text for display, with invalid and zero bytes replaced.
func Text(b []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}

// FirstLine returns the first line of s, cut to max characters.
func FirstLine(s string, max int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return FirstRunes(strings.TrimSpace(s), max)
}

// FirstRunes returns at most max characters of a text, the last one "…" if there are more.
func FirstRunes(s string, max int) string {
	r := []rune(s)
	if len(r) > max {
		return strings.TrimSpace(string(r[:max-1])) + "…"
	}
	return string(r)
}
