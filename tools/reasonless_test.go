package tools

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// peoplesFolders are the folders whose errors people meet: in the CLI, on the pages, or when choir
// does not start. What stands in no list here is for guests, roles and logs: the Associate's and
// the Director's packages, internal/agentloop, internal/blob, internal/bus without its cluster,
// internal/guest, internal/model/gateway, internal/snapshot.
var peoplesFolders = []string{
	"cmd/choir", "internal/bus/cluster", "internal/choir", "internal/computer", "internal/config", "internal/control",
	"internal/desktop", "internal/diskquota", "internal/effect", "internal/eval", "internal/eventstore", "internal/guestbin",
	"internal/journal", "internal/keyring", "internal/machineimage", "internal/model/attempt", "internal/model/replay",
	"internal/recovery", "internal/sandbox", "internal/timeline", "internal/webui",
}

// reasonless says who alone reads the errors without a reason in a folder, in a file, or in a function
// of a file. An error with code internal needs no row: people are told to see the log.
var reasonless = map[string]string{
	"internal/choir/error.go":                             "what makes errors, with a reason or without",
	"internal/choir/unseal.go":                            "causes: behind the reason of an import",
	"internal/eventstore/replicated.go":                   "its code is that of the cluster's failure, which says the rest",
	"internal/journal/errors.go":                          "the log: files of the journal",
	"internal/sandbox/gvisor/boot.go":                     "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/microvm/boot.go":                    "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/microvm/firecracker.go:refused":     "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/sprites/boot.go":                    "causes: behind the reason that a sandbox does not run",
	"cmd/choir/log.go:sayCluster":                         "its code is that of whatever kept the copies from being compared",
	"internal/bus/cluster/session.go:publish":             "the log: a defect of the log's own reader",
	"internal/bus/cluster/session.go:awaitAcks":           "the log: the stream is opened anew, which tells people",
	"internal/choir/check.go:Check":                       "roles: the proofs of an answer",
	"internal/choir/encode.go":                            "the log: values that choir itself encodes",
	"internal/choir/lineage.go":                           "causes: behind the reason of an import",
	"internal/choir/result.go":                            "roles: results of tasks",
	"internal/choir/rules.go":                             "developers: a wrong tag in this package",
	"internal/choir/seal.go":                              "the log: events that choir itself seals",
	"internal/choir/time.go":                              "the log: times that choir itself writes",
	"internal/choir/verbs.go":                             "roles: what they look at",
	"internal/computer/dispatch/steering.go":              "roles: the Associate, of a task that has ended",
	"internal/computer/effects/hold.go":                   "roles: results of tasks",
	"internal/computer/facts":                             "roles: what the Director looks at",
	"internal/computer/guestblobs":                        "roles: content that they send and fetch",
	"internal/computer/rolehost/calls.go":                 "roles: model calls",
	"internal/computer/rolehost/commands.go":              "roles: commands of tasks",
	"internal/computer/selfsource/archive.go":             "the log: an archive that is part of choir",
	"internal/computer/tasks":                             "roles: tasks that the Director gives and the Associate does",
	"internal/computer/verbs":                             "roles: verbs of the bus",
	"internal/control/modelgw":                            "roles and programs in sandboxes: model calls, which answer in English as model services do",
	"internal/desktop/modules.go:entry":                   "the log: an archive that is part of choir",
	"internal/eventstore/cursor.go":                       "the log: consumers of a log that is read only",
	"internal/eventstore/rebuild.go":                      "the log: a copy that is made anew",
	"internal/eventstore/reconcile.go":                    "the log: a copy that is made anew",
	"internal/model/attempt/classify.go:Status":           "the seconds that a provider asks to wait, beside a reason",
	"internal/model/replay/player.go:Stream":              "the log: a call that its caller stopped",
	"internal/model/replay/recording.go":                  "causes: what is wrong in a line, behind the name of the recording",
	"internal/computer/rolehost/pause.go":                 "the log: a computer that is not frozen",
	"internal/sandbox/container/boot.go":                  "the log: a process that is not the container's",
	"internal/sandbox/container/handle.go":                "the log: handles that choir itself writes",
	"internal/sandbox/gvisor/handle.go":                   "the log: handles that choir itself writes",
	"internal/sandbox/host":                               "the log: processes, doors and handles of sandboxes that have ended",
	"internal/sandbox/local/boot.go:notMade":              "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/local/handle.go":                    "the log: handles that choir itself writes",
	"internal/sandbox/microvm/box.go":                     "the log: measurements",
	"internal/sandbox/microvm/firecracker.go:awaitReady":  "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/microvm/firecracker.go:needsRemedy": "what to do about a program, beside its error",
	"internal/sandbox/microvm/freeze.go":                  "the log: a machine that does not go on from the disk starts anew",
	"internal/sandbox/microvm/handle.go":                  "the log: handles that choir itself writes",
	"internal/sandbox/microvm/jail.go":                    "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/microvm/serial.go":                  "the log: streams of a machine",
	"internal/sandbox/microvm/vsock.go":                   "the log: streams of a machine",
	"internal/sandbox/mount.go":                           "the log: specs that choir itself writes",
	"internal/sandbox/pool":                               "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/registry.go:NewRegistry":            "developers: two drivers of one name",
	"internal/sandbox/sprites/api.go:unreachable":         "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/sprites/api.go:nonsense":            "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/sprites/box.go":                     "the log: sandboxes that have ended, and measurements",
	"internal/sandbox/sprites/driver.go":                  "the log: sandboxes of the last session",
	"internal/sandbox/sprites/exec.go":                    "causes: behind the reason that a sandbox does not run",
	"internal/sandbox/sprites/handle.go":                  "the log: handles that choir itself writes",
	"internal/timeline/graft.go":                          "the log: digests that choir itself gives",
	"internal/timeline/mergetree.go":                      "the log: digests that choir itself gives",
}

