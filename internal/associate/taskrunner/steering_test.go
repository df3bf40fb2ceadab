package taskrunner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestATaskAtWorkHearsWhatTheUserAdds at its next model call, once, also when its model
// believed to be done.
func TestATaskAtWorkHearsWhatTheUserAdds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.tree.steering = map[int][]choir.Addition{
		2: {{Steering: choir.DeriveID(run, "s1"), Text: "In German, please."}},
		3: {{Steering: choir.DeriveID(run, "s2"), Text: "And short."}},
	}
	l.model.responses = []model.Response{
		use("edit_file", `{"path":"a.txt","edits":[{"old":"one","new":"eins"}]}`), say("Done."), say("Done, and short."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	if len(l.model.requests) != 3 || !strings.HasPrefix(r.Summary, "Done, and short.") {
		t.Fatalf("%d requests, summary %q", len(l.model.requests), r.Summary)
	}
	last := l.model.requests[2].Messages
	if len(last) != 5 || len(last[2].Content) != 2 || !strings.HasSuffix(last[2].Content[1].Text, "the user adds the following. Follow it as far as it is about your task; the Director is told too.\n\nIn German, please.") {
		t.Errorf("after the first call the model is told %+v", last[2].Content)
	}
	if len(last[4].Content) != 1 || last[4].Role != model.User || !strings.HasSuffix(last[4].Content[0].Text, "And short.") {
		t.Errorf("when it is done it is told %+v", last[4].Content)
	}
}

// TestATaskThatIsBegunAgainMakesTheSameRequests kills the process at the second call of a
// model that was told something before it.
func TestATaskThatIsBegunAgainMakesTheSameRequests(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.tree.steering = map[int][]choir.Addition{2: {{Steering: choir.DeriveID(run, "s1"), Text: "In German, please."}}}
	l.model.responses = []model.Response{say("Done."), say("Fertig."), say("Done."), say("Fertig.")}
	event := l.dispatch(choir.DirectorTask{Kind: choir.TaskInspect, Repo: "app"})
	killed := choir.E("log", choir.CodeUnavailable, "killed")
	l.log.fail = func(d choir.Draft) error {
		if d.Type == choir.TypeTaskReturned {
			return killed
		}
		return nil
	}
	if err := l.runner.Do(context.Background(), context.Background(), event); err == nil {
		t.Fatal("it was answered")
	}
	l.log.fail = nil
	l.runner.Close()
	l.start()
	l.run(context.Background(), event)
	if n := len(l.model.requests); n != 4 {
		t.Fatalf("%d requests", n)
	}
	if diff := cmp.Diff(l.model.requests[:2], l.model.requests[2:]); diff != "" {
		t.Errorf("begun again it asks otherwise: %s", diff)
	}
}
