package tools

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/logbook"
)

// loggers are what the source calls a logger, and levels the methods that make records.
var (
	loggers = []string{"Log", "log", "logger", "Logger", "to"}
	levels  = []string{"Debug", "Info", "Warn", "Error"}
)

// misshapen lists the records in a Go file whose message is no sentence in the source,
// or that have an attribute beyond logbook.Keys, and counts all records.
func misshapen(name string, source any) (found []string, records int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, 0, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isRecord(call) {
			return true
		}
		records++
		for i, arg := range call.Args {
			text, literal := literalOf(arg)
			switch {
			case i == 0 && (!literal || !logbook.WellFormed(text)):
				found = append(found, fmt.Sprintf("%s: the message is no sentence in the source: what changes goes into an attribute", files.Position(arg.Pos())))
			case i%2 == 1 && (!literal || logbook.Keys[text] == 0):
				found = append(found, fmt.Sprintf("%s: %q is none of logbook.Keys", files.Position(arg.Pos()), text))
			}
		}
		return true
	})
	return found, records, nil
}

// isRecord reports whether a call makes a record: log.Warn, x.cfg.Log.Error and the
// like, and cfg.Log of a part that is given one such method.
func isRecord(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if sel.Sel.Name == "Log" {
		_, literal := literalOf(call.Args[0])
		return literal
	}
	if !slices.Contains(levels, sel.Sel.Name) {
		return false
	}
	switch on := sel.X.(type) {
	case *ast.Ident:
		return slices.Contains(loggers, on.Name)
	case *ast.SelectorExpr:
		return slices.Contains(loggers, on.Sel.Name)
	}
	return false
}

func literalOf(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

func TestEveryRecordOfTheLogHasOneShape(t *testing.T) {
	t.Parallel()
	records := 0
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(os.DirFS(".."), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
				return err
			}
			source, err := os.ReadFile("../" + name)
			if err != nil {
				return err
			}
			found, n, err := misshapen(name, source)
			for _, f := range found {
				t.Error(f)
			}
			records += n
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if records < 40 {
		t.Errorf("only %d records were found: the source is not read", records)
	}
}

func TestPlantedRecordsOfAnotherShapeAreFound(t *testing.T) {
	t.Parallel()
	found, records, err := misshapen("planted.go", `package p
func f() {
	c.cfg.Log.Warn("the log is read-only", "computer", id, "error", err)
	c.cfg.Log.Warn("the log of " + name + " is read-only")
	log.Error(fmt.Sprintf("%v", err))
	l.to.Info("said", "reason", err)
	a.logger.Debug("said", key, err)
	cfg.Log("open /home/x: no")
	t.Error("no record", "whatever", 1)
}`)
	if err != nil || records != 6 || len(found) != 5 {
		t.Errorf("%d records, %v: %s", records, err, strings.Join(found, "\n"))
	}
}
