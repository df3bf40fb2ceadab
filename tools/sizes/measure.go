package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source is one file that people write.
type source struct {
	path      string
	text      []byte
	lines     int
	generated bool
}

// readSources reads the files that git knows or would take, without built,
// recorded and planted ones.
func readSources(root string) ([]source, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.go", "*.ts", "*.tsx", "*.css", "*.md")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var out []source
	for path := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if path == "" || strings.Contains(path, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if os.IsNotExist(err) {
			continue // deleted and not yet committed
		}
		if err != nil {
			return nil, err
		}
		head := text[:min(len(text), 200)]
		out = append(out, source{
			path: path, text: text, lines: bytes.Count(text, []byte("\n")),
			generated: bytes.Contains(head, []byte("Do not edit")) || bytes.Contains(head, []byte("DO NOT EDIT")),
		})
	}
	return out, nil
}

// report holds the figures of measure. Line counts are of whole files and of function
// bodies with their signature.
type report struct {
	goFiles, uiFiles, functions, interfaces []int
	exported, documented                    int
	codeLines, testLines                    int
	docLines, generatedDocLines             int
	undocumented                            []string
}

func measure(sources []source) report {
	var r report
	for _, s := range sources {
		switch ext := filepath.Ext(s.path); {
		case ext == ".md" && !isDoc(s.path): // a prompt, an expected output
		case ext == ".md" && s.generated:
			r.generatedDocLines += s.lines
		case s.generated:
		case ext == ".md":
			r.docLines += s.lines
		case ext != ".go":
			r.uiFiles = append(r.uiFiles, s.lines)
		case strings.HasSuffix(s.path, "_test.go"):
			r.testLines += s.lines
		default:
			r.codeLines += s.lines
			r.goFiles = append(r.goFiles, s.lines)
			r.readGo(s)
		}
	}
	for _, values := range [][]int{r.goFiles, r.uiFiles, r.functions, r.interfaces} {
		slices.Sort(values)
	}
	return r
}

// isDoc reports whether people find a text where they look for documentation.
func isDoc(path string) bool {
	dir := filepath.Dir(path)
	return dir == "." || dir == "docs"
}

func (r *report) readGo(s source) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, s.path, s.text, parser.ParseComments)
	if err != nil {
		return // the compiler says it better
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			r.functions = append(r.functions, fset.Position(d.End()).Line-fset.Position(d.Pos()).Line+1)
			if d.Recv == nil || exportedReceiver(d) {
				r.export(s, fset, d.Name, d.Doc)
			}
		case *ast.GenDecl:
			r.readDecl(s, fset, d)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	name, ok := t.(*ast.Ident)
	// Error, Unwrap, String and the like say what they do by their interface.
	return ok && name.IsExported() && !slices.Contains([]string{"Error", "Unwrap", "String"}, d.Name.Name)
}

func (r *report) readDecl(s source, fset *token.FileSet, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			r.export(s, fset, spec.Name, firstDoc(spec.Doc, d.Doc))
			if i, ok := spec.Type.(*ast.InterfaceType); ok {
				r.interfaces = append(r.interfaces, i.Methods.NumFields())
			}
		case *ast.ValueSpec:
			// One comment serves a whole group.
			r.export(s, fset, spec.Names[0], firstDoc(spec.Doc, spec.Comment, d.Doc))
		}
	}
}

func firstDoc(docs ...*ast.CommentGroup) *ast.CommentGroup {
	for _, d := range docs {
		if d != nil {
			return d
		}
	}
	return nil
}

func (r *report) export(s source, fset *token.FileSet, name *ast.Ident, doc *ast.CommentGroup) {
	if !name.IsExported() || strings.Contains(s.path, "cmd/") {
		return
	}
	r.exported++
	if doc != nil {
		r.documented++
		return
	}
	r.undocumented = append(r.undocumented, fmt.Sprintf("%s:%d %s", s.path, fset.Position(name.Pos()).Line, name.Name))
}

// quantile is the value below which a share of the sorted values lies.
func quantile(sorted []int, share float64) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
