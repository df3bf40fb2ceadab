package desk

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestAStaleSaveLosesNothing(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	id := l.newID()
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
	d := must(l.events.Draft(choir.DocumentVersioned{Document: id, Version: 2, Content: "the agent's"}))(t)
	must(l.Append(ctx, choir.RoleDirector, d))(t)
	now, err := save(1, "mine")
	l.wantCode(err, choir.CodeConflict)
	if now.Version != 2 || now.Content != "the agent's" || now.By != choir.SourceDirector {
		t.Errorf("the other side: %+v", now)
	}
	if three := must(save(2, "mine"))(t); three.Version != 3 {
		t.Errorf("on top of it: %+v", three)
	}
	head := l.head()
	// A save whose answer was lost comes again.
	if again := must(save(2, "mine"))(t); again.Version != 3 {
		t.Errorf("sent again: %+v", again)
	}
	if same := must(save(3, "mine"))(t); same.Version != 3 {
		t.Errorf("unchanged: %+v", same)
	}
	if now := l.head(); now != head {
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
	_, err = l.SaveDocument(ctx, choir.RoleDesktop, l.newID(), Save{})
	l.wantCode(err, choir.CodeNotFound)
}

func TestOverlays(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
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
		{choir.OverlayAdded{Document: l.newID(), Kind: choir.OverlayComment}, choir.CodeNotFound},
		{choir.OverlayAdded{Document: doc.ID, Version: 7, Kind: choir.OverlayComment}, choir.CodeNotFound},
		{choir.OverlayAdded{Document: doc.ID, Kind: choir.OverlayComment, ReplyTo: l.newID()}, choir.CodeNotFound},
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
	head := l.head()
	saved := must(l.SaveDocument(ctx, choir.RoleShell, doc.ID, Save{Content: "a B c", Accepted: []choir.ID{proposal.ID}}))(t)
	all := must(l.log.Overlays(ctx, doc.ID, 0))(t)
	if saved.Version != 1 || len(all) != 3 || all[1].Outcome != choir.OverlayAccepted {
		t.Errorf("accepted: %+v, %+v", saved, all)
	}
	if before := must(l.log.Overlays(ctx, doc.ID, head))(t); before[1].Outcome != "" {
		t.Errorf("before: %+v", before)
	}
	_, err = l.SaveDocument(ctx, choir.RoleShell, doc.ID, Save{Base: 1, Content: "x", Accepted: []choir.ID{comment.ID}})
	l.wantCode(err, choir.CodeInvalid)
	if err := l.RemoveDocument(ctx, choir.RoleShell, doc.ID); err != nil {
		t.Error(err)
	}
	l.wantCode(l.RemoveDocument(ctx, choir.RoleShell, doc.ID), choir.CodeNotFound)
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
	for _, e := range must(l.log.EventsAfter(ctx, 0, choir.MaxEventsAfter))(t) {
		times[e.Type]++
	}
	for _, typ := range []choir.Type{"overlay.added", "overlay.settled", "document.renamed"} {
		if times[typ] != 1 {
			t.Errorf("%s is in the log %d times", typ, times[typ])
		}
	}
}

// TestAVersionNamesTheOneItWasMadeOf has the Director write while a person saves:
// each version of the person's is the next after its base.
func TestAVersionNamesTheOneItWasMadeOf(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	doc := must(l.CreateDocument(ctx, choir.RoleShell, NewDocument{Title: "x"}))(t)
	var director sync.WaitGroup
	over := make(chan struct{})
	director.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			d, err := l.events.Draft(choir.DocumentVersioned{Document: doc.ID, Version: 1, Content: "the agent's"})
			if err == nil {
				_, err = l.Append(ctx, choir.RoleDirector, d)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	base := 0
	for range 20 {
		now, err := l.SaveDocument(ctx, choir.RoleShell, doc.ID, Save{Base: base, Content: fmt.Sprint("made of ", base)})
		if err != nil && choir.CodeOf(err) != choir.CodeConflict {
			t.Error(err)
			break
		}
		base = now.Version
	}
	close(over)
	director.Wait()
	for _, v := range must(l.log.DocumentVersions(ctx, doc.ID))(t) {
		if base, mine := strings.CutPrefix(v.Content, "made of "); mine && base != fmt.Sprint(v.Version-1) {
			t.Errorf("version %d was made of %s", v.Version, base)
		}
	}
}
