package tools

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// bareNames are verbs that name nothing unless an object follows them.
var bareNames = []string{"take", "begin", "settle", "enter", "tell", "keep", "give", "look"}

// vaguePhrases stand in a comment where a noun should.
var vaguePhrases = regexp.MustCompile(`(?i)\b(whoever|ones? that|those that|those who)\b`)

// vagueStart matches a first sentence that defines a name by a relative clause.
var vagueStart = regexp.MustCompile(`^(\w+\.)?\w+ (is what|says what|is whatever)\b`)

// definedFunc matches a function's comment that defines the function instead of saying
// what it does.
var definedFunc = regexp.MustCompile(`^(\w+\.)?\w+ (is how|is when|is where|is whether|says of|are how)\b`)

// plainPackages are the folders in which no comment of a function may match definedFunc.
// A folder is added once its comments are rewritten.
var plainPackages = []string{
	"cmd/choir", "cmd/choir-associate", "cmd/choir-director", "cmd/choir-init", "internal/agentloop",
	"internal/associate", "internal/associate/command", "internal/associate/git", "internal/associate/proctree", "internal/associate/scope",
	"internal/associate/taskrunner", "internal/associate/tools", "internal/associate/verify", "internal/blob",
	"internal/bus", "internal/bus/bustest", "internal/bus/cluster", "internal/bus/cluster/clustertest",
	"internal/bus/hub", "internal/choir", "internal/choir/choirtest", "internal/computer",
	"internal/computer/appender", "internal/computer/collection", "internal/computer/copies",
	"internal/computer/desk", "internal/computer/desk/drafts", "internal/computer/dispatch",
	"internal/computer/moments", "internal/computer/origin", "internal/computer/projects",
	"internal/computer/reconcile", "internal/computer/rewind", "internal/computer/rolehost",
	"internal/computer/runs", "internal/computer/selfsource", "internal/computer/session",
	"internal/computer/tasks", "internal/computer/terminals", "internal/computer/treemerge",
	"internal/computer/verbs", "internal/computer/workspace", "internal/config", "internal/control/api",
	"internal/control/auth", "internal/control/connections", "internal/control/controltest",
	"internal/control/gateway", "internal/control/metrics", "internal/control/modelgw",
	"internal/control/report", "internal/control/supervisor", "internal/control/traces", "internal/demo",
	"internal/desktop", "internal/director", "internal/director/conductor", "internal/director/runscript",
	"internal/director/runwriter", "internal/diskquota", "internal/diskquota/quotatest", "internal/durablefile",
	"internal/eventstore", "internal/groupcommit", "internal/guest", "internal/guest/guesttest",
	"internal/guest/roledoor", "internal/journal", "internal/keyring", "internal/keyring/files",
	"internal/keyring/keyringtest", "internal/logbook", "internal/model", "internal/model/anthropic",
	"internal/model/attempt", "internal/model/bedrock", "internal/model/gateway", "internal/model/messages",
	"internal/model/modeltest", "internal/model/openai", "internal/model/replay", "internal/model/wiretest",
	"internal/names", "internal/recovery", "internal/sandbox", "internal/sandbox/fake",
	"internal/sandbox/local", "internal/sandbox/host", "internal/sandbox/gvisor", "internal/sandbox/sandboxtest",
	"internal/sandbox/sandboxtest/probe", "internal/sandbox/sandboxtest/probed", "internal/snapshot",
	"internal/timeline", "planted",
}

// vagueIn lists the bare names and the vague comments of one Go file, each as
// "file:line: reason". It returns the parser's error for a file that is no Go.
func vagueIn(name string, source []byte) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	report := func(at token.Pos, format string, args ...any) {
		p := set.Position(at)
		found = append(found, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
	}
	checkName := func(n *ast.Ident) {
		if slices.Contains(bareNames, strings.ToLower(n.Name)) {
			report(n.Pos(), "%s says neither what is done nor to what", n.Name)
		}
	}
	checkDoc := func(groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g == nil {
				continue
			}
			text := strings.Join(strings.Fields(g.Text()), " ")
			for _, phrase := range vaguePhrases.FindAllString(text, -1) {
				report(g.Pos(), "%q stands in place of a noun", phrase)
			}
			if phrase := vagueStart.FindString(text); phrase != "" {
				report(g.Pos(), "%q begins a comment that does not say what it does", phrase)
			}
		}
	}
	checkFuncs := func(list *ast.FieldList) {
		for _, f := range list.List {
			if _, ok := f.Type.(*ast.FuncType); ok {
				for _, name := range f.Names {
					checkName(name)
				}
			}
		}
	}
	checkDoc(file.Doc)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			checkName(n.Name)
			checkDoc(n.Doc)
			if phrase := definedFunc.FindString(n.Doc.Text()); phrase != "" && slices.Contains(plainPackages, path.Dir(name)) {
				report(n.Pos(), "%q begins a comment that does not say what the function does", phrase)
			}
		case *ast.GenDecl:
			checkDoc(n.Doc)
		case *ast.TypeSpec:
			checkDoc(n.Doc, n.Comment)
		case *ast.ValueSpec:
			checkDoc(n.Doc, n.Comment)
		case *ast.Field:
			checkDoc(n.Doc, n.Comment)
		case *ast.InterfaceType:
			checkFuncs(n.Methods)
		case *ast.StructType:
			checkFuncs(n.Fields)
		}
		return true
	})
	return found, nil
}

func TestNamesAndCommentsArePlain(t *testing.T) {
	t.Parallel()
	begun, files := time.Now(), 0
	for _, root := range []string{"bench", "cmd", "internal", "tools"} {
		err := filepath.WalkDir(path.Join("..", root), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if slices.Contains([]string{"node_modules", "testdata", "dist"}, d.Name()) {
					return fs.SkipDir
				}
				return nil
			}
			if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			source, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files++
			found, err := vagueIn(strings.TrimPrefix(name, "../"), source)
			for _, what := range found {
				t.Error(what)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 500 {
		t.Errorf("%d files were read: the search looks in the wrong place", files)
	}
	t.Logf("%d files in %v", files, time.Since(begun).Round(time.Millisecond))
}

func TestAVagueNameOrCommentIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"func take() {}":                                             1,
		"func (s *S) Begin() {}":                                     1,
		"type S interface { tell() }":                                1,
		"type S struct { Keep func() }":                              1,
		"func takeTurn() {}":                                         0,
		"var begin int":                                              0,
		"// f tells whoever asks.\nfunc f() {}":                      1,
		"// T is a list, and one that\n// ends.\ntype T int":         1,
		"const (\n\tA = 1 // those that run\n)":                      1,
		"type S struct {\n\tN int // the ones that and those who\n}": 2,
		"// f is what is done.\nfunc f() {}":                         1,
		"// f is how many there are.\nfunc f() {}":                   1,
		"// f says of each whose it is.\nfunc f() {}":                1,
		"// f is where it begins.\nvar f int":                        0,
		"// N says what is done.\nvar N int":                         1,
		"// N is whatever comes.\nvar N int":                         1,
		"// N counts. It is what counts.\nvar N int":                 0,
		"func f() {\n\t// whoever\n}":                                0,
	} {
		got, err := vagueIn("planted/planted.go", []byte("package p\n\n"+text+"\n"))
		if err != nil || len(got) != want {
			t.Errorf("%q: found %q, want %d (%v)", text, got, want, err)
		}
	}
}
