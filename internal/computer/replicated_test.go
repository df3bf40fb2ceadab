package computer

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus/cluster"
	"choiros/internal/choir"
)

// A role is told to ask again while the cluster is away, so that its run waits; a
// person is told what is the matter. Both times the event is in the log, once.
func TestARoleAsksAgainUntilItsEventsAreReplicated(t *testing.T) {
	t.Parallel()
	c, err := Open(t.Context(), Config{
		ID: newTestID(t), User: newTestID(t), Name: "lab", Dir: t.TempDir(),
		OpenBlobs: func(dir string) (blob.Store, error) { return fs.Open(dir) },
		Cluster:   &cluster.Config{Servers: []string{"nats://127.0.0.1:1"}, Timeout: 50 * time.Millisecond},
		Now:       time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run := newTestID(t)
	refused, err := choir.NewDraft(newTestID(t), choir.PlanRefused{Problems: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(choir.AppendRequest{Drafts: []choir.Draft{refused.ForRun(run, "")}})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := c.Store().Head()
	for range 2 {
		_, err = c.Verbs().Handle(t.Context(), choir.Caller{Role: choir.RoleDirector}, choir.VerbAppend, body)
		if choir.CodeOf(err) != choir.CodeBusy {
			t.Errorf("the Director is told %v", err)
		}
	}
	if after, _ := c.Store().Head(); after != before+1 {
		t.Errorf("the log grew by %d events", after-before)
	}
	if _, _, err := c.Runs().Prompt(t.Context(), choir.RoleShell, choir.PromptSubmitted{Text: "hello"}, newTestID(t)); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a person is told %v", err)
	}
}
