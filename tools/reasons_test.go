package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// reasonFiles declare the reasons: those that pages say too, about fields and others, and at last
// the host's own.
var reasonFiles = []string{"../internal/choir/reasons.go", "../internal/choir/reasonsfield.go", "../internal/choir/reasonshost.go"}

// hostReasons maps the names of the constants of the host's own reasons to them.
func hostReasons(t *testing.T) map[string]choir.Reason { return reasonConstants(t, reasonFiles[2]) }

// reasonConstants maps the names of the constants of a file to their reasons.
func reasonConstants(t *testing.T, path string) map[string]choir.Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]choir.Reason{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(lit.Value)
				out[spec.Names[0].Name] = choir.Reason(text)
			}
		}
		return true
	})
	return out
}

// valueNames returns the placeholders that the arguments of choir.Refuse fill; false if one of
// them is no direct call such as choir.TextOf("name", x).
func valueNames(args []ast.Expr) (names []string, ok bool) {
	for _, arg := range args {
		call, isCall := arg.(*ast.CallExpr)
		if !isCall || len(call.Args) == 0 {
			return nil, false
		}
		lit, isText := call.Args[0].(*ast.BasicLit)
		if !isText {
			return nil, false
		}
		name, err := strconv.Unquote(lit.Value)
		if err != nil {
			return nil, false
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, true
}

// nameOf returns the name of a constant or function, without its package.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestARefusalFillsItsSentence compares the values of each choir.Refuse and choir.RefuseField
// with the placeholders of its reason's sentences, and finds reasons that nothing uses.
func TestARefusalFillsItsSentence(t *testing.T) {
	constants, used, checked := map[string]choir.Reason{}, map[string]bool{}, 0
	for _, path := range reasonFiles {
		maps.Copy(constants, reasonConstants(t, path))
	}
	placeholder := regexp.MustCompile(`\{(\w+)\}`)
	for _, root := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(reasonFiles, path) {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					used[name.Name] = true
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) < 2 {
					return true
				}
				by, of := nameOf(call.Fun), nameOf(call.Args[1])
				if constants[of] == "" || by != "Refuse" && by != "RefuseField" {
					return true
				}
				got, ok := valueNames(call.Args[2:])
				if !ok {
					return true
				}
				checked++
				s := choir.ProblemsIn("en").Reasons[constants[of]]
				if field := strings.HasPrefix(s.Said.Other, "{field}"); field != (by == "RefuseField") {
					t.Errorf("%s: %s is refused by %s", set.Position(call.Pos()), of, by)
				}
				var want []string
				for _, m := range placeholder.FindAllStringSubmatch(s.Said.One+s.Said.Other+s.Help.Other, -1) {
					want = append(want, m[1])
				}
				slices.Sort(want)
				want = slices.DeleteFunc(slices.Compact(want), func(name string) bool { return name == "field" })
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s gets %q, its sentences have %q", set.Position(call.Pos()), of, got, want)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d refusals were looked at", checked)
	}
	for name := range constants {
		if !used[name] {
			t.Errorf("nothing is refused with %s", name)
		}
	}
}

// routed are the folders whose refusals pages get, without the files that work only while choir
// starts or for the CLI alone.
var routed = []string{"internal/computer", "internal/control", "internal/desktop", "internal/eventstore", "internal/journal", "internal/model/attempt", "internal/timeline"}

// unrouted are these files.
var unrouted = []string{
	"internal/control/supervisor/computers.go", "internal/control/supervisor/diskproject.go", "internal/control/supervisor/folder.go",
	"internal/control/supervisor/hostuid.go", "internal/control/supervisor/restore.go",
	"internal/eventstore/restore.go", "internal/journal/lock.go", "internal/journal/repair.go",
}

// TestAPageHasTheSentencesOfWhatRoutesRefuse finds a reason of the host alone, whose German sentence
// no page has, where a page may be the one that is refused.
func TestAPageHasTheSentencesOfWhatRoutesRefuse(t *testing.T) {
	host, unused := hostReasons(t), slices.Clone(unrouted)
	for _, folder := range routed {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(path, "../")
			ast.Inspect(file, func(n ast.Node) bool {
				of, ok := n.(*ast.Ident)
				if !ok || host[of.Name] == "" {
					return true
				}
				unused = slices.DeleteFunc(unused, func(file string) bool { return file == name })
				if !slices.Contains(unrouted, name) {
					t.Errorf("%s refuses with %s, whose sentences no page has: move it to internal/choir/reasons.go and problems.*.json", name, of.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range unused {
		t.Errorf("%s gives no reason of the host", file)
	}
}
