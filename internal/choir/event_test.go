package choir

import (
	"encoding/json"
	"testing"
)

func TestEveryRoleHasASource(t *testing.T) {
	for _, role := range Roles() {
		if !role.Source().valid() {
			t.Errorf("%s stamps %q", role, role.Source())
		}
	}
	if Role("guest").Source() != "" {
		t.Error("an unknown role has a source")
	}
}

func TestNewDraftIsStrictlyValid(t *testing.T) {
	d, err := NewDraft(testRun, PromptSubmitted{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	d = d.ForRun(testRun, "").CausedBy(testRun)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got Draft
	if err := DecodeStrict(raw, &got); err != nil || string(got.Payload) != `{"text":"hello"}` || got.Cause != testRun {
		t.Errorf("read %+v, %v", got, err)
	}
	_, err = NewDraft(testRun, BudgetReached{Max: 1 / zero})
	wantRefusal(t, err, CodeInvalid, "max")
}

var zero float64

func TestTypesAreLowerCaseAndDotted(t *testing.T) {
	for _, good := range []Type{"a.b", "run.cancel_requested", "a.b.c", "x1.y2"} {
		if !good.wellFormed() {
			t.Errorf("%s is refused", good)
		}
	}
	for _, bad := range []Type{"", "a", "a.", ".a", "a..b", "A.b", "a.b ", "a.1", "a._b", "a.b>", "a.*"} {
		if bad.wellFormed() {
			t.Errorf("%q passed for a type", bad)
		}
	}
}

func TestSignedTextTellsAnswersApart(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range [][]byte{SignedText("run.finished", testRun, "x"), SignedText("toast.shown", testRun, "x"), SignedText("run.finished", testUser, "x"), SignedText("run.finished", testRun, "")} {
		if seen[string(s)] {
			t.Errorf("%q is signed twice", s)
		}
		seen[string(s)] = true
	}
}
