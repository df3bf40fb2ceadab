package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// boundary calls make something durable, or take something durable away.
var boundaryCalls = []string{
	"Sync", "Fdatasync", "Fsync", "Syncfs", "Rename", "Renameat", "Renameat2", "Commit", "ImmediateTransaction", "PublishMsg", "PublishMsgAsync",
	"Unlinkat", "Remove",
}

// gitWrites are the words of git commands that move refs, or objects.
var gitWrites = []string{"update-ref", "fast-import", "repack"}

// durable are the folders whose boundaries count.
var durable = []string{
	"internal/journal", "internal/eventstore", "internal/blob/fs", "internal/bus/hub", "internal/computer", "internal/snapshot",
	"internal/guest", "internal/associate/git", "internal/control/supervisor", "internal/control/auth", "internal/sandbox/local", "internal/sandbox/host", "internal/sandbox/gvisor",
	"internal/desktop", "internal/bus/cluster", "internal/associate/tools", "cmd/choir",
	"internal/durablefile", "internal/keyring", "internal/control/connections",
}

// harmless are calls that are no boundary, by file and function, and why.
var harmless = map[string]string{
	"internal/journal/segment.go listSegments":                "takes away what a crash left",
	"internal/blob/fs/keep.go sync":                           "one of those that syncContent passes a point for",
	"internal/blob/fs/store.go drop":                          "a temporary file",
	"internal/blob/fs/segment.go discard":                     "a file that nothing is in",
	"internal/bus/hub/door.go":                                "a socket",
	"internal/bus/hub/launch.go moveAside":                    "the bus is no truth",
	"internal/sandbox/host/door.go":                           "a socket",
	"internal/snapshot/renamenew.go":                          "its callers pass points",
	"internal/sandbox/host/parts.go RemoveGroup":              "a cgroup",
	"internal/sandbox/host/cgroup_v1.go Create":               "a cgroup",
	"internal/sandbox/host/cgroup_v2.go Create":               "a cgroup",
	"internal/sandbox/gvisor/box.go":                          "the folder of a sandbox that has ended",
	"internal/sandbox/gvisor/pause.go Continue":               "a note in the folder of a sandbox",
	"internal/guest/machine/boot.go Run":                      "a machine that ends, with its disk",
	"internal/guest/machine/mounts.go mountWorkspace":         "a folder of a new disk",
	"internal/computer/rolehost/folders.go":                   "a socket",
	"internal/computer/workspace/spool.go":                    "a temporary file",
	"internal/computer/copies/import.go flush":                "a batch of blobs, whose parts have points",
	"internal/computer/collection/collection.go Collect":      "goes through the blob store",
	"internal/snapshot/intake.go":                             "a batch of blobs, whose parts have points",
	"internal/eventstore/plain.go insertOnly":                 "the benchmark's peer",
	"internal/associate/git/git.go scratch":                   "a temporary file",
	"internal/associate/git/diff.go":                          "a scratch repository",
	"internal/associate/git/lock.go drop":                     "a lock",
	"internal/associate/git/checkpoint.go Commit":             "a message's words",
	"internal/associate/tools/drafts.go put":                  "a task that did not end is taken back whole",
	"internal/computer/verbs/verbs.go answer":                 "asks the part that records what a task changed",
	"internal/computer/workspace/files.go":                    "goes through the guest",
	"internal/computer/workspace/folders.go":                  "goes through the guest",
	"internal/computer/workspace/trash.go":                    "goes through the guest",
	"internal/computer/workspace/caches.go Without":           "a batch of blobs, whose parts have points",
	"internal/computer/selfsource/archive.go storeTree":       "a batch of blobs, whose parts have points",
	"internal/computer/projects/add.go":                       "goes through the guest",
	"internal/computer/projects/clone.go Clone":               "goes through the guest",
	"internal/computer/projects/push.go":                      "the name of a commit",
	"internal/control/supervisor/vault.go viewPush":           "the name of a commit",
	"internal/control/supervisor/vault.go Remove":             "goes through durablefile, which passes a point",
	"internal/computer/workspace/aside.go":                    "goes through the guest",
	"internal/computer/workspace/remover.go":                  "goes through the guest",
	"internal/guest/files.go renameClosed":                    "guest.rename is passed before it",
	"internal/guest/scanclient.go scan":                       "goes through the intake",
	"internal/computer/tasks/commit.go CommitCommand":         "looks at the copy in which the task works, and writes nothing",
	"internal/snapshot/removetree.go RemoveTree":              "guest.remove.tree is passed before it",
	"internal/snapshot/removetree.go moveUp":                  "remove.folder is passed before each",
	"internal/snapshot/removetree.go up":                      "remove.folder is passed before each",
	"internal/guest/unpack.go entry":                          "inside a folder that has no name yet",
	"internal/durablefile/durablefile.go RemoveUnfinished":    "takes away what a crash left",
	"internal/durablefile/durablefile.go WriteFrom":           "passes the points of its kind of files",
	"internal/durablefile/durablefile.go Sync":                "its callers pass a point, by this test",
	"internal/keyring/files/files.go Delete":                  "goes through durablefile, which passes a point",
	"cmd/choir/client.go listenSocket":                        "a socket",
	"cmd/choir/session.go":                                    "a socket",
	"cmd/choir/up.go":                                         "a socket",
	"cmd/choir/demo.go":                                       "the commit in a report",
	"cmd/choir/evalcheck.go baseOf":                           "the name of a commit",
	"cmd/choir/evalcomputer.go setModels":                     "a recording of an evaluation, which is no part of a log",
	"cmd/choir/repo.go":                                       "a file that broke off",
	"internal/control/auth/scrape.go Remove":                  "goes through durablefile, which passes a point",
	"internal/control/supervisor/system.go RemoveScrapeToken": "goes through durablefile, which passes a point",
	"internal/control/supervisor/closed.go removeClosed":      "goes through durablefile, which passes a point",
	"cmd/choir/report.go runReport":                           "a file that broke off",
}

