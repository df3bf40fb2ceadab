package excerpt_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/excerpt"
)

func TestLines(t *testing.T) {
	t.Parallel()
	three := "a\nb\x1b\nc"
	for _, c := range []struct {
		text        string
		from, count int
		want        string
		total       int
	}{
		{"", 0, 0, "", 0},
		{three, 0, 0, "1\ta\n2\tb\uFFFD\n3\tc\n", 3},
		{three, 2, 1, "2\tb\uFFFD\nlines 2 to 2 of 3\n", 3},
		{three, 3, 9, "3\tc\nlines 3 to 3 of 3\n", 3},
		{three, 4, 1, "", 3},
		{"\tx\r\n", 0, 0, "1\t\tx\n", 1},
		{strings.Repeat("é", 500), 0, 0, "1\t" + strings.Repeat("é", 400) + " […]\n", 1},
	} {
		if got, total := excerpt.Lines(c.text, c.from, c.count, 10_000); got != c.want || total != c.total {
			t.Errorf("%q from %d, %d lines: %q of %d", c.text, c.from, c.count, got, total)
		}
	}
}

// TestEveryLineIsReached reads a text from part to part, by the last line that each part
// names.
func TestEveryLineIsReached(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(rapid.StringMatching(`[a-zé]{0,600}`), 1, 40).Draw(rt, "lines")
		limit := rapid.IntRange(2_000, 6_000).Draw(rt, "limit")
		count := rapid.IntRange(1, 50).Draw(rt, "count")
		seen := 0
		for seen < len(all) {
			got, total := excerpt.Lines(strings.Join(all, "\n")+"\n", seen+1, count, limit)
			if total != len(all) || len(got) > limit {
				rt.Fatalf("%d lines, %d bytes", total, len(got))
			}
			before := seen
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "lines ") {
					continue
				}
				if want := excerpt.Line(all[seen]); strings.TrimRight(line[strings.IndexByte(line, 9)+1:], "\n") != want {
					rt.Fatalf("line %d is %q, not %q", seen+1, line, want)
				}
				seen++
			}
			if seen == before {
				rt.Fatalf("no line after %d", seen)
			}
		}
	})
}
