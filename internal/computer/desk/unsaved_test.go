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
