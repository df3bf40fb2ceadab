package director_test

import (
	"strconv"
	"testing"

	"choiros/internal/choir"
)

// TestTheDirectorsEventsAreThereWhoeverTookTheirNames plays every script once to
// learn which ids the Director and the gateway use, and then again with all of
// them held by the Associate, and the document by a desktop, from before the
// prompt came. One Director in two is killed on the way, each script after another event.
func TestTheDirectorsEventsAreThereWhoeverTookTheirNames(t *testing.T) {
	t.Parallel()
	for n, s := range scripts(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := (&play{t: t, script: s}).run()
			for _, at := range []uint64{0, first[n%len(first)].Seq} {
				p := &play{t: t, script: s}
				p.before = func() {
					if head := p.squat(first); at > 0 {
						p.killAt = head + at
					}
				}
				p.check(p.run())
			}
		})
	}
}

// TestADesktopThatTakesEveryNameEndsTheRun: whatever document the Director is about
// to create, a desktop has created one of that id a moment before. Each of the three
// executions of the run tries 16 more names.
func TestADesktopThatTakesEveryNameEndsTheRun(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(endless), nil)
	taken := 0
	d.ground.first = func(draft choir.Draft) {
		if draft.Type != "document.created" {
			return
		}
		taken++
		other := choir.Draft{ID: choir.DeriveID(runID, "taken", strconv.Itoa(taken)), Type: draft.Type, Payload: draft.Payload}
		if _, err := d.Append(t.Context(), choir.RoleDesktop, other); err != nil && choir.FirstOf(err) == nil {
			t.Error(err)
		}
	}
	d.submit(run(1), &choir.PromptSubmitted{Text: "work"})
	if end := d.finished(run(1)); end.Code != choir.CodeConflict || taken != 3*17 {
		t.Errorf("after %d names the run ended %+v", taken, end)
	}
}

// squat holds the ids of the Director's and the gateway's events of an earlier
// play, and the documents in them. It gives the number of the last event.
func (p *play) squat(earlier []choir.Event) (head uint64) {
	p.t.Helper()
	ctx, other := p.t.Context(), choir.DeriveID(runID, "other")
	for i, e := range earlier {
		if e.Source != choir.SourceDirector && e.Source != choir.SourceSystem {
			continue
		}
		p.append(ctx, choir.RoleAssociate, other, e.ID, &choir.TaskProgressed{Kind: "progress", Text: "mine"})
		if e.Type == "document.created" {
			var d choir.DocumentCreated
			decode(p.t, e, &d)
			d.Title = "of a desktop"
			p.append(ctx, choir.RoleDesktop, "", choir.DeriveID(other, strconv.Itoa(i)), &d)
		}
	}
	head, _ = p.ground.Head()
	return head
}

// taskOf is the task that a worker's message needs.
func taskOf(run choir.ID, p choir.Payload) choir.ID {
	if _, ok := p.(*choir.TaskProgressed); ok {
		return run
	}
	return ""
}
