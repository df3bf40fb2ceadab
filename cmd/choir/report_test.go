package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/logbook"
)

// leak begins every word that is planted, so that a part of one is found too.
const leak = "zq-leak-"

// leakySettings have secrets where they belong, and where people put them by mistake.
const leakySettings = `
[models]
director = "one/director"
associate = "two/associate"
[[models.provider]]
name = "one"
kind = "openai"
base_url = "http://127.0.0.1:1/zq-leak-path?key=zq-leak-query"
key_file = %q
free = true
[[models.provider]]
name = "two"
kind = "openai"
base_url = "http://127.0.0.1:1"
key_env = "zq-leak-key-where-its-name-belongs"
free = true
[[models.provider]]
name = "three"
kind = "openai"
key_env = "SECRET_KEY"
free = true
`

// TestAReportHoldsNoSecret plants secrets and the owner's words wherever they can be, and
// packs a report of a choir that runs, of one that was stopped, and of one whose
// configuration is refused.
func TestAReportHoldsNoSecret(t *testing.T) {
	m := newMachine(t, "")
	m.env = append(m.env, "SECRET_KEY=zq-leak-key-in-a-variable", "ANYTHING=zq-leak-variable with \"quotes\" & <more>")
	key := filepath.Join(t.TempDir(), "key")
	kept := filepath.Join(m.data, "keys", "models", "page")
	for path, content := range map[string]string{
		key: "zq-leak-key-in-a-file\n", kept: "zq-leak-key-of-the-page\n", filepath.Join(m.data, "zq-leak-beside.txt"): "zq-leak-beside",
		filepath.Join(m.data, "models.toml"): "[[provider]]\nname = \"page\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/zq-leak-page\"\nfree = true\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m.configure(fmt.Sprintf(leakySettings, key))
	up := m.up()
	up.healthy()
	tokens := plantWork(t, m, up)
	if said := m.run("doctor", "--json"); !strings.Contains(said.out, leak) {
		t.Error("nothing of the secrets comes out of the doctor, so that the report has nothing to hold back")
	}
	running := packed(t, m)
	up.stop()
	book := logbook.NewFile(filepath.Join(m.data, "choir.log"), logbook.FileBytes)
	log := logbook.New(io.Discard, book)
	log.Error("a command failed", "error", choir.Wrap("bus.publish", choir.CodeNoSpace, errors.New(leak+"cause"), leak+"message"), "path", leak+"path", "output", leak+"output", "name", leak+"name")
	fmt.Fprintln(book, leak+"line")
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	stopped := packed(t, m)
	m.configure("[[models.provider]]\nname = \"one\"\nkind = \"openai\"\nbase_url = \"https://zq-leak-user:zq-leak-word@127.0.0.1:1\"\nfree = true\n")
	if said := m.run("doctor"); !strings.Contains(said.errOut, leak) {
		t.Errorf("the refusal does not say what was wrong: %s", said.errOut)
	}
	refused := packed(t, m)
	for what, parts := range map[string]map[string]string{"running": running, "stopped": stopped, "refused": refused} {
		for name, content := range parts {
			for _, secret := range append(tokens, leak) {
				if at := strings.Index(content, secret); at >= 0 {
					t.Errorf("%s: %s has a secret: %s", what, name, content[max(0, at-60):min(len(content), at+60)])
				}
			}
			if strings.HasSuffix(name, ".json") && !json.Valid([]byte(content)) {
				t.Errorf("%s: %s is no JSON: %.200s", what, name, content)
			}
		}
	}
	reportTells(t, running, stopped, refused)
}

// plantWork has the owner's words go everywhere, and returns the tokens of the day.
func plantWork(t *testing.T, m *machine, up *running) []string {
	t.Helper()
	c := m.client()
	shell := "mkdir -p workspace; echo zq-leak-content > workspace/zq-leak-file; echo zq-leak-stdout; echo zq-leak-stderr >&2"
	task := strings.Replace(shellTask("edit_repo", "", shell, `,"verify_profile":{"mode":"none"}`), `"repo":"",`, "", 1)
	if r := m.runWith(strings.Replace(task, "Do it.", "zq-leak-instruction", 1), "task", "-"); r.code != 0 {
		t.Fatalf("the task: %d %s%s", r.code, r.out, r.errOut)
	}
	if r := m.run("prompt", "zq-leak-prompt"); r.code == 0 {
		t.Fatal("a model answers at port 1")
	}
	var doc struct{ ID choir.ID }
	if err := c.post(t.Context(), c.path("/documents"), map[string]string{"title": "zq-leak-title", "content": "zq-leak-document"}, &doc); err != nil {
		t.Fatal(err)
	}
	if err := c.post(t.Context(), c.path("/fork"), api.ForkRequest{Name: "zq-leak-computer"}, nil); err != nil {
		t.Fatal(err)
	}
	v := &visitor{r: up}
	if got := v.logIn(up.Login); got != http.StatusNoContent {
		t.Fatalf("login: %d", got)
	}
	_, link, _ := strings.Cut(up.Login, "#")
	_, next, _ := strings.Cut(strings.TrimSpace(m.must("up", "--link")), "#")
	tokens := []string{link, next, v.cookie.Value, strings.TrimSpace(m.must("metrics", "token"))}
	for _, planted := range []string{"zq-leak-prompt", "zq-leak-instruction", "zq-leak-document", "zq-leak-content", "zq-leak-computer", "zq-leak-key-of-the-page"} {
		if !holds(t, m.data, planted) {
			t.Errorf("%s is nowhere, so that nothing is seen by its absence", planted)
		}
	}
	return tokens
}

// packed packs a report, and returns what it unpacks to, and what was printed.
func packed(t *testing.T, m *machine) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	printed := m.must("doctor", "--report", path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if again := m.run("doctor", "--report", path); again.code == 0 || !strings.Contains(again.errOut, "is there already") {
		t.Errorf("a file that is there is written over: %d %s", again.code, again.errOut)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	// The path is the test's own, which the environment of a test may name.
	parts := map[string]string{"printed": strings.ReplaceAll(printed, path, "")}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		raw, readErr := io.ReadAll(archive)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		parts[strings.TrimPrefix(head.Name, "choir-report/")] = string(raw)
	}
}

// reportTells holds what the reports have against what a maintainer needs.
func reportTells(t *testing.T, running, stopped, refused map[string]string) {
	t.Helper()
	names := []string{"CONTENTS.txt", "computers.json", "configuration.json", "doctor.json", "goroutines.txt", "log.json", "machine.json", "printed", "sizes.json", "versions.json"}
	for what, parts := range map[string]map[string]string{"running": running, "stopped": stopped, "refused": refused} {
		want := slices.Clone(names)
		if what != "running" {
			want = slices.DeleteFunc(want, func(name string) bool { return name == "goroutines.txt" })
		}
		if what == "refused" {
			want = slices.DeleteFunc(want, func(name string) bool {
				return slices.Contains([]string{"configuration.json", "doctor.json"}, name)
			})
		}
		var got []string
		for name := range parts {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: the report has %q", what, got)
		}
		if !strings.HasPrefix(parts["printed"], parts["CONTENTS.txt"]) || !strings.Contains(parts["printed"], "Left out:") {
			t.Errorf("%s: what is printed is not what is in it: %s", what, parts["printed"])
		}
	}
	for name, words := range map[string][]string{
		"computers.json":     {`"` + string(choir.TypePromptSubmitted) + `": 1`, `"journal_bytes"`, `"open_tasks": 0`},
		"configuration.json": {`"models.provider[0].base_url"`, `"(set, withheld)"`, `"one/director"`, `"limits.run_cost_usd"`},
		"doctor.json":        {`"running": true`, `"level": "local`, `"name": "disk"`},
		"goroutines.txt":     {"goroutine profile:", "supervisor"},
		"machine.json":       {`"kernel": "`, `"cgroups": "`, `"net": "`},
		"versions.json":      {`"go": "go1`, "github.com/nats-io/nats-server/v2"},
		"sizes.json":         {"/journal", `"bytes"`},
	} {
		for _, word := range words {
			if !strings.Contains(running[name], word) {
				t.Errorf("%s lacks %s: %.2000s", name, word, running[name])
			}
		}
	}
	for _, word := range []string{`"error.code": "no_space"`, `"error.op": "bus.publish"`, `"a command failed"`, `"lines_that_are_no_records": 1`} {
		if !strings.Contains(stopped["log.json"], word) {
			t.Errorf("the log lacks %s: %.2000s", word, stopped["log.json"])
		}
	}
	if !strings.Contains(refused["printed"], "configuration.json: could not be read: invalid") {
		t.Errorf("a refused configuration: %s", refused["printed"])
	}
}
