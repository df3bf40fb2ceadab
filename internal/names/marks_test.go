package names_test

import (
	"regexp"
	"slices"
	"testing"

	"choiros/internal/names"
)

var hole = regexp.MustCompile(`\{\w+\}`)

func TestEachSentenceOfTheTimelineIsInEachLanguage(t *testing.T) {
	keys := names.MarkKeys(names.English)
	if len(keys) < 40 {
		t.Fatalf("only %d sentences", len(keys))
	}
	slices.Sort(keys)
	for _, l := range names.Languages()[1:] {
		theirs := names.MarkKeys(l)
		slices.Sort(theirs)
		if !slices.Equal(keys, theirs) {
			t.Errorf("%s has %q, want %q", l, theirs, keys)
		}
		for _, key := range keys {
			if in, out := holes(names.English, key), holes(l, key); !slices.Equal(in, out) {
				t.Errorf("%s of %s has %q, in English %q", key, l, out, in)
			}
		}
	}
}

// holes lists the holes of a sentence: putting a hole's own name into it leaves it open.
func holes(l names.Language, key string) []string {
	text, _ := names.SayMark(l, key, names.Values{Text: "{text}", Tool: "{tool}", N: 7})
	found := hole.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestLanguageOfALocale(t *testing.T) {
	for locale, want := range map[string]names.Language{
		"": names.English, "C": names.English, "C.UTF-8": names.English, "en_US.UTF-8": names.English, "fr_FR": names.English, "den": names.English,
		"de": names.German, "de_DE.UTF-8": names.German, "de-AT": names.German, "de.UTF-8": names.German, "DE": names.German,
	} {
		if got := names.LanguageOf(locale); got != want {
			t.Errorf("%q is %s, want %s", locale, got, want)
		}
	}
}

func TestASentenceHasTheFormOfItsNumber(t *testing.T) {
	for _, c := range []struct {
		language names.Language
		n        int
		want     string
	}{
		{names.English, 1, "bash changed 1 file: make"},
		{names.English, 0, "bash changed 0 files: make"},
		{names.German, 1, "bash änderte 1 Datei: make"},
		{names.German, 3, "bash änderte 3 Dateien: make"},
	} {
		got, ok := names.SayMark(c.language, "callAbout", names.Values{Tool: "bash", Text: "make", N: c.n})
		if !ok || got != c.want {
			t.Errorf("%q, %v; want %q", got, ok, c.want)
		}
	}
	if _, ok := names.SayMark(names.English, "later", names.Values{}); ok {
		t.Error("a sentence that there is not")
	}
	if got := names.ListMarked(names.German, []string{"a", "b"}, 2); got != "a, b und 2 weitere" {
		t.Errorf("a list says %q", got)
	}
}
