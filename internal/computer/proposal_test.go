package computer

import (
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
)

func TestAPromptProposesOverADocumentThatIsThere(t *testing.T) {
	l := newLab(t)
	doc := must(l.desk.CreateDocument(l.within(), choir.RoleShell, desk.NewDocument{Title: "Plan", Content: "a b c"}))(t)
	for name, to := range map[string]choir.ProposalTarget{
		"document": {Document: choir.DeriveID(doc.ID, "none")}, "version": {Document: doc.ID, Version: 7},
	} {
		_, _, err := l.Runs().Prompt(l.within(), choir.RoleDesktop, choir.PromptSubmitted{Text: "x", Proposal: &to}, "")
		if choir.CodeOf(err) != choir.CodeNotFound || !strings.Contains(err.Error(), "proposal") {
			t.Errorf("%s: %v", name, err)
		}
	}
	to := choir.ProposalTarget{Document: doc.ID, Anchor: choir.TextAnchor{Exact: "b"}}
	if _, _, err := l.Runs().Prompt(l.within(), choir.RoleDesktop, choir.PromptSubmitted{Text: "x", Proposal: &to}, ""); err != nil {
		t.Fatal(err)
	}
	p := payload[choir.PromptSubmitted](t, l.waitEvent(ofType("prompt.submitted")))
	if p.Proposal == nil || *p.Proposal != to {
		t.Errorf("%+v", p.Proposal)
	}
}
