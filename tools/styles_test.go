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
	"testing/fstest"
)

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssHead    = regexp.MustCompile(`([^{};]+)\{`)
	cssInner   = regexp.MustCompile(`\([^()]*\)`)
	cssClass   = regexp.MustCompile(`\.([a-zA-Z]\w*)`)
)

// leading returns the first words of the classes that the selectors of a style
// sheet begin with, each with one such selector: "files" for ".files-list li".
func leading(sheet string) map[string]string {
	out := map[string]string{}
	for _, head := range cssHead.FindAllStringSubmatch(cssComment.ReplaceAllString(sheet, ""), -1) {
		selectors := strings.TrimSpace(head[1])
		if strings.HasPrefix(selectors, "@") {
			continue
		}
		// What stands in :is(), :has() and the like does not begin a selector.
		for cssInner.MatchString(selectors) {
			selectors = cssInner.ReplaceAllString(selectors, "")
		}
		for selector := range strings.SplitSeq(selectors, ",") {
			if class := cssClass.FindStringSubmatch(selector); class != nil {
				out[class[1]] = strings.TrimSpace(selector)
			}
		}
	}
	return out
}

// misplaced returns a sentence for each first word of classes with which selectors
// begin in two files of a page. Files in a folder "styles" go across the page, and
// may name any class.
func misplaced(root fs.FS, folders ...string) ([]string, error) {
	owners, wrong := map[string]string{}, []string{}
	for _, folder := range folders {
		err := fs.WalkDir(root, folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".css" || path.Base(path.Dir(name)) == "styles" {
				return err
			}
			sheet, err := fs.ReadFile(root, name)
			for word, selector := range leading(string(sheet)) {
				if owner := owners[word]; owner != "" {
					wrong = append(wrong, fmt.Sprintf("%s has %q: selectors that begin with %q are in %s", name, selector, word, owner))
				} else {
					owners[word] = name
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

// TestStylesHaveTheirFile reads all style sheets of both pages: a class is styled
// where its first word says, and a part changes another only within itself.
func TestStylesHaveTheirFile(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"shell", "desktop"} {
		wrong, err := misplaced(os.DirFS("../ui"), "base/kit", "base/styles", page+"/src")
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range wrong {
			t.Error(sentence)
		}
	}
}

func TestAStyleInAnotherFileIsFound(t *testing.T) {
	t.Parallel()
	planted := fstest.MapFS{
		"src/apps/files/files.css": {Data: []byte(".files,\n.files-list li > .button:has(.menu) {\n  color: red;\n}\n")},
		"src/apps/code/code.css":   {Data: []byte("/* .files */\n@media (width > 9px) {\n  .code .files-list {\n    color: red;\n  }\n\n  p:is(a, .code),\n  .files-head {\n    color: red;\n  }\n}\n")},
		"src/kit/menu.css":         {Data: []byte(".menu {\n  color: red;\n}\n")},
		"src/styles/contrast.css":  {Data: []byte(".menu,\n.files {\n  color: red;\n}\n")},
	}
	wrong, err := misplaced(planted, "src")
	if want := `src/apps/files/files.css has`; err != nil || len(wrong) != 1 || !strings.HasPrefix(wrong[0], want) {
		t.Errorf("found are %q, %v; want one, %s", wrong, err, want)
	}
}
