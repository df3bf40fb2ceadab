package spelling

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheNearestWordIsTheOneThatWasMeant(t *testing.T) {
	t.Parallel()
	known := []string{"follow", "verify", "after", "json"}
	for word, want := range map[string]string{
		"follow": "follow", "folow": "follow", "verfiy": "verify", "aftre": "after", "xyz": "", "": "", "wholly-other": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-c]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab := Distance(a, b)
		if (ab == 0) != (a == b) || ab != Distance(b, a) || Distance(a, c) > ab+Distance(b, c) || ab > max(len(a), len(b)) {
			t.Errorf("%q %q %q: %d", a, b, c, ab)
		}
	})
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"url", "base_url", 5}, {"kitten", "sitting", 3}, {"mod", "mode", 1}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q are %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
