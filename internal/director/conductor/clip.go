package conductor

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

// clipHead keeps the first limit bytes, whole characters, and says how many it
// left out.
func clipHead(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + fmt.Sprintf("\n[%d bytes left out]", len(s)-end)
}

// clipTail keeps the last limit bytes, whole characters, and says how many it
// left out.
func clipTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	start := len(s) - limit
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return fmt.Sprintf("[%d bytes left out]\n", start) + s[start:]
}

// clipRunes keeps at most limit characters.
func clipRunes(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// sentence ends a text with a full stop unless something else ends it.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// plain is an error in words for a person or a model, without the operation.
func plain(err error) string {
	var e *choir.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	c := *e
	c.Op = ""
	return c.Error()
}
