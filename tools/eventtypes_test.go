package tools

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"choiros/internal/choir"
)

// mayNameTypes are the files that say event types as texts, by pattern, and why.
var mayNameTypes = []struct{ files, why string }{
	{`^internal/choir/types_generated\.go$`, "the constants"},
	{`^internal/choir/payload_[a-z]+\.go$`, "the contract: the method EventType of a payload says its type"},
	{`^tools/crashmatrix/`, "the judge of a log shares nothing with what wrote it"},
}

// bareTypes lists the texts in a Go file that are an event type, or have one in
// single quotes, as SQL does.
func bareTypes(name string, source []byte) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(lit.Value) // the parser took it
		for _, t := range choir.Types() {
			if text == string(t.Type) || strings.Contains(text, "'"+string(t.Type)+"'") {
				found = append(found, fmt.Sprintf("%s: %q is a constant of package choir", files.Position(lit.Pos()), t.Type))
			}
		}
		return true
	})
	return found, nil
}

// bareTypesIn reads all Go files that are no tests, but for those that may.
func bareTypesIn(tree fs.FS) (found []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name == "ui" || name == "bin" || len(name) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for _, may := range mayNameTypes {
			if regexp.MustCompile(may.files).MatchString(name) {
				return nil
			}
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		bare, err := bareTypes(name, source)
		found = append(found, bare...)
		return err
	})
	return found, err
}

// TestEventTypesAreSaidByTheirConstants: a type with a slip in it is an event that
// never happens, and a constant with one does not compile.
func TestEventTypesAreSaidByTheirConstants(t *testing.T) {
	t.Parallel()
	found, err := bareTypesIn(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range found {
		t.Error(what)
	}
}

func TestABareEventTypeIsFound(t *testing.T) {
	t.Parallel()
	planted := &fstest.MapFile{Data: []byte("package p\n\n// A comment may say \"task.returned\".\nvar a = e.Type == \"task.returned\"\n\nconst q = `WHERE type = 'repo.added'`\n\nvar other = \"task.returned now\"\n")}
	found, err := bareTypesIn(fstest.MapFS{
		"internal/p/p.go": planted, "cmd/p/p.go": planted, // both are refused
		"internal/p/p_test.go": planted, "internal/p/testdata/p.go": planted, "ui/p.go": planted, "internal/choir/payload_run.go": planted,
	})
	if err != nil || len(found) != 4 || !strings.HasPrefix(found[0], "cmd/p/p.go:4:") || !strings.HasPrefix(found[3], "internal/p/p.go:6:") {
		t.Errorf("found %q, %v", found, err)
	}
}
