package visible

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestWordsOfStrangers(t *testing.T) {
	name := "\x1b]0;T\x07\x1b[2J\r\u009b31m\u202e\u2066\x7f\u2028a\nb\tc\xff ÄÖ 日本 👩\u200d💻 \\x1b"
	line := `\x1b]0;T\x07\x1b[2J\x0d\u009b31m\u202e\u2066\x7f\u2028a\nb\tc\xff ÄÖ 日本 👩` + "\u200d" + `💻 \x1b`
	if got := Line(name); got != line {
		t.Errorf("Line\n got %q\nwant %q", got, line)
	}
	if got, want := Text(name), strings.NewReplacer(`a\nb\tc`, "a\nb\tc").Replace(line); got != want {
		t.Errorf("Text\n got %q\nwant %q", got, want)
	}
}

// Whatever is written, in whatever pieces, nothing that drives a terminal comes
// out, and it is the same as in one piece.
func TestPiecesAreWrittenLikeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\x1b\xc2\x9b\xe2\x80\xae")))).Draw(t, "whole")
		var out bytes.Buffer
		w := NewWriter(&out)
		for rest := whole; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("Write gave %d, %v for %d bytes", wrote, err, n)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), Text(string(whole)); got != want {
			t.Fatalf("%q became %q, want %q", whole, got, want)
		}
		for _, r := range out.String() {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q let %q through", whole, r)
			}
		}
	})
}

func TestJSONKeepsItsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.String().Draw(t, "said") + "\u009b\u202e\x7f"
		var out bytes.Buffer
		w := NewJSONWriter(&out)
		if err := stdjson.NewEncoder(w).Encode(said); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := stdjson.Unmarshal(out.Bytes(), &back); err != nil || back != said {
			t.Fatalf("%q came back as %q: %v", said, back, err)
		}
		if strings.ContainsAny(out.String(), "\u009b\u202e\x7f") {
			t.Fatalf("%q", out.String())
		}
	})
}
