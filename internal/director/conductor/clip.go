package conductor

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

// clipHead returns the first limit bytes, whole characters, and appends the number of
// bytes left out.
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

// clipTail returns the last limit bytes, whole characters, and prepends the number of
// bytes left out.
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

// clipRunes returns at most limit characters of s, the last one an ellipsis if it was
// longer.
func clipRunes(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// sentence appends a full stop to a text without a final punctuation mark.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// plain returns an error's message for a person or a model, without the operation.
func plain(err error) string {
	var e *choir.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	c := *e
	c.Op = ""
	return c.Error()
}
