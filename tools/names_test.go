package tools

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"choiros/internal/names"
)

// readByPeople are the files whose texts people read, by ending.
var readByPeople = []string{".md", ".go", ".ts", ".tsx", ".js"}

// withRetired are the places that must name what is not used any more: the table
// and what is made of it, and what was so when it was written.
var withRetired = []string{"internal/names/", "docs/CONTRACTS.md", "CHANGELOG.md", "tools/names_test.go", "test/fixtures/"}

// retiredIn lists where a text uses a name that is retired: as a part of a sentence,
// or, for a title, alone between quotes, tags or asterisks.
func retiredIn(text string, table []names.Name) []string {
	var found []string
	low := strings.ToLower(text)
	for _, n := range table {
		for _, r := range n.Retired {
			if strings.Contains(low, strings.ToLower(r)) {
				found = append(found, fmt.Sprintf("%q is called %q", r, n.EN))
			}
		}
		for _, r := range n.Titles {
			if !strings.Contains(text, r) {
				continue
			}
			alone := regexp.MustCompile("[\"'`>*“]\\s*" + regexp.QuoteMeta(r) + "\\s*[\"'`<*”]")
			if alone.MatchString(text) {
				found = append(found, fmt.Sprintf("the title %q is now %q", r, n.EN))
			}
		}
	}
	return found
}

func TestNoRetiredNameComesBack(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "testdata", "dist", ".git", ".cache", "bin"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(readByPeople, path.Ext(name)) || slices.ContainsFunc(withRetired, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return nil
		}
		raw, err := os.ReadFile(path.Join("..", name))
		if err != nil {
			return err
		}
		for _, what := range retiredIn(string(raw), names.All()) {
			t.Errorf("%s: %s (internal/names has the table)", name, what)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARetiredNameIsFound(t *testing.T) {
	t.Parallel()
	table := []names.Name{{EN: "Runs", Retired: []string{"plain view"}}, {EN: "Preview", Titles: []string{"Browser"}}}
	for text, want := range map[string]int{
		"go on in the Plain view": 1, `title: "Browser"`: 1, "<b>Browser</b>": 1, "press *Browser*": 1,
		"open it in another Browser": 0, "Runs and Preview": 0, `"Browser", and the plain view`: 2,
	} {
		if got := retiredIn(text, table); len(got) != want {
			t.Errorf("%q: found %q, want %d", text, got, want)
		}
	}
}

func TestEveryNameIsOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, n := range names.All() {
		if n.ID == "" || n.EN == "" || n.DE == "" || n.What == "" {
			t.Errorf("%+v lacks something", n)
		}
		for _, text := range []string{n.EN, n.DE} {
			if other, ok := seen[text]; ok && other != n.ID {
				t.Errorf("%q is called %s and %s", text, other, n.ID)
			}
			seen[text] = n.ID
		}
	}
}
