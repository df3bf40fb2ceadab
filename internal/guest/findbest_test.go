package guest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTheNamesThatFitBestComeFirst(t *testing.T) {
	t.Parallel()
	f := finding{name: "tea", limit: 3, best: true}
	paths := []string{"a/steam.md", "a/green-tea.md", "z/teapot.md", "z/tea.md"}
	for i := range 500 {
		paths = append(paths, fmt.Sprintf("a/instead%03d.txt", i))
	}
	for _, path := range append(paths, "zz/last/Tea") {
		m := Match{}
		m.File.Path = path
		if f.found.Matches = append(f.found.Matches, m); len(f.found.Matches) >= 2*f.limit+bestSpare {
			f.keepBest()
		}
	}
	f.keepBest()
	var got []string
	for _, m := range f.found.Matches {
		got = append(got, m.File.Path)
	}
	if want := []string{"z/tea.md", "zz/last/Tea", "z/teapot.md"}; !slices.Equal(got, want) || !f.found.Cut {
		t.Errorf("found %q, cut %v; want %q", got, f.found.Cut, want)
	}

	// As many long names as are asked for at most do not fit into one answer.
	f = finding{name: "tea", limit: 1000, best: true}
	for i := range 1000 {
		m := Match{}
		m.File.Path = fmt.Sprintf("%s/tea%03d", strings.Repeat("folder/", 580), i)
		f.found.Matches = append(f.found.Matches, m)
	}
	f.keepBest()
	size := 0
	for _, m := range f.found.Matches {
		size += sizeInAnswer(m)
	}
	if size > maxPageSize || size < maxPageSize/2 || !f.found.Cut {
		t.Errorf("an answer of %d bytes, cut %v", size, f.found.Cut)
	}
}
