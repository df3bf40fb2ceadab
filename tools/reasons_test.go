package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// reasonConstants maps the names of the constants of internal/choir/reasons.go to their reasons.
func reasonConstants(t *testing.T) map[string]choir.Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/choir/reasons.go", nil, 0)
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

// TestARefusalFillsItsSentence compares the values of each choir.Refuse with the placeholders of
// its reason's sentences, and finds reasons that nothing uses.
func TestARefusalFillsItsSentence(t *testing.T) {
	constants, used, checked := reasonConstants(t), map[string]bool{}, 0
	placeholder := regexp.MustCompile(`\{(\w+)\}`)
	for _, root := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../internal/choir/") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					used[sel.Sel.Name] = true
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) < 2 {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				of, isConstant := call.Args[1].(*ast.SelectorExpr)
				if !ok || !isConstant || sel.Sel.Name != "Refuse" {
					return true
				}
				got, ok := valueNames(call.Args[2:])
				if !ok {
					return true
				}
				checked++
				s := choir.ProblemsIn("en").Reasons[constants[of.Sel.Name]]
				var want []string
				for _, m := range placeholder.FindAllStringSubmatch(s.Said.One+s.Said.Other+s.Help.Other, -1) {
					want = append(want, m[1])
				}
				slices.Sort(want)
				if want = slices.Compact(want); !slices.Equal(got, want) {
					t.Errorf("%s: %s gets %q, its sentences have %q", set.Position(call.Pos()), of.Sel.Name, got, want)
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
