package computer

import (
	"testing"

	"choiros/internal/choir"
)

// TestADocumentGoesBackAsANewVersion: a rewind gives it the content it had, and
// what was written in between stays readable under its number.
func TestADocumentGoesBackAsANewVersion(t *testing.T) {
	l := newLab(t)
	l.waitEvent(ofType("snapshot.taken")) // before it there is nothing to go back to
	run, doc := newTestID(t), newTestID(t)
	write := func(p choir.Payload) choir.Receipt {
		t.Helper()
		d := must(l.events.Draft(p))(t)
		return must(l.store.Append(l.within(), choir.RoleDirector, d.ForRun(run, "")))(t)[0]
	}
	is := func(version int, content string) {
		t.Helper()
		got := must(l.desk.Document(l.within(), doc, -1))(t)
		if got.Version != version || got.Content != content || got.Title != "Parser" {
			t.Errorf("it is %+v, wanted %q as version %d", got, content, version)
		}
	}
	write(choir.DocumentCreated{Document: doc, Title: "Parser", Content: "the prompt"})
	then := write(choir.DocumentVersioned{Document: doc, Version: 1, Content: "plan"}).Seq
	write(choir.DocumentVersioned{Document: doc, Version: 2, Content: "plan and result"})
	is(2, "plan and result")

	r := rewound(t, l, then)
	is(3, "plan")
	if old := must(l.desk.Document(l.within(), doc, 2))(t); old.Content != "plan and result" {
		t.Errorf("version 2 is %+v", old)
	}
	rewound(t, l, r.Receipt.Seq-1)
	is(4, "plan and result")

	// The Director does not know of the rewinds and asks for a number that is taken.
	write(choir.DocumentVersioned{Document: doc, Version: 3, Content: "next"})
	is(5, "next")
}
