package director_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
	"choiros/internal/director/runscript"
)

// proposing are scripts whose prompt asks for a proposal, with what comes of it.
func proposing(t *testing.T) []runscript.Script {
	t.Helper()
	events := map[string][]choir.Type{
		"direct_answer": {"prompt.submitted", "overlay.added", "run.finished"},
		"greeting":      {"prompt.submitted", "toast.shown", "overlay.added", "run.finished"},
	}
	var out []runscript.Script
	for _, s := range scripts(t) {
		if want := events[s.Name]; want != nil {
			s.Prompt.Proposal = &choir.ProposalTarget{
				Document: choir.DeriveID(runID, "a document"), Version: 3,
				Anchor: choir.TextAnchor{Exact: "ate", Prefix: "I "},
			}
			s.Expect.Events, s.Expect.Document = want, nil
			out = append(out, s)
		}
	}
	if len(out) != len(events) {
		t.Fatalf("%d scripts", len(out))
	}
	return out
}

// TestAnAnswerThatWasAskedForAsAProposalIsOne also kills the Director after
// each event: there is one proposal in the end.
func TestAnAnswerThatWasAskedForAsAProposalIsOne(t *testing.T) {
	t.Parallel()
	for _, s := range proposing(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			p := &play{t: t, script: s}
			events := p.run()
			p.check(events)
			var got choir.OverlayAdded
			var done choir.RunFinished
			last(t, events, &got)
			last(t, events, &done)
			to := s.Prompt.Proposal
			want := choir.OverlayAdded{
				Overlay: got.Overlay, Document: to.Document, Version: 3, Kind: choir.OverlayProposal,
				Anchor: to.Anchor, Text: done.Answer,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, e := range events {
				again := &play{t: t, script: s, killAt: e.Seq}
				if diff := cmp.Diff(effects(t, events), effects(t, again.run())); diff != "" {
					t.Errorf("killed after event %d (%s): (-never +killed)\n%s", e.Seq, e.Type, diff)
				}
			}
		})
	}
}

// TestARunThatFailsProposesNothing takes a script whose run is given up.
func TestARunThatFailsProposesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range scripts(t) {
		if s.Name != "given_up" && s.Name != "cancelled" {
			continue
		}
		s.Prompt.Proposal = &choir.ProposalTarget{Document: choir.DeriveID(runID, "a document")}
		p := &play{t: t, script: s}
		events := p.run()
		p.check(events)
		if slices.Contains(types(events), "overlay.added") {
			t.Errorf("%s proposes: %v", s.Name, types(events))
		}
	}
}