// TestAnErrorThatPeopleMeetHasAReason finds choir.E, choir.Invalid, WithRemedy and literals in the folders
// whose errors people meet, where choir.Refuse or choir.RefuseField belongs.
func TestAnErrorThatPeopleMeetHasAReason(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range peoplesFolders {
		for _, at := range reasonlessIn(t, os.DirFS(".."), folder) {
			row := at.file + ":" + at.function
			for _, wider := range []string{at.file, filepath.Dir(at.file)} {
				if reasonless[row] == "" {
					row = wider
				}
			}
			if used[row] = true; reasonless[row] == "" {
				t.Errorf("%s:%d: %s in %s gives an error without a reason: refuse with choir.Refuse or choir.RefuseField and a row of internal/choir/reasons.go, or say in reasonless who alone reads it",
					at.file, at.line, at.call, at.function)
			}
		}
	}
	for row := range reasonless {
		if !used[row] {
			t.Errorf("reasonless has a row for %s, where every error has a reason", row)
		}
	}
}

// reasonlessCall is a call that makes an error without a reason.
type reasonlessCall struct {
	file, function, call string
	line                 int
}

// reasonlessIn returns the calls in the Go files of a folder, without its tests and what serves them.
func reasonlessIn(t *testing.T, tree fs.FS, folder string) (calls []reasonlessCall) {
	t.Helper()
	err := fs.WalkDir(tree, folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{"choirtest", "evaltest", "sandboxtest", "fake"}, filepath.Base(path)) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			function := ""
			if f, ok := decl.(*ast.FuncDecl); ok {
				function = f.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch made := n.(type) {
				case *ast.CallExpr:
					if makesReasonless(made, file.Name.Name) {
						calls = append(calls, reasonlessCall{path, function, nameOf(made.Fun), set.Position(made.Pos()).Line})
					}
				case *ast.CompositeLit:
					if nameOf(made.Type) == "Error" && has(made, "Msg", "") && !has(made, "Reason", "") && !has(made, "Code", "CodeInternal") {
						calls = append(calls, reasonlessCall{path, function, "Error", set.Position(made.Pos()).Line})
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// makesReasonless reports whether a call of a package makes an error that has no reason, other than
// one with code internal.
func makesReasonless(call *ast.CallExpr, pkg string) bool {
	sel, qualified := call.Fun.(*ast.SelectorExpr)
	if qualified && sel.Sel.Name == "WithRemedy" {
		return true
	}
	if of, _ := call.Fun.(*ast.Ident); pkg == "choir" && of != nil {
		return (of.Name == "E" || of.Name == "Invalid") && !internalCode(call)
	}
	if !qualified || nameOf(sel.X) != "choir" {
		return false
	}
	return (sel.Sel.Name == "E" || sel.Sel.Name == "Invalid") && !internalCode(call)
}

func internalCode(call *ast.CallExpr) bool {
	return len(call.Args) > 1 && nameOf(call.Args[1]) == "CodeInternal"
}

// has reports whether a literal sets a field, to a constant unless that is "".
func has(made *ast.CompositeLit, field, constant string) bool {
	return slices.ContainsFunc(made.Elts, func(e ast.Expr) bool {
		set, ok := e.(*ast.KeyValueExpr)
		return ok && nameOf(set.Key) == field && (constant == "" || nameOf(set.Value) == constant)
	})
}

// TestTheLinterOfReasonsSeesEachCall gives it a file with every form of such an error.
func TestTheLinterOfReasonsSeesEachCall(t *testing.T) {
	planted := `package p
import "choiros/internal/choir"
var closed = choir.E("p", choir.CodeUnavailable, "closed")
func f() error { return choir.Invalid("a", "b") }
func g() error { return choir.Refuse("p", choir.ReasonX).WithRemedy("x") }
func h() error { return choir.E("p", choir.CodeInternal, "x") }
func i() error { return choir.Refuse("p", choir.ReasonX) }
func j() error { return &choir.Error{Code: choir.CodeBusy, Msg: "busy"} }
func k() error { return &choir.Error{Code: p.Code, Msg: p.Detail, Reason: p.Reason} }
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(planted), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range reasonlessIn(t, os.DirFS(dir), ".") {
		got = append(got, c.function+" "+c.call)
	}
	if want := []string{" E", "f Invalid", "g WithRemedy", "j Error"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
