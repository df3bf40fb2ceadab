package desk

import (
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/desk/drafts"
)

func TestPagesHearOfADraftThatChanges(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	kept := must(l.KeepDraft(ctx, drafts.Draft{App: "code", Subject: "a.go", Text: "one"}, 0))(t)
	if got := must(l.Draft(ctx, "code", "a.go"))(t); got != kept || len(must(l.Drafts(ctx))(t)) != 1 {
		t.Errorf("%+v, want %+v", got, kept)
	}
	_, err := l.KeepDraft(ctx, drafts.Draft{App: "code", Subject: "a.go", Text: "two"}, kept.Revision+1)
	l.wantCode(err, choir.CodeConflict)
	_, err = l.DropDraft(ctx, "code", "a.go", kept.Revision+1)
	l.wantCode(err, choir.CodeConflict)
	for range 2 {
		must(l.DropDraft(ctx, "code", "a.go", kept.Revision))(t)
	}
	for _, bad := range []drafts.Draft{{App: "Code", Subject: "x"}, {App: "code", Subject: "a\nb"}, {App: "code", Subject: "\u202egnp.exe"}} {
		_, err := l.KeepDraft(ctx, bad, 0)
		l.wantCode(err, choir.CodeInvalid)
	}
	// A change that was refused is nothing to hear of.
	if want := []drafts.Draft{kept, {App: "code", Subject: "a.go"}}; !slices.Equal(l.told, want) {
		t.Errorf("pages heard %+v, want %+v", l.told, want)
	}
}

// What was typed into a card whose question somebody else answered, or that was put away, stayed for ever.
func TestTheDraftsOfACardGoWithIt(t *testing.T) {
	l := newLab(t)
	run, other := choir.DeriveID("", "run"), choir.DeriveID("", "other")
	typed := []drafts.Draft{
		{App: ReplyDraft, Subject: string(run)}, {App: ReplyDraft, Subject: string(other)},
		{App: AnswerDraft, Subject: string(run) + " one"}, {App: AnswerDraft, Subject: string(other) + " one"},
		{App: "code", Subject: string(run)},
	}
	for _, d := range typed {
		d.Text = "typed"
		must(l.KeepDraft(t.Context(), d, 0))(t)
	}
	left := func() (subjects []string) {
		for _, d := range must(l.Drafts(t.Context()))(t) {
			subjects = append(subjects, d.App+" "+d.Subject)
		}
		slices.Sort(subjects)
		return subjects
	}
	l.told = nil
	if err := l.DropCardDrafts(t.Context(), run, AnswerDraft); err != nil {
		t.Fatal(err)
	}
	want := []string{"answer " + string(other) + " one", "code " + string(run), "reply " + string(run), "reply " + string(other)}
	slices.Sort(want)
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("after an answer: %q, want %q", got, want)
	}
	if !slices.Equal(l.told, []drafts.Draft{{App: AnswerDraft, Subject: string(run) + " one"}}) {
		t.Errorf("pages heard %+v", l.told)
	}
	if err := l.DropCardDrafts(t.Context(), run, ReplyDraft, AnswerDraft); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) != 3 || slices.Contains(got, "reply "+string(run)) {
		t.Errorf("after the card was put away: %q", got)
	}
}

func TestAComputerThatDoesNotRunHasNoDrafts(t *testing.T) {
	l := newLab(t, func(c *Config) { c.ReadOnly = true })
	_, err := l.Drafts(t.Context())
	l.wantCode(err, choir.CodeUnavailable)
	_, err = l.Draft(t.Context(), "code", "a.go")
	l.wantCode(err, choir.CodeUnavailable)
	_, err = l.KeepDraft(t.Context(), drafts.Draft{App: "code", Subject: "a.go"}, 0)
	l.wantCode(err, choir.CodeUnavailable)
	_, err = l.DropDraft(t.Context(), "code", "a.go", 1)
	l.wantCode(err, choir.CodeUnavailable)
}