// found is one declaration with boundary calls or points.
type found struct {
	at     string // file and name
	calls  []string
	points []string
}

// boundariesIn lists the declarations in one file that call a boundary or pass a point.
func boundariesIn(t *testing.T, name string, source any) []found {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []found
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.VAR {
			continue
		}
		one := found{at: name + " " + declared(d)}
		ast.Inspect(d, func(n ast.Node) bool {
			one.take(n)
			return true
		})
		if len(one.calls)+len(one.points) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// declared is the name of a function, or the first of variables: those that are
// durablefile.Files pass the points of a kind of file.
func declared(d ast.Decl) string {
	if f, ok := d.(*ast.FuncDecl); ok {
		return f.Name.Name
	}
	return d.(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Names[0].Name
}

func (f *found) take(n ast.Node) {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if word, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(gitWrites, word) {
			f.calls = append(f.calls, word)
		}
	}
	sel, ok := n.(*ast.SelectorExpr)
	if ok && slices.Contains(boundaryCalls, sel.Sel.Name) {
		f.calls = append(f.calls, sel.Sel.Name)
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	sel, ok = call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Point" {
		return
	}
	if lit, ok := call.Args[0].(*ast.BasicLit); ok {
		if word, err := strconv.Unquote(lit.Value); err == nil {
			f.points = append(f.points, word)
		}
	}
}

func excused(at string) bool {
	file, _, _ := strings.Cut(at, " ")
	_, function := harmless[at]
	_, whole := harmless[file]
	return function || whole
}

// all are the boundaries of the durable folders.
func all(t *testing.T) []found {
	t.Helper()
	var out []found
	root := os.DirFS("../..")
	for _, top := range append([]string{"internal", "cmd"}, durable...) {
		inDurable := slices.Contains(durable, top)
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			raw, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			for _, f := range boundariesIn(t, filepath.ToSlash(name), raw) {
				if inDurable || len(f.points) > 0 {
					out = append(out, f)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryBoundaryPassesAPoint(t *testing.T) {
	for _, f := range all(t) {
		if len(f.calls) > 0 && len(f.points) == 0 && !excused(f.at) {
			t.Errorf("%s calls %s and passes no fault.Point: add one, and a row or a reason in points.go", f.at, strings.Join(f.calls, ", "))
		}
	}
}

func TestEveryPointHasARow(t *testing.T) {
	inSource := map[string]bool{}
	for _, f := range all(t) {
		for _, p := range f.points {
			inSource[p] = true
		}
	}
	inTable := map[string]bool{}
	for _, p := range points {
		inTable[p.name] = true
	}
	for name := range inSource {
		if why, ok := unreached[name]; !inTable[name] && (!ok || why == "") {
			t.Errorf("the matrix has no row for the point %s", name)
		}
	}
	for name := range inTable {
		if !inSource[name] {
			t.Errorf("the matrix has a row for %s, which no source passes", name)
		}
	}
	if len(inSource) < 30 {
		t.Errorf("only %d points were found: the list is not read from the source", len(inSource))
	}
}

func TestAPlantedBoundaryIsFound(t *testing.T) {
	const planted = `package p
func save(f *os.File) error { return f.Sync() }
func ref(g *Git) { g.run("fast-import") }
func good(f *os.File) error { fault.Point("p.sync"); return f.Sync() }
func move() error { return os.Rename("a", "b") }
func bare() error { return durablefile.Sync("a") }
var kind = durablefile.Files{BeforeSync: func() { fault.Point("p.kind") }}`
	got := boundariesIn(t, "planted.go", planted)
	var bare []string
	for _, f := range got {
		if len(f.points) == 0 {
			bare = append(bare, f.at)
		}
	}
	if want := []string{"planted.go save", "planted.go ref", "planted.go move", "planted.go bare"}; !slices.Equal(bare, want) || len(got) != 6 || !slices.Equal(got[5].points, []string{"p.kind"}) {
		t.Errorf("found %v, want %v", bare, want)
	}
}
