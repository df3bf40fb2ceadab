package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"choiros/internal/choir"
)

// vocabulary knows what reflection does not: the comments of the Go types, and
// the file, without .go, in which each is declared.
type vocabulary struct{ docs, files map[string]string }

// readVocabulary reads the comments of all types declared in a folder.
func readVocabulary(dir string) (*vocabulary, error) {
	v := &vocabulary{docs: map[string]string{}, files: map[string]string{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no Go files in %s: run this in the repository", dir)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		v.readFile(strings.TrimSuffix(filepath.Base(path), ".go"), file)
	}
	return v, nil
}

func (v *vocabulary) readFile(base string, file *ast.File) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, spec := range d.Specs {
			name := spec.(*ast.TypeSpec).Name.Name
			v.files[name] = base
			v.docs[name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
		}
	}
}

func (v *vocabulary) doc(t reflect.Type) string { return v.docs[t.Name()] }

// structs lists a struct and all that it is made of, each once, in the order of
// first use.
func structs(roots ...any) []reflect.Type {
	var out []reflect.Type
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		if t = element(t); t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		out = append(out, t)
		for _, f := range choir.Describe(t) {
			walk(f.Type)
		}
	}
	for _, r := range roots {
		walk(reflect.TypeOf(r))
	}
	return out
}

// element returns the element type of lists and pointers.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func payloads() []any {
	var out []any
	for _, info := range choir.Types() {
		out = append(out, info.Sample)
	}
	return out
}

func verbTypes() []any {
	var out []any
	for _, v := range choir.Verbs() {
		out = append(out, v.Request, v.Reply)
	}
	return append(out, choir.Reply{}, choir.LargeRequest{})
}
