package taskrunner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestAnEditIsToldWhatTheLanguageServerSays of its file, where one is installed.
func TestAnEditIsToldWhatTheLanguageServerSays(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	bin := t.TempDir()
	server := "#!/bin/sh\n[ \"$1\" = check ] || exit 9\ngrep -q broken \"$2\" && echo \"$2:1:1: this is broken\"\nexit 0\n"
	if err := os.WriteFile(filepath.Join(bin, "gopls"), []byte(server), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, v := range l.env {
		if strings.HasPrefix(v, "PATH=") {
			l.env[i] = "PATH=" + bin + ":" + strings.TrimPrefix(v, "PATH=")
		}
	}
	l.runner.Close()
	l.start()
	l.repo(map[string]string{"a.go": "package a\n"})
	l.model.responses = []model.Response{
		use("write_file", `{"path":"a.go","content":"broken\n"}`), use("edit_file", `{"path":"a.go","edits":[{"old":"broken","new":"package a"}]}`),
		use("write_file", `{"path":"b.txt","content":"broken\n"}`), say("Done."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	for i, want := range map[int]string{1: "[gopls says: a.go:1:1: this is broken]", 2: "", 3: ""} {
		got := l.model.requests[i].Messages[2*i].Content[0].Text
		if want != "" && !strings.HasSuffix(got, want) || want == "" && strings.Contains(got, "says") {
			t.Errorf("after call %d it is told %q, want %q", i, got, want)
		}
	}
}
