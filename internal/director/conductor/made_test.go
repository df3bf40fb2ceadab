package conductor

import (
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestAnAnswerNamesAFileThatIsFound in the snapshot after the last task, or before the run. Where
// a task has returned and its snapshot is gone, the file counts as found.
func TestAnAnswerNamesAFileThatIsFound(t *testing.T) {
	t.Parallel()
	task := choir.DeriveID(pastRun, "task")
	returned := []*attempt{{step: choir.PlanStep{ID: "a"}, task: choir.DirectorTask{TaskID: task}}}
	gone := choir.E("x", choir.CodeNotFound, "gone")
	for name, c := range map[string]struct {
		results []*attempt
		look    error
		mistake string
		task    choir.ID
		err     choir.Code
	}{
		"it is there":                  {returned, nil, "", task, ""},
		"it was there before":          {nil, nil, "", "", ""},
		"it is not there":              {returned, choir.Invalid("path", "there is no file"), "path", task, ""},
		"the task's snapshot is gone":  {returned, gone, "", task, ""},
		"no snapshot, and no task":     {nil, gone, "cannot be looked up", "", ""},
		"the computer does not answer": {nil, choir.E("x", choir.CodeUnavailable, "away"), "", "", choir.CodeUnavailable},
		"the content of it is damaged": {returned, choir.E("x", choir.CodeCorrupt, "damaged"), "", task, ""},
		"damaged, and before the run":  {nil, choir.E("x", choir.CodeCorrupt, "damaged"), "", "", ""},
	} {
		var seen []choir.LookRequest
		r := pastOf(lookLog{err: c.look, seen: &seen})
		r.evidence.results = c.results
		mistake, err := r.checkMade(t.Context(), &madeInput{Path: "artifacts/pond.md"})
		if choir.CodeOf(err) != c.err {
			t.Errorf("%s: %v", name, err)
		}
		if (mistake == nil) != (c.mistake == "") || mistake != nil && !strings.Contains(mistake.Error(), c.mistake) {
			t.Errorf("%s: the mistake %v, want %q", name, mistake, c.mistake)
		}
		if len(seen) != 1 || seen[0].Task != c.task || seen[0].Path != "artifacts/pond.md" {
			t.Errorf("%s: looked at %+v", name, seen)
		}
	}
}
