package choir_test

import (
	"encoding/json"
	"errors"
	"testing"

	"choiros/internal/choir"
)

// TestToldCarriesTheSentencesInside: as data of their own, and in the English text; a text without data
// fills its placeholder as it is.
func TestToldCarriesTheSentencesInside(t *testing.T) {
	t.Parallel()
	known := choir.TellSentence("k.inner", "{n} of {all}", choir.CountOf("n", 2), choir.CountOf("all", 3))
	told := choir.TellAround("k.outer", "{a}; {b}; {c}", map[string]choir.Told{"a": known, "b": {Text: "{c}\nnext"}}, choir.TextOf("c", "end"))
	if want := "2 of 3; {c}\nnext; end"; told.Text != want {
		t.Errorf("it says %q, want %q", told.Text, want)
	}
	raw, err := json.Marshal(told.Said)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"key":"k.outer","values":[{"name":"c","kind":"text","text":"end"},{"name":"b","kind":"text","text":"{c}\nnext"}],` +
		`"inside":{"a":{"key":"k.inner","values":[{"name":"n","kind":"count","number":2},{"name":"all","kind":"count","number":3}]}}}`
	if string(raw) != want {
		t.Errorf("the data are %s, want %s", raw, want)
	}
}

// TestAProblemIsToldByItsReasonIfItSaysNoMore: a cause that no catalogue has stays readable in English.
func TestAProblemIsToldByItsReasonIfItSaysNoMore(t *testing.T) {
	t.Parallel()
	e := choir.Refuse("", choir.ReasonQuotaNotRoot)
	said, help := choir.TellError(e)
	if said.Said == nil || said.Said.Key != "said.quota_not_root" || help.Said == nil || help.Said.Key != "help.quota_not_root" || help.Text != e.Remedy {
		t.Errorf("said %+v, help %+v", said, help)
	}
	e.Err = errors.New("a cause")
	if said, help = choir.TellProblem(*choir.ProblemOf(e)); said.Said != nil || said.Text == e.Msg || help.Said == nil {
		t.Errorf("with a cause: said %+v, help %+v", said, help)
	}
}
