package workspace

import (
	"testing"

	"choiros/internal/snapshot"
)

func TestWorkIsWhatIsDoneNow(t *testing.T) {
	l := newLab(t)
	if w := l.Work(); w != nil {
		t.Errorf("nothing is done, and it says %+v", w)
	}
	waited := l.Waiting()
	if w := l.Work(); w == nil || w.Kind != WorkWaiting || w.Since == 0 {
		t.Errorf("somebody waits, and it says %+v", w)
	}
	looked := l.at.start(WorkLooking)
	l.at.report(snapshot.Progress{Entries: 3, Bytes: 5})
	if w := l.Work(); w == nil || w.Kind != WorkLooking || w.Entries != 3 || w.Bytes != 5 {
		t.Errorf("the tree is read, and it says %+v", w)
	}
	looked()
	if w := l.Work(); w == nil || w.Kind != WorkWaiting || w.Entries != 0 {
		t.Errorf("after the look it says %+v", w)
	}
	waited()
	if w := l.Work(); w != nil {
		t.Errorf("all is done, and it says %+v", w)
	}
}

// TestWorkThatIsOverIsShownNoMore ends what began first before what began last, as a rewind that
// waits for a look of a task does. A computer with work does not hibernate.
func TestWorkThatIsOverIsShownNoMore(t *testing.T) {
	l := newLab(t)
	looked := l.at.start(WorkLooking)
	waited := l.Waiting()
	looked()
	if w := l.Work(); w == nil || w.Kind != WorkWaiting {
		t.Errorf("somebody waits, and it says %+v", w)
	}
	waited()
	if w := l.Work(); w != nil {
		t.Errorf("all is done, and it says %+v", w)
	}
}
