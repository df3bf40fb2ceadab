package api

import (
	"strings"
	"testing"
)

func TestWhatMayBeShown(t *testing.T) {
	for _, c := range []struct{ head, kind string }{
		{"plain", "text/plain; charset=utf-8"},
		{"", "text/plain; charset=utf-8"},
		{"<!doctype html><script>", "text/plain; charset=utf-8"},
		{`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml"},
		{"<svg/>", "image/svg+xml"},
		{"<html><svg/>", "text/plain; charset=utf-8"},
		{"\x89PNG\r\n\x1a\n\x00", "image/png"},
		{"%PDF-1.7\n", "application/pdf"},
		{"\x00\x00\x00\x20ftypavif", "image/avif"},
		{"\x00\x00\x00\x20ftypM4A ", "audio/mp4"},
		{"fLaC\x00", "audio/flac"},
		{"OggS\x00\x02", "audio/ogg"},
		{"\x1a\x45\xdf\xa3\x00", "video/webm"},
		{"PK\x03\x04\x00", ""},
		{"\x7fELF\x00", ""},
		{"\xff\xfe\x00", ""},
		{"latin \xe4", ""},
		{strings.Repeat("a", 511) + "\xc3", "text/plain; charset=utf-8"}, // half a character
	} {
		if got := kindOf([]byte(c.head), len(c.head) < sniffed); got != c.kind {
			t.Errorf("%.20q: %q, want %q", c.head, got, c.kind)
		}
	}
}
