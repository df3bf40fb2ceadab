package choir

import (
	"regexp"
	"strings"
	"testing"
)

// FuzzPlainPath compares PlainPath with the regular expression that says the same.
func FuzzPlainPath(f *testing.F) {
	same := regexp.MustCompile(`^[\w@.-]+(/[\w@.-]+)*$`)
	for _, path := range []string{"src/app/main.tsx", "a", "", "/a", "a/", "a//b", "a b", "a\nb", "ä", "@x/y-z_1.ts", "..", "\u202ea", strings.Repeat("a", 200), strings.Repeat("a", 201)} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		want := ""
		if len(path) <= 200 && same.MatchString(path) {
			want = path
		}
		if got := PlainPath(path); got != want {
			t.Errorf("%q gives %q, want %q", path, got, want)
		}
	})
}
