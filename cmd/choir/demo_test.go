package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/demo"
	"choiros/internal/eventstore"
)

func demoOf(t *testing.T, m *machine, args ...string) (demoReport, ran) {
	t.Helper()
	r := m.run(append([]string{"demo", "--json"}, args...)...)
	var report demoReport
	line, _, _ := strings.Cut(r.out, "\n")
	if err := json.Unmarshal([]byte(line), &report); err != nil {
		t.Logf("no report: %s", r.out)
	}
	return report, r
}

func TestTheDemo(t *testing.T) {
	m := newMachine(t, "")
	for _, round := range []string{"on a new computer", "again"} {
		report, r := demoOf(t, m)
		if r.code != 0 || report.Commit == "" || !report.Verified || report.LastSeq <= report.FirstSeq || report.Isolation == "" || report.Tree == "" {
			t.Fatalf("%s: exit code %d, %+v\n%s", round, r.code, report, r.errOut)
		}
	}
	m.must("log", "--verify")
	for _, dir := range m.computers() {
		log, err := eventstore.Open(t.Context(), dir, eventstore.Config{Now: func() choir.Time { return 0 }})
		if err != nil {
			t.Fatal(err)
		}
		if same, err := log.VerifyProjections(t.Context()); err != nil || !same {
			t.Errorf("a rebuild of the demo's log gives other projections: %v", err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTheDemoFailsWithItsReason breaks one part of the demo after the other.
func TestTheDemoFailsWithItsReason(t *testing.T) {
	t.Parallel()
	t.Run("recording", func(t *testing.T) {
		damaged := bytes.Replace(demo.Recording(), []byte("most frequent"), []byte("most Frequent"), 1)
		path := filepath.Join(t.TempDir(), "recording.jsonl")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, r := demoOf(t, newMachine(t, ""), "--recording", path)
		mustFail(t, r, 1, "line 2 of the recording is damaged")
	})
	t.Run("repository", func(t *testing.T) {
		dir := brokenRepo(t, "README.md", "# tally\n", "# tally!\n")
		report, r := demoOf(t, newMachine(t, ""), "--repo", dir)
		mustFail(t, r, 1, "is not the recorded one")
		if report.Verified {
			t.Error("it claims to be verified")
		}
	})
	t.Run("verification", func(t *testing.T) {
		// The check passes until README.md names the option, and nobody recorded what the
		// model says to that.
		dir := brokenRepo(t, "Makefile", "sh tests/run.sh\n", "sh tests/run.sh && ! grep -q top README.md\n")
		_, r := demoOf(t, newMachine(t, ""), "--repo", dir)
		mustFail(t, r, 1, "is not the recorded one")
		mustFail(t, r, 1, "verification failed: make test (exit code 2)")
	})
	t.Run("sandbox", func(t *testing.T) {
		m := newMachine(t, "")
		m.env = []string{"PATH=" + t.TempDir()}
		_, r := demoOf(t, m)
		mustFail(t, r, 5, "cannot isolate a sandbox")
	})
}

func mustFail(t *testing.T, r ran, code int, reason string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.errOut, reason) {
		t.Fatalf("exit code %d, want %d with %q\n%s%s", r.code, code, reason, r.errOut, r.out)
	}
}

// brokenRepo is the demo's repository with one line changed.
func brokenRepo(t *testing.T, file, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../internal/demo/repo")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(raw), old, new, 1)
	if changed == string(raw) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
