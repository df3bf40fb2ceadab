package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// toldSentences returns the English texts that the source of choir tells with a key, by their keys. A call
// whose key or text is no literal is an error, except for a name of internal/names.
func toldSentences(t *testing.T) map[string]string {
	t.Helper()
	told := map[string]string{}
	internal := os.DirFS("../../internal")
	err := fs.WalkDir(internal, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "choir/told.go" {
			return err
		}
		raw, err := fs.ReadFile(internal, path)
		if err != nil || !strings.Contains(string(raw), "choir.Tell") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, raw, 0)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			given := namesGiven(decl)
			ast.Inspect(decl, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					readTold(t, path, c, given, told)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// namesGiven returns the placeholders for which a declaration has values or sentences.
func namesGiven(decl ast.Decl) (given []string) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name, texts := called(n); strings.HasSuffix(name, "Of") {
				given = append(given, "{"+texts[0]+"}")
			}
		case *ast.KeyValueExpr:
			if text, ok := literal(n.Key); ok {
				given = append(given, "{"+text+"}")
			}
		}
		return true
	})
	return given
}

// readTold notes the sentence that a call tells, given the placeholders for which its declaration has values.
func readTold(t *testing.T, path string, c *ast.CallExpr, given []string, told map[string]string) {
	t.Helper()
	name, texts := called(c)
	if name != "TellSentence" && name != "TellAround" {
		return
	}
	key, english := texts[0], texts[1]
	if s, ok := c.Args[1].(*ast.SelectorExpr); ok && s.Sel.Name == "ModelsPlace" {
		english = names.ModelsPlace
	}
	if key == "" || english == "" {
		t.Errorf("%s tells a sentence whose key or text is no literal", path)
		return
	}
	if before, ok := told[key]; ok && before != english {
		t.Errorf("%s is told as %q and as %q", key, before, english)
	}
	told[key] = english
	for _, p := range placeholders(english) {
		if !slices.Contains(given, p) {
			t.Errorf("%s tells %s without a value for %s", path, key, p)
		}
	}
}

// TestTheControlPlaneTellsTheSentencesOfTheCatalogues: each key that a check can carry stands in every
// catalogue with the placeholders of its English text, which is the one of the English catalogue.
func TestTheControlPlaneTellsTheSentencesOfTheCatalogues(t *testing.T) {
	t.Parallel()
	told := toldSentences(t)
	for key, english := range told {
		if got := sentences()[names.English][key]; got.Other != english || got.One != english {
			t.Errorf("%s is %q in the catalogue, and the control plane says %q", key, got.Other, english)
		}
		for _, l := range names.Languages() {
			if got := placeholders(sentences()[l][key].Other); !slices.Equal(got, placeholders(english)) {
				t.Errorf("%s has the placeholders %q in %s, not %q", key, got, l, placeholders(english))
			}
		}
	}
	for key := range sentences()[names.English] {
		if strings.HasPrefix(key, "told.") && told[key] == "" {
			t.Errorf("nothing tells %s", key)
		}
	}
}

// TestToldSentencesAreSaidByTheirData: in German by the key and the sentences inside, whatever the values
// look like, and in English as the control plane says it.
func TestToldSentencesAreSaidByTheirData(t *testing.T) {
	t.Parallel()
	_, unknown := choir.TellError(choir.Refuse("", choir.ReasonQuotaKernel, choir.TextOf("kind", "ext4"), choir.TextOf("source", "/dev/a")))
	inside := choir.TellAround("told.ownFileSystem", "give the data folder a file system of its own; or set storage.disk_gb, and {more}", map[string]choir.Told{"more": unknown})
	tricky := choir.TellSentence("told.install", "install it with: {command}", choir.LinesOf("command", "run choir as root {command}"))
	later := choir.TellSentence("told.later", "of a later choir: {why}", choir.LinesOf("why", "x"))
	around := choir.TellAround("told.ownFileSystem", "give the data folder a file system of its own; or set storage.disk_gb, and {more}", map[string]choir.Told{"more": later})
	for _, c := range []struct {
		told   choir.Told
		en, de string
	}{
		{inside, "give the data folder a file system of its own; or set storage.disk_gb, and use Linux 5.14 or newer, with CONFIG_QFMT_V2 for ext4 or CONFIG_XFS_QUOTA for XFS",
			"dem Datenordner ein eigenes Dateisystem geben; oder storage.disk_gb setzen, und Linux 5.14 oder neuer verwenden, mit CONFIG_QFMT_V2 für ext4 oder CONFIG_XFS_QUOTA für XFS"},
		{tricky, "install it with: run choir as root {command}", "installieren mit: run choir as root {command}"},
		{later, "of a later choir: x", "of a later choir: x"},
		{around, "give the data folder a file system of its own; or set storage.disk_gb, and of a later choir: x",
			"give the data folder a file system of its own; or set storage.disk_gb, and of a later choir: x"},
		{choir.Told{Text: "only English"}, "only English", "only English"},
	} {
		if got := speaking("C").sayTold(c.told.Text, c.told.Said); got != c.en {
			t.Errorf("in English: %q, want %q", got, c.en)
		}
		if got := speaking("de").sayTold(c.told.Text, c.told.Said); got != c.de {
			t.Errorf("in German: %q, want %q", got, c.de)
		}
	}
}
