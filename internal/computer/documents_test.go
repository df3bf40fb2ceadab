package computer

import (
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestAStaleSaveLosesNothing(t *testing.T) {
	l := newLab(t)
	ctx := l.within()
	id := newTestID(t)
	begin := NewDocument{ID: id, Title: "Notes", Content: "zero"}
	doc := must(l.CreateDocument(ctx, choir.RoleDesktop, begin))(t)
	if again := must(l.CreateDocument(ctx, choir.RoleDesktop, begin))(t); again != doc || doc.By != choir.SourceDesktop || doc.Version != 0 {
		t.Errorf("begun %+v, and again %+v", doc, again)
	}
	begin.Content = "other"
	_, err := l.CreateDocument(ctx, choir.RoleDesktop, begin)
	l.wantCode(err, choir.CodeConflict)

	save := func(base int, content string) (eventstore.Document, error) {
		return l.SaveDocument(ctx, choir.RoleDesktop, id, Save{Base: base, Content: content})
	}
	if one := must(save(0, "one"))(t); one.Version != 1 || one.Content != "one" {
		t.Errorf("saved: %+v", one)
	}
	// The Director writes while the owner does.
	d := must(l.draft(choir.DocumentVersioned{Document: id, Version: 2, Content: "the agent's"}))(t)
	must(l.appendFrom(ctx, choir.RoleDirector, []choir.Draft{d}))(t)
	now, err := save(1, "mine")
	l.wantCode(err, choir.CodeConflict)
	if now.Version != 2 || now.Content != "the agent's" || now.By != choir.SourceDirector {
		t.Errorf("the other side: %+v", now)
	}
	if three := must(save(2, "mine"))(t); three.Version != 3 {
		t.Errorf("on top of it: %+v", three)
	}
	head, _ := l.Store().Head()
	// A save whose answer was lost comes again.
	if again := must(save(2, "mine"))(t); again.Version != 3 {
		t.Errorf("sent again: %+v", again)
	}
	if same := must(save(3, "mine"))(t); same.Version != 3 {
		t.Errorf("unchanged: %+v", same)
	}
	if now, _ := l.Store().Head(); now != head {
		t.Errorf("nothing changed, and the log went from %d to %d", head, now)
	}
	large := strings.Repeat("long \"line\"\n", 100_000)
	if got := must(save(3, large))(t); got.Content != large || got.Blob == "" {
		t.Errorf("a large one: %d bytes, blob %q", len(got.Content), got.Blob)
	}
	_, err = save(4, strings.Repeat("x", maxDocument+1))
	l.wantCode(err, choir.CodeTooLarge)
	_, err = save(4, "\xff")
	l.wantCode(err, choir.CodeInvalid)
	_, err = l.SaveDocument(ctx, choir.RoleDesktop, newTestID(t), Save{})
	l.wantCode(err, choir.CodeNotFound)
}

func TestOverlays(t *testing.T) {
	l := newLab(t)
	ctx := l.within()
	doc := must(l.CreateDocument(ctx, choir.RoleShell, NewDocument{Title: "Notes", Content: "a b c"}))(t)
	comment := must(l.AddOverlay(ctx, choir.RoleShell, choir.OverlayAdded{Document: doc.ID, Kind: choir.OverlayComment, Anchor: choir.TextAnchor{Exact: "b"}, Text: "why?"}))(t)
	proposal := must(l.AddOverlay(ctx, choir.RoleShell, choir.OverlayAdded{Document: doc.ID, Kind: choir.OverlayProposal, Anchor: choir.TextAnchor{Exact: "b"}, Text: "B"}))(t)
	again := must(l.AddOverlay(ctx, choir.RoleShell, choir.OverlayAdded{Overlay: comment.ID, Document: doc.ID, Kind: choir.OverlayComment, Text: "other"}))(t)
	if again != comment {
		t.Errorf("added twice: %+v, %+v", comment, again)
	}
	must(l.AddOverlay(ctx, choir.RoleDesktop, choir.OverlayAdded{Document: doc.ID, Kind: choir.OverlayComment, ReplyTo: comment.ID, Text: "because"}))(t)
	for _, bad := range []struct {
		add  choir.OverlayAdded
		code choir.Code
	}{
		{choir.OverlayAdded{Document: newTestID(t), Kind: choir.OverlayComment}, choir.CodeNotFound},
		{choir.OverlayAdded{Document: doc.ID, Version: 7, Kind: choir.OverlayComment}, choir.CodeNotFound},
		{choir.OverlayAdded{Document: doc.ID, Kind: choir.OverlayComment, ReplyTo: newTestID(t)}, choir.CodeNotFound},
		{choir.OverlayAdded{Document: doc.ID, Kind: "praise"}, choir.CodeInvalid},
	} {
		_, err := l.AddOverlay(ctx, choir.RoleShell, bad.add)
		l.wantCode(err, bad.code)
	}
	settle := func(o eventstore.Overlay, outcome choir.OverlayOutcome) (eventstore.Overlay, error) {
		return l.SettleOverlay(ctx, choir.RoleShell, choir.OverlaySettled{Document: doc.ID, Overlay: o.ID, Outcome: outcome})
	}
	_, err := settle(comment, choir.OverlayAccepted)
	l.wantCode(err, choir.CodeInvalid)
	_, err = settle(proposal, choir.OverlayResolved)
	l.wantCode(err, choir.CodeInvalid)
	if got := must(settle(comment, choir.OverlayResolved))(t); got.Outcome != choir.OverlayResolved {
		t.Errorf("resolved: %+v", got)
	}
	if got := must(settle(comment, choir.OverlayReopened))(t); got.Outcome != "" {
		t.Errorf("reopened: %+v", got)
	}
	// What is accepted becomes text in the same append.
	head, _ := l.Store().Head()
	saved := must(l.SaveDocument(ctx, choir.RoleShell, doc.ID, Save{Content: "a B c", Accepted: []choir.ID{proposal.ID}}))(t)
	all := must(l.Store().Overlays(ctx, doc.ID, 0))(t)
	if saved.Version != 1 || len(all) != 3 || all[1].Outcome != choir.OverlayAccepted {
		t.Errorf("accepted: %+v, %+v", saved, all)
	}
	if before := must(l.Store().Overlays(ctx, doc.ID, head))(t); before[1].Outcome != "" {
		t.Errorf("before: %+v", before)
	}
	_, err = l.SaveDocument(ctx, choir.RoleShell, doc.ID, Save{Base: 1, Content: "x", Accepted: []choir.ID{comment.ID}})
	l.wantCode(err, choir.CodeInvalid)
	if err := l.RemoveDocument(ctx, choir.RoleShell, doc.ID); err != nil {
		t.Error(err)
	}
	l.wantCode(l.RemoveDocument(ctx, choir.RoleShell, doc.ID), choir.CodeNotFound)
}

func TestAPromptProposesOverADocumentThatIsThere(t *testing.T) {
	l := newLab(t)
	doc := must(l.CreateDocument(l.within(), choir.RoleShell, NewDocument{Title: "Plan", Content: "a b c"}))(t)
	for name, to := range map[string]choir.ProposalTarget{
		"document": {Document: choir.DeriveID(doc.ID, "none")}, "version": {Document: doc.ID, Version: 7},
	} {
		_, _, err := l.Prompt(l.within(), choir.RoleDesktop, choir.PromptSubmitted{Text: "x", Proposal: &to}, "")
		if choir.CodeOf(err) != choir.CodeNotFound || !strings.Contains(err.Error(), "proposal") {
			t.Errorf("%s: %v", name, err)
		}
	}
	to := choir.ProposalTarget{Document: doc.ID, Anchor: choir.TextAnchor{Exact: "b"}}
	if _, _, err := l.Prompt(l.within(), choir.RoleDesktop, choir.PromptSubmitted{Text: "x", Proposal: &to}, ""); err != nil {
		t.Fatal(err)
	}
	p := payload[choir.PromptSubmitted](t, l.waitEvent(ofType("prompt.submitted")))
	if p.Proposal == nil || *p.Proposal != to {
		t.Errorf("%+v", p.Proposal)
	}
}

// TestAChangeThatComesTwiceAtOnceIsMadeOnce sends the same overlay, outcome and title
// many times at once: each is in the log once.
func TestAChangeThatComesTwiceAtOnceIsMadeOnce(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	doc := must(l.CreateDocument(ctx, choir.RoleShell, NewDocument{Title: "x", Content: "a b"}))(t)
	overlay := choir.DeriveID(doc.ID, "comment")
	atOnce := func(change func() error) {
		t.Helper()
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if err := change(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	atOnce(func() error {
		_, err := l.AddOverlay(ctx, choir.RoleShell, choir.OverlayAdded{Overlay: overlay, Document: doc.ID, Kind: choir.OverlayComment, Anchor: choir.TextAnchor{Exact: "b"}, Text: "why?"})
		return err
	})
	atOnce(func() error {
		_, err := l.SettleOverlay(ctx, choir.RoleShell, choir.OverlaySettled{Overlay: overlay, Document: doc.ID, Outcome: choir.OverlayResolved})
		return err
	})
	atOnce(func() error {
		_, err := l.RenameDocument(ctx, choir.RoleShell, doc.ID, "y")
		return err
	})
	times := map[choir.Type]int{}
	for _, e := range must(l.Store().EventsAfter(ctx, 0, choir.MaxEventsAfter))(t) {
		times[e.Type]++
	}
	for _, typ := range []choir.Type{"overlay.added", "overlay.settled", "document.renamed"} {
		if times[typ] != 1 {
			t.Errorf("%s is in the log %d times", typ, times[typ])
		}
	}
}
