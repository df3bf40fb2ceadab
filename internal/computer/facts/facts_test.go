package facts_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/facts"
	"choiros/internal/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// prompt is a log with one prompt.
type prompt struct{ repo string }

func (p prompt) First(_ context.Context, _ choir.Type, subject ...string) (choir.Event, error) {
	if subject[0] != string(run) {
		return choir.Event{}, choir.E("test", choir.CodeNotFound, "no such run")
	}
	raw, err := choir.Canonical(choir.PromptSubmitted{Text: "x", Repo: p.repo})
	return choir.Event{Seq: 7, Payload: raw}, err
}

var run = choir.DeriveID("019f0000-0000-7000-8000-000000000000", "run")

// factsOf takes a snapshot of files and returns the facts of a run about repo.
func factsOf(t *testing.T, repo string, files map[string]string) string {
	t.Helper()
	keeper := snapshot.NewKeeper(mem.New(mem.Config{}))
	root := snapshotOf(t, keeper, folderOf(t, files))
	tree := func(_ context.Context, seq uint64) (choir.Digest, error) {
		if seq != 7 {
			t.Errorf("the tree of event %d", seq)
		}
		return root, nil
	}
	got, err := facts.New(prompt{repo}, tree, keeper).Read(t.Context(), run)
	if err != nil || len(got.Text) > choir.MaxFacts {
		t.Fatalf("%d bytes, %v", len(got.Text), err)
	}
	return got.Text
}

// folderOf writes files into a new folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func snapshotOf(t *testing.T, keeper *snapshot.Keeper, dir string) choir.Digest {
	t.Helper()
	in, err := keeper.NewIntake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Discard()
	scanner := snapshot.NewScanner(dir, snapshot.ScanConfig{})
	res, err := scanner.Scan(t.Context(), func(o snapshot.Object) error { return in.Add(t.Context(), o) })
	if err == nil {
		_, _, err = in.Commit(t.Context(), res.Root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return res.Root
}

func TestTheFactsOfAProject(t *testing.T) {
	t.Parallel()
	got := factsOf(t, "pond", map[string]string{
		"workspace/pond/go.mod": "module pond\n", "workspace/pond/pond.go": "package pond\n", "workspace/pond/duck/duck.go": "package duck\n",
		"workspace/pond/duck/duck_test.go": "package duck\n", "workspace/pond/run.sh": "", "workspace/pond/node_modules/x/index.js": "",
		"workspace/pond/README.md": "[![badge](x)]\n# Pond\n\nCounts\tducks.\x1b[31m\n", "workspace/pond/AGENTS.md": "Run go test before you answer.\n",
		"workspace/pond/.git/logs/HEAD": "0 1 A <a> 1 +0000\tclone: from x\n1 2 A <a> 2 +0000\tcommit: Add ducks\n2 1 A <a> 3 +0000\treset: moving to HEAD\n1 3 A <a> 4 +0000\tcommit: Count them\n",
		"workspace/other/go.mod":        "", "choiros/package.json": "{}",
	})
	want := `workspace/pond/: 7 files; Go, Shell
  in it: AGENTS.md, README.md, duck/ (2), go.mod, node_modules/, pond.go, run.sh
  check: go test ./...
  commits here, the newest first: Count them; Add ducks
  README: # Pond / Counts ducks. [31m
  AGENTS.md: Run go test before you answer.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheFactsOfAllProjectsFit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"choiros/package.json": "{}", "artifacts/a.md": "x", "notes.txt": "x"}
	for i := range 40 {
		dir := fmt.Sprintf("workspace/p%02d/", i)
		files[dir+"package.json"] = `{"scripts":{"test":"x"}}`
		files[dir+"README"] = strings.Repeat("words and ", 400)
		files[dir+strings.Repeat("n", 200)] = ""
	}
	got := factsOf(t, "", files)
	for _, want := range []string{
		"choiros/ holds the source of this computer's desktop\n", "artifacts/ holds documents", "workspace/p00/: 3 files\n", "check: npm test\n", "projects more\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestAMonorepoIsCheckedInItsFolders(t *testing.T) {
	t.Parallel()
	got := factsOf(t, "m", map[string]string{"workspace/m/a/go.mod": "", "workspace/m/a/a_test.go": "", "workspace/m/b/Cargo.toml": ""})
	if !strings.Contains(got, "check: go test ./... in a; cargo test --offline in b\n") {
		t.Error(got)
	}
}

// A plan went by the check pytest on a machine without it: the facts cannot know, and say so.
func TestACheckByPytestIsNotPromised(t *testing.T) {
	t.Parallel()
	got := factsOf(t, "app", map[string]string{"workspace/app/test_a.py": "import pytest\n", "workspace/app/pyproject.toml": ""})
	if !strings.Contains(got, "check: python3 -m pytest -q -p no:cacheprovider --continue-on-collection-errors (if pytest is on this machine)\n") {
		t.Errorf("the facts are %s", got)
	}
}

// TestATreeOfManyFoldersIsReadInPart: no more folders are read than the limit.
func TestATreeOfManyFoldersIsReadInPart(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("workspace/w/d%d/f.c", i)] = fmt.Sprint(i)
	}
	if got := factsOf(t, "w", files); !strings.HasPrefix(got, "workspace/w/: more than 4") {
		t.Error(got)
	}
}

func TestWithoutASnapshotOrARunThereAreNoFacts(t *testing.T) {
	t.Parallel()
	none := func(context.Context, uint64) (choir.Digest, error) {
		return "", choir.E("test", choir.CodeNotFound, "none")
	}
	f := facts.New(prompt{"pond"}, none, snapshot.NewKeeper(mem.New(mem.Config{})))
	if got, err := f.Read(t.Context(), run); err != nil || got.Text != "" {
		t.Errorf("%q, %v", got.Text, err)
	}
	if _, err := f.Read(t.Context(), "other"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Error(err)
	}
	if got := factsOf(t, "gone", map[string]string{"workspace/pond/a": ""}); got != "" {
		t.Errorf("of a project that is not there: %q", got)
	}
}
