package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"choiros/internal/guestbin"
)

// otherBuild builds a choir whose Director says everything in other words, and
// returns its path.
func otherBuild(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	conductor := filepath.Join(root, "internal/director/conductor")
	director := filepath.Join(dir, guestbin.Director)
	build(t, director, "./cmd/"+guestbin.Director, map[string]string{
		filepath.Join(conductor, "system.md"): reworded(t, dir, filepath.Join(conductor, "system.md"), "\n", "\n\nBe brief.\n"),
		filepath.Join(conductor, "words.go"): reworded(t, dir, filepath.Join(conductor, "words.go"),
			"The user asks:", "This is what the user asks for:", "Acceptance criteria to judge:", "Hold it against these:"),
	})
	choir := filepath.Join(dir, "choir")
	build(t, choir, "./cmd/choir", map[string]string{filepath.Join(root, "internal/guestbin/bin", guestbin.Director): director})
	return choir
}

// reworded is a copy of a file with other words in it.
func reworded(t *testing.T, dir, path string, words ...string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(words...).Replace(string(raw))
	if text == string(raw) {
		t.Fatalf("%s has none of %q", path, words)
	}
	to := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// build builds a program with other files in the place of some.
func build(t *testing.T, to, program string, instead map[string]string) {
	t.Helper()
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": instead})
	if err != nil {
		t.Fatal(err)
	}
	path := to + ".overlay.json"
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "build", "-overlay", path, "-ldflags", "-s -w", "-o", to, program)
	c.Dir, c.Env = "../..", append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", program, err, out)
	}
}

// TestARunThatOneBuildBeganIsEndedByAnother kills choir while the Director's model is
// asked about the result of a task, and starts a choir whose prompts and words are
// others: the conversation goes on as it was begun, and the question that was never
// answered is asked in the new words.
func TestARunThatOneBuildBeganIsEndedByAnother(t *testing.T) {
	t.Parallel()
	s := scriptNamed(t, "two_dependent_tasks")
	m := newMachine(t, "")
	server := m.model(s)
	g := newGate("Result of step")
	server.Config.Handler = g.before(server.Config.Handler)
	open := sync.OnceFunc(func() { close(g.opened) })
	t.Cleanup(open)
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	run := begin(t, c, s)
	<-g.reached
	r.kill()
	m.program = otherBuild(t)
	open()
	r = m.up()
	c = m.client()
	r.healthy()
	events := m.play(c, s, run)
	checkScript(t, c, s, run, events)
	asked := server.Requests()
	last := asked[len(asked)-1]
	if !strings.Contains(last.Messages[0].Text, "The user asks:") || !strings.Contains(last.System, "Be brief.") {
		t.Errorf("the last call begins with %q and %q", last.System, last.Messages[0].Text)
	}
	if said := fmt.Sprint(last.Messages); !strings.Contains(said, "Hold it against these:") {
		t.Errorf("the question that was not answered was not asked again: %s", said)
	}
}
