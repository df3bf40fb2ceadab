package eventstore

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

// TestDocumentsOfAPersonGoBackAndForth: titles, overlays and being there at all go
// back with the rest, and forward again.
func TestDocumentsOfAPersonGoBackAndForth(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	doc, note, proposal := newID(), newID(), newID()
	add(t, s, "", "", choir.DocumentRenamed{Document: doc, Title: "of what is not there"})
	add(t, s, "", "", choir.OverlaySettled{Document: doc, Overlay: note, Outcome: choir.OverlayResolved})
	add(t, s, "", "", choir.DocumentCreated{Document: doc, Title: "Plan", Content: "zero"})
	add(t, s, "", "", choir.DocumentVersioned{Document: doc, Version: 1, Content: "one"})
	add(t, s, "", "", choir.OverlayAdded{Overlay: note, Document: doc, Version: 1, Kind: choir.OverlayComment, Anchor: choir.TextAnchor{Exact: "one"}, Text: "why?"})
	then := add(t, s, "", "", choir.OverlayAdded{Overlay: proposal, Document: doc, Version: 1, Kind: choir.OverlayProposal, Text: "two"})
	overlaysThen := must[[]Overlay](t)(s.Overlays(ctx, doc, 0))
	if len(overlaysThen) != 2 || overlaysThen[0].ID != note || overlaysThen[0].By != choir.SourceDirector || overlaysThen[1].Outcome != "" {
		t.Fatalf("%+v", overlaysThen)
	}
	add(t, s, "", "", choir.OverlaySettled{Document: doc, Overlay: note, Outcome: choir.OverlayResolved})
	add(t, s, "", "", choir.OverlaySettled{Document: doc, Overlay: proposal, Outcome: choir.OverlayRejected})
	add(t, s, "", "", choir.OverlaySettled{Document: doc, Overlay: proposal, Outcome: choir.OverlayReopened})
	renamed := add(t, s, "", "", choir.DocumentRenamed{Document: doc, Title: "Better plan"})
	later := must[[]Overlay](t)(s.Overlays(ctx, doc, 0))
	if later[0].Outcome != choir.OverlayResolved || later[1].Outcome != "" {
		t.Fatalf("%+v", later)
	}
	if got := must[Document](t)(s.Document(ctx, doc, -1)); got.Title != "Better plan" || got.Version != 1 || got.Content != "one" || got.By != choir.SourceDirector {
		t.Errorf("renamed: %+v", got)
	}
	add(t, s, "", "", choir.DocumentRemoved{Document: doc})
	if got := must[[]Document](t)(s.Documents(ctx, 0)); len(got) != 0 {
		t.Errorf("removed: %+v", got)
	}
	_, err := s.Document(ctx, doc, -1)
	wantCode(t, err, choir.CodeNotFound)

	for _, c := range []struct {
		to       uint64
		title    string
		overlays []Overlay
	}{{then.Seq, "Plan", overlaysThen}, {renamed.Seq, "Better plan", later}} {
		add(t, s, "", "", choir.TimelineRewound{ToSeq: c.to, Snapshot: choir.ZeroHash, Before: choir.ZeroHash})
		got := must[Document](t)(s.Document(ctx, doc, -1))
		if got.Title != c.title || got.Content != "one" {
			t.Errorf("back at %d: %+v", c.to, got)
		}
		if diff := cmp.Diff(c.overlays, must[[]Overlay](t)(s.Overlays(ctx, doc, 0))); diff != "" {
			t.Errorf("back at %d: %s", c.to, diff)
		}
	}
	list := must[[]Document](t)(s.VersionsBefore(ctx, doc, 0, 2))
	if len(list) != 2 || list[0].Version != 3 || list[1].Version != 2 || list[0].Content != "" {
		t.Errorf("versions: %+v", list)
	}
	if list = must[[]Document](t)(s.VersionsBefore(ctx, doc, 2, 10)); len(list) != 2 || list[0].Version != 1 {
		t.Errorf("versions before 2: %+v", list)
	}
	if other := must[[]Overlay](t)(s.Overlays(ctx, newID(), 0)); len(other) != 0 {
		t.Errorf("over another document: %+v", other)
	}
}
