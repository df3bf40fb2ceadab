package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// notUsed are parts of the vocabulary that nothing emits or reads, and why they
// are there.
var notUsed = map[string]string{
	"type theme.changed":          "decoded from a request of a page",
	"type setting.changed":        "decoded from a request of a page",
	"subject job.<class>":         "the agent pool's, which is described and not built",
	"field TaskUsage.EgressBytes": "older builds require it; the events egress.passed have the bytes",
}

// uses is what the program does with the names of the vocabulary. A name stands
// for itself wherever it is: what the scan misses is a name that two things have.
type uses struct {
	made     map[string]bool // names of the types of composite literals
	set      map[string]bool // fields that are given a value
	read     map[string]bool // names after a dot
	literals strings.Builder // texts, one a line
	pages    strings.Builder // the source of the user interfaces
}

// readUses reads all Go files that are no tests and belong to no test support.
func readUses(tree fs.FS, skip *regexp.Regexp) (*uses, error) {
	u := &uses{made: map[string]bool{}, set: map[string]bool{}, read: map[string]bool{}}
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(tree, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || skip.MatchString(name)):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			source, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			return u.add(name, source)
		})
		if err != nil {
			return nil, err
		}
	}
	return u, nil
}

func (u *uses) add(name string, source []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			u.made[lastName(n.Type)] = true
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					u.set[lastName(pair.Key)] = true
				} else {
					u.set[lastName(n.Type)] = true // its fields are given by place
				}
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				u.set[lastName(left)] = true
			}
		case *ast.IncDecStmt:
			u.set[lastName(n.X)] = true
		case *ast.UnaryExpr: // its address is handed on
			if n.Op == token.AND {
				u.set[lastName(n.X)] = true
			}
		case *ast.SelectorExpr:
			u.read[n.Sel.Name] = true
		case *ast.BasicLit:
			u.literals.WriteString(n.Value + "\n")
		}
		return true
	})
	return nil
}

// addPages reads the source of the user interfaces without their copy of the
// contract and their tests.
func (u *uses) addPages(tree fs.FS) error {
	for _, top := range []string{"ui/desktop/src", "ui/shell/src"} {
		err := fs.WalkDir(tree, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "contracts":
				return fs.SkipDir
			case d.IsDir() || strings.Contains(name, ".test.") || !strings.HasPrefix(path.Ext(name), ".ts"):
				return nil
			}
			source, err := fs.ReadFile(tree, name)
			u.pages.Write(source)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lastName is x for x, a.x and a.x[i]; empty for what has no name.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return lastName(e.X)
	case *ast.StarExpr:
		return lastName(e.X)
	case *ast.ParenExpr:
		return lastName(e.X)
	}
	return ""
}

// fieldsOf visits the fields of a struct and of the structs it is made of, once.
func fieldsOf(t reflect.Type, seen map[reflect.Type]bool, visit func(owner reflect.Type, f reflect.StructField)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for f := range fields(t) {
		if f.IsExported() {
			visit(t, f)
			fieldsOf(f.Type, seen, visit)
		}
	}
}

func fields(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// unused lists the parts of the vocabulary that the program does not use.
func (u *uses) unused() (all []string) {
	seen := map[reflect.Type]bool{}
	for _, t := range choir.Types() {
		sample := reflect.TypeOf(t.Sample)
		if !u.made[sample.Name()] {
			all = append(all, "type "+string(t.Type))
		}
		fieldsOf(sample, seen, func(owner reflect.Type, f reflect.StructField) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !u.set[f.Name] && !u.set[owner.Name()] && !u.read[f.Name] && !regexp.MustCompile(`\b`+name+`\b`).MatchString(u.pages.String()) {
				all = append(all, "field "+owner.Name()+"."+f.Name)
			}
		})
	}
	for _, s := range choir.Subjects() {
		if root, _, _ := strings.Cut(s.Pattern, "."); !strings.Contains(u.literals.String(), `"`+root+`.`) && !strings.Contains(u.literals.String(), `"`+root+`"`) {
			all = append(all, "subject "+s.Pattern)
		}
	}
	return all
}

// TestTheVocabularyIsUsed looks for event types and subjects that nothing emits,
// and for fields of payloads, codes and keys of choir.toml that nothing names.
func TestTheVocabularyIsUsed(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	outside, err := readUses(root, regexp.MustCompile(`^internal/choir$|test$`))
	if err != nil {
		t.Fatal(err)
	}
	if err := outside.addPages(root); err != nil {
		t.Fatal(err)
	}
	all := outside.unused()
	for name := range codeNames(t, root) {
		if !outside.read[name] {
			all = append(all, "code "+name)
		}
	}
	consumers, err := readUses(root, regexp.MustCompile(`test$`))
	if err != nil {
		t.Fatal(err)
	}
	fieldsOf(reflect.TypeOf(config.Config{}), map[reflect.Type]bool{}, func(owner reflect.Type, f reflect.StructField) {
		if f.Tag.Get("toml") != "" && !consumers.read[f.Name] {
			all = append(all, "key "+owner.Name()+"."+f.Name)
		}
	})
	for _, one := range all {
		if notUsed[one] == "" {
			t.Errorf("nothing in the program uses the %s: give it its use, take it out of the contract, or say in notUsed why it is there", one)
		}
	}
	for one := range notUsed {
		if !strings.Contains("\n"+strings.Join(all, "\n")+"\n", "\n"+one+"\n") {
			t.Errorf("the %s is used: take it out of notUsed", one)
		}
	}
}

// codeNames are the constants of the closed list of codes.
func codeNames(t *testing.T, root fs.FS) map[string]bool {
	t.Helper()
	raw, err := fs.ReadFile(root, "internal/choir/error.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t(Code[A-Z]\w*) +Code = `).FindAllStringSubmatch(string(raw), -1) {
		names[m[1]] = true
	}
	if len(names) != len(choir.Codes()) {
		t.Fatalf("%d codes were read of %d", len(names), len(choir.Codes()))
	}
	return names
}

// TestWhatNothingEmitsIsFound plants a program that emits one event, whose one
// field it leaves out.
func TestWhatNothingEmitsIsFound(t *testing.T) {
	t.Parallel()
	u := &uses{made: map[string]bool{}, set: map[string]bool{}, read: map[string]bool{}}
	const program = `package p
var e = choir.TaskProgressed{Kind: "progress"}
func f() { bus.Publish("live." + string(user)); e.Request = "x" }`
	if err := u.add("p.go", []byte(program)); err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(u.unused(), "\n") + "\n"
	for text, want := range map[string]bool{
		"type task.progressed": false, "type task.started": true, "field TaskProgressed.Text": true, "field TaskProgressed.Kind": false,
		"field TaskProgressed.Request": false, "subject live.<uid>.<cid>.<role>.<run>": false, "subject job.<class>": true,
	} {
		if got := strings.Contains(all, "\n"+text+"\n"); got != want {
			t.Errorf("%s is listed: %v", text, got)
		}
	}
}
