package conductor

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// lookLog is a log whose looks show one text.
type lookLog struct {
	blobLog
	text string
	err  error
	seen *[]choir.LookRequest
}

func (l lookLog) LookAtWorkspace(_ context.Context, r choir.LookRequest) (string, error) {
	*l.seen = append(*l.seen, r)
	return l.text, l.err
}

func TestLook(t *testing.T) {
	t.Parallel()
	task := choir.DeriveID(pastRun, "task")
	a := &attempt{step: choir.PlanStep{ID: "a"}, task: choir.DirectorTask{TaskID: task}}
	a.result.Diff = &choir.Diff{Format: "unified", Content: "-one\n+two\n</data>\n"}
	for _, c := range []struct {
		input   string
		results []*attempt
		err     error
		want    string
		asked   *choir.LookRequest
	}{
		{`{"what":"list"}`, nil, nil, "<data name=\"list\">\nheron <\\/data>\n</data>", &choir.LookRequest{Run: pastRun, What: "list"}},
		{`{"what":"read","path":"x","from":2,"lines":3}`, []*attempt{a}, nil, "<data name=\"read x\">", &choir.LookRequest{Run: pastRun, Task: task, What: "read", Path: "x", From: 2, Lines: 3}},
		{`{"what":"search","path":"x","pattern":"h"}`, nil, nil, "<data name=\"search x\">", &choir.LookRequest{Run: pastRun, What: "search", Path: "x", Pattern: "h"}},
		{`{"what":"diff"}`, []*attempt{a}, nil, "<data name=\"diff of step a\">\n1\t-one\n2\t+two\n3\t<\\/data>\n</data>", nil},
		{`{"what":"diff","step":"a","from":2,"lines":1}`, []*attempt{a}, nil, "2\t+two\nlines 2 to 2 of 3", nil},
		{`{"what":"log"}`, []*attempt{a}, nil, "There is no log of step a.", nil},
		{`{"what":"log"}`, nil, nil, "refused: what no task has returned yet", nil},
		{`{"what":"diff","from":9}`, []*attempt{a}, nil, "refused: from the diff has 3 lines", nil},
		{`{"what":"diff","path":"x"}`, []*attempt{a}, nil, "refused: path and pattern are not for diff", nil},
		{`{"what":"read","step":"b"}`, []*attempt{a}, nil, `refused: step no task of step "b" has returned`, nil},
		{`{"what":"search"}`, nil, nil, "refused: pattern is required to search", nil},
		{`{"what":"read","pattern":"h"}`, nil, nil, "refused: pattern is only for search", nil},
		{`{"what":"list","lines":2}`, nil, nil, "refused: from and lines are only for read", nil},
		{`{"what":"eat"}`, nil, nil, "refused: what", nil},
		{`{"what":"read","path":"y"}`, nil, choir.Invalid("path", "there is no y"), "refused: path there is no y", &choir.LookRequest{Run: pastRun, What: "read", Path: "y"}},
		{`{"what":"list"}`, nil, choir.E("x", choir.CodeNotFound, "gone"), "refused: no snapshot of the workspace is kept of then", &choir.LookRequest{Run: pastRun, What: "list"}},
	} {
		var seen []choir.LookRequest
		r := pastOf(lookLog{text: "heron </data>\n", err: c.err, seen: &seen})
		r.evidence.results = c.results
		got, err := r.lookAtPart(t.Context(), model.Block{CallID: "1", Input: json.RawMessage(c.input)})
		if err != nil || !strings.HasPrefix(got.Text, c.want) && !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %v\n%q", c.input, err, got.Text)
		}
		if strings.Count(got.Text, "</data>") > 1 || got.IsError != strings.HasPrefix(c.want, "refused: ") {
			t.Errorf("%s: %+v", c.input, got)
		}
		if (c.asked == nil) != (len(seen) == 0) || c.asked != nil && seen[0] != *c.asked {
			t.Errorf("%s: asked %+v", c.input, seen)
		}
	}
}

// TestAFailedLookEndsNothingForGood: a computer that does not answer is no mistake of the
// model.
func TestAFailedLookEndsNothingForGood(t *testing.T) {
	t.Parallel()
	var seen []choir.LookRequest
	r := pastOf(lookLog{err: choir.E("x", choir.CodeUnavailable, "away"), seen: &seen})
	if _, err := r.lookAtPart(t.Context(), model.Block{CallID: "1", Input: json.RawMessage(`{"what":"list"}`)}); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("error %v", err)
	}
}

// TestDamageUnderALookIsToldToTheModel: the run goes on without that part.
func TestDamageUnderALookIsToldToTheModel(t *testing.T) {
	t.Parallel()
	var seen []choir.LookRequest
	r := pastOf(lookLog{err: choir.E("x", choir.CodeCorrupt, "a manifest is damaged"), seen: &seen})
	got, err := r.lookAtPart(t.Context(), model.Block{CallID: "1", Input: json.RawMessage(`{"what":"list","path":"workspace/a"}`)})
	if err != nil || !got.IsError || !strings.Contains(got.Text, "workspace/a cannot be shown") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestALookIsAnsweredAsBefore: a Director that goes on with a run shows its model what
// was shown before, whatever is there now.
func TestALookIsAnsweredAsBefore(t *testing.T) {
	t.Parallel()
	var seen []choir.LookRequest
	blobs := blobLog{}
	r := pastOf(lookLog{blobLog: blobs, text: "now", seen: &seen})
	request := blobs.putJSON(t, model.Request{Messages: []model.Message{{Role: model.User, Content: []model.Block{
		{Kind: model.ToolResult, CallID: "1", Text: "then"}, {Kind: model.ToolResult, CallID: "2", Text: "refused: then", IsError: true},
	}}}})
	r.rec.apply(choir.Event{Run: pastRun}, &choir.ModelCalled{Call: r.callID(r.calls.taken, 0), Request: request})
	for id, want := range map[string]string{"1": "then", "2": "refused: then"} {
		got, err := r.lookAtPart(t.Context(), model.Block{CallID: id, Input: json.RawMessage(`{"what":"list"}`)})
		if err != nil || got.Text != want || got.IsError != (id == "2") || len(seen) > 0 {
			t.Errorf("%+v, %v; %d looks", got, err, len(seen))
		}
	}
}
