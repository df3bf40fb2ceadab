package taskrunner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestEachRequestBeginsWithTheOneBefore byte by byte, so that a provider's cache of prompts has
// all of it: also after what the user added, a reminder and a failed check.
func TestEachRequestBeginsWithTheOneBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.tree.steering = map[int][]choir.Addition{2: {{Steering: choir.DeriveID(run, "s1"), Text: "In German, please."}}}
	l.model.responses = []model.Response{
		use("read_file", `{"path":"a.txt"}`), use("edit_file", `{"path":"a.txt","edits":[{"old":"one","new":"two"}]}`), say("Done."),
		use("todo", `{"items":[{"text":"mend it","status":"pending"}]}`), use("write_file", `{"path":"a.txt","content":"three\n"}`), say("Done now."),
	}
	check := &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: sh("grep -q three a.txt")}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: check, TokenBudget: 800})
	holds(t, r, choir.StatusOK, "")
	if len(l.model.requests) != 6 {
		t.Fatalf("%d requests", len(l.model.requests))
	}
	var before string
	for i, req := range l.model.requests {
		raw, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		head, messages := string(raw), ""
		all, err := json.Marshal(req.Messages)
		if err != nil {
			t.Fatal(err)
		}
		messages = strings.TrimSuffix(string(all), "]")
		head = strings.Replace(head, string(all), "", 1)
		now := head + messages
		if !strings.HasPrefix(now, before) {
			t.Errorf("request %d does not begin with the one before:\n%s\n%s", i, before, now)
		}
		before = now
	}
}
