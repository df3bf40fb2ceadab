package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// callRule forbids some functions of a package to some packages.
type callRule struct {
	why   string
	of    func(path string) bool
	pkg   string   // of the standard library, or ./internal/x
	names []string // none means all
}

var replayed = []string{"./internal/choir", "./internal/agentloop", "./internal/director/conductor"}

func isReplayed(path string) bool { return underAny(path, replayed) }

var callRules = []callRule{
	{
		why: "the environment is read in cmd only; take the value as an argument",
		of:  func(path string) bool { return !underAny(path, []string{"./cmd", "./tools"}) && !isTestSupport(path) },
		pkg: "os", names: []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	},
	{
		why: "this package is replayed: take the time as an argument",
		of:  isReplayed, pkg: "time", names: []string{"Now", "Since", "Until"},
	},
	{why: "this package is replayed: take the randomness as an argument", of: isReplayed, pkg: "math/rand"},
	{why: "this package is replayed: take the randomness as an argument", of: isReplayed, pkg: "math/rand/v2"},
	{why: "this package is replayed: take the randomness as an argument", of: isReplayed, pkg: "crypto/rand"},
	{
		why: "a log by SQLite alone, and one that is filled without waiting for the disk, are peers and loads of the benchmarks: open a Store",
		of:  func(path string) bool { return !under(path, "./bench") },
		pkg: "./internal/eventstore", names: []string{"OpenPlain", "Plain", "PlainDraft", "Bulk"},
	},
}

// callViolations looks for forbidden functions in a package's source.
func callViolations(p pkg) ([]violation, error) {
	var out []violation
	for _, name := range p.GoFiles {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, r := range callRules {
			if r.of(p.ImportPath) {
				out = append(out, r.violations(p, fset, file)...)
			}
		}
	}
	return out, nil
}

func (r callRule) violations(p pkg, fset *token.FileSet, file *ast.File) (out []violation) {
	path := r.pkg
	if own, ok := strings.CutPrefix(path, "./"); ok {
		path = p.Module.Path + "/" + own
	}
	local := localName(file, path)
	if local == "" {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || r.names != nil && !slices.Contains(r.names, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && x.Obj == nil {
			at := fset.Position(sel.Pos())
			out = append(out, violation{p.ImportPath, fmt.Sprintf("uses %s.%s at %s:%d", r.pkg, sel.Sel.Name, filepath.Base(at.Filename), at.Line), r.why})
		}
		return true
	})
	return out
}

// localName returns a file's name for an imported package; empty when the file does not
// import it.
func localName(file *ast.File, path string) string {
	for _, imp := range file.Imports {
		if got, err := strconv.Unquote(imp.Path.Value); err != nil || got != path {
			continue
		}
		if imp.Name != nil {
			return imp.Name.Name
		}
		if path == "math/rand/v2" {
			return "rand"
		}
		return filepath.Base(path)
	}
	return ""
}
