package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// noTests are packages that start goroutines and have no tests of their own, and
// which tests look after them.
var noTests = map[string]string{
	"cmd/choir-associate":                "a program; cmd/choir and internal/computer run it",
	"internal/blob/blobtest":             "a suite; the blob stores run it",
	"internal/control/controltest":       "a lab; internal/control/api and gateway use it",
	"internal/guest/guesttest":           "a lab; the parts of internal/computer use it",
	"internal/keyring/keyringtest":       "a suite; the keyrings run it",
	"internal/sandbox/sandboxtest/probe": "a program; sandboxtest runs it",
}

// goroutines says of one package whether it starts any, and whether its tests
// look for some that are left.
type goroutines struct{ starts, tests, checked bool }

// read takes one file of the package into account.
func (g *goroutines) read(name string, source any) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		return err
	}
	g.tests = g.tests || strings.HasSuffix(name, "_test.go")
	for _, i := range file.Imports {
		g.checked = g.checked || i.Path.Value == `"go.uber.org/goleak"`
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			g.starts = true
		case *ast.SelectorExpr:
			// sync.WaitGroup.Go and errgroup.Group.Go
			g.starts = g.starts || n.Sel.Name == "Go"
		}
		return true
	})
	return nil
}

// TestPackagesWithGoroutinesLookForLeaks reads every package.
func TestPackagesWithGoroutinesLookForLeaks(t *testing.T) {
	t.Parallel()
	packages := map[string]*goroutines{}
	root := os.DirFS("..")
	for _, top := range []string{"internal", "cmd", "bench", "tools"} {
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return errOrSkip(err)
			}
			if !strings.HasSuffix(name, ".go") {
				return nil
			}
			raw, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			dir := path.Dir(name)
			if packages[dir] == nil {
				packages[dir] = &goroutines{}
			}
			return packages[dir].read(name, raw)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	started := 0
	for dir, g := range packages {
		if g.starts {
			started++
		}
		if g.starts && !g.checked && (g.tests || noTests[dir] == "") {
			t.Errorf("%s starts goroutines, and its tests do not look for those that are left: add a TestMain with goleak.VerifyTestMain", dir)
		}
	}
	for dir := range noTests {
		if g := packages[dir]; g == nil || g.tests || !g.starts {
			t.Errorf("%s has tests, or starts no goroutine: take it off the list", dir)
		}
	}
	if started < 25 {
		t.Errorf("only %d packages start goroutines: the source is not read", started)
	}
}

func errOrSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

func TestAPlantedGoroutineIsFound(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]goroutines{
		"package p\nfunc f() { go f() }":                                {starts: true},
		"package p\nfunc f() { var g sync.WaitGroup; g.Go(f) }":         {starts: true},
		"package p\nfunc f() {}":                                        {},
		"package p\nimport \"go.uber.org/goleak\"\nvar _ = goleak.Find": {checked: true},
	} {
		var got goroutines
		if err := got.read("planted.go", source); err != nil || got != want {
			t.Errorf("%q: %+v, wanted %+v: %v", source, got, want, err)
		}
	}
}
