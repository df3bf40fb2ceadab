package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// instance is one line of a published data set in the form of SWE-bench. Fields that are not named here
// are ignored, since data sets add their own.
type instance struct {
	ID        string   `json:"instance_id"`
	Repo      string   `json:"repo"`
	Commit    string   `json:"base_commit"`
	Problem   string   `json:"problem_statement"`
	TestPatch string   `json:"test_patch"`
	Fail      testList `json:"FAIL_TO_PASS"`
	Pass      testList `json:"PASS_TO_PASS"`
	// TestCommand is a command line for sh in place of the command for the names of the tests. It
	// is no field of SWE-bench.
	TestCommand string `json:"test_command"`
}

// testList is a list of names of tests: JSON, or JSON in a string as SWE-bench publishes it.
type testList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *testList) UnmarshalJSON(raw []byte) error {
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		if raw = []byte(inner); strings.TrimSpace(inner) == "" {
			return nil
		}
	}
	var names []string
	err := json.Unmarshal(raw, &names)
	*l = names
	return err
}

// maxInstance is the maximum length of one line, in bytes.
const maxInstance = 64 << 20

// readInstances reads a file with one instance a line.
func readInstances(path, repos string) ([]Task, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, choir.Refuse("eval.load", choir.ReasonEvalInstancesUnreadable, choir.TextOf("why", err))
	}
	defer f.Close()
	all, err := parseInstances(f, repos)
	return all, choir.Wrap("eval.load", "", err, "%s", path)
}

// parseInstances parses instances, one a line, whose repositories are below the folder repos. Code
// invalid: a line is none; the error names it.
func parseInstances(r io.Reader, repos string) ([]Task, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxInstance)
	var all []Task
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var i instance
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			return nil, choir.Wrap("eval.load", choir.CodeInvalid, err, "line %d is no instance", n)
		}
		t, err := taskOf(i, repos)
		if err != nil {
			return nil, choir.Wrap("eval.load", "", err, "line %d", n)
		}
		all = append(all, t)
	}
	if err := lines.Err(); err != nil {
		return nil, choir.Wrap("eval.load", choir.CodeInvalid, err, "read the instances")
	}
	if len(all) == 0 {
		return nil, choir.Refuse("eval.load", choir.ReasonEvalNoInstances)
	}
	return all, nil
}

// The files that are put into a result for the check of an instance.
const (
	patchFile = ".choir-eval-test.patch"
	testsFile = ".choir-eval-tests"
)

// commitName is a full or shortened name of a commit.
var commitName = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// taskOf returns the task of an instance.
func taskOf(i instance, repos string) (Task, error) {
	if !commitName.MatchString(i.Commit) {
		return Task{}, choir.RefuseField("base_commit", choir.ReasonEvalNotACommit, choir.TextOf("given", i.Commit))
	}
	tests := slices.Concat(i.Fail, i.Pass)
	if len(i.Fail) == 0 {
		return Task{}, choir.RefuseField("FAIL_TO_PASS", choir.ReasonEvalNoTest, choir.TextOf("name", i.ID))
	}
	clone, err := findClone(repos, i.Repo)
	if err != nil {
		return Task{}, err
	}
	t := Task{
		Name: i.ID, Prompt: strings.TrimSpace(i.Problem), Clone: &Clone{Path: clone, Commit: i.Commit},
		Check: testCommand(i, tests),
		Limit: DefaultLimit, CheckLimit: DefaultLimit,
		Hidden: func(base Tree) (Tree, error) { return hiddenOf(i, tests, base), nil },
	}
	if strings.TrimSpace(i.TestPatch) != "" {
		t.Check = "git apply --whitespace=nowarn " + patchFile + " || exit 99\n" + t.Check
	}
	return t, checkTask(&t)
}

// findClone returns the folder of a repository below repos, as OWNER__NAME or OWNER/NAME.
func findClone(repos, name string) (string, error) {
	if repos == "" {
		return "", choir.RefuseField("--repos", choir.ReasonEvalNoRepos, choir.TextOf("name", name))
	}
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.ContainsAny(repo, "/\\") || strings.HasPrefix(owner, ".") || strings.HasPrefix(repo, ".") {
		return "", choir.RefuseField("repo", choir.ReasonEvalOwnerName, choir.TextOf("given", name))
	}
	for _, at := range []string{owner + "__" + repo, filepath.Join(owner, repo)} {
		for _, ending := range []string{"", ".git"} {
			path := filepath.Join(repos, at+ending)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			} else if !errors.Is(err, os.ErrNotExist) {
				return "", choir.Wrap("eval.load", choir.CodeUnavailable, err, "find the clone of %s", name)
			}
		}
	}
	return "", choir.Refuse("eval.load", choir.ReasonEvalNoClone, choir.TextOf("path", repos), choir.TextOf("name", name), choir.TextOf("folder", filepath.Join(repos, owner+"__"+repo)))
}

// patched finds the paths that a unified diff changes.
var patched = regexp.MustCompile(`(?m)^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)`)

// hiddenOf returns the patch of the tests, their names, and the files that the patch changes as the base has
// them, so that it applies whatever the run did to them.
func hiddenOf(i instance, tests []string, base Tree) Tree {
	patch := i.TestPatch
	if patch != "" && !strings.HasSuffix(patch, "\n") {
		patch += "\n"
	}
	t := Tree{patchFile: {Content: []byte(patch)}, testsFile: {Content: []byte(strings.Join(tests, "\n") + "\n")}}
	for _, m := range patched.FindAllStringSubmatch(patch, -1) {
		if m[1] == "/dev/null" {
			continue
		}
		if f, ok := base[m[1]]; ok {
			t[m[1]] = f
		} else {
			t[m[1]] = File{Absent: true}
		}
	}
	return t
}

// goTest is the name of a test of Go.
var goTest = regexp.MustCompile(`^(?:Test|Example|Fuzz)[A-Za-z0-9_]*(?:/.*)?$`)

// testCommand returns the command line that runs the tests of an instance: its own, that of go test if all
// are names of Go tests, and that of pytest otherwise.
func testCommand(i instance, tests []string) string {
	switch {
	case i.TestCommand != "":
		return i.TestCommand
	case !slices.ContainsFunc(tests, func(name string) bool { return !goTest.MatchString(name) }):
		return goCommand(tests)
	}
	return "tr '\\n' '\\0' <" + testsFile + " | PYTHONPATH=\"$PWD/src:$PWD:$PYTHONPATH\" xargs -0 python3 -m pytest -q -p no:cacheprovider"
}

// goCommand returns the command line that runs Go tests by name, and fails if one of them did not run and
// pass: go test says ok of names that nothing has.
func goCommand(tests []string) string {
	top := map[string]bool{}
	var names []string
	for _, t := range tests {
		name, _, _ := strings.Cut(t, "/")
		if !top[name] {
			top[name] = true
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	return fmt.Sprintf(`out=$(mktemp)
go test -vet=off -count=1 -v -run '^(%s)$' ./... >"$out" 2>&1
tail -c 4000 "$out"
while IFS= read -r name; do
  grep -qF -e "--- PASS: $name (" "$out" || { echo "did not pass: $name"; exit 1; }
  if grep -qF -e "--- FAIL: $name (" "$out"; then exit 1; fi
done <%s`, strings.Join(names, "|"), testsFile)
}
