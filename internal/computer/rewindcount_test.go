package computer

import (
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestARewindCountsWhatItsDiffLists(t *testing.T) {
	l := newLab(t)
	l.sh("mkdir -p p/.git/objects kept; echo 1 > p/.git/HEAD; echo 1 > p/a; echo 1 > p/b")
	l.write("x", "x")
	then, _ := l.store.Head()
	l.sh("echo 2 > p/.git/HEAD; echo o > p/.git/objects/o; echo 2 > p/a; rm p/b; mkdir p/made; echo 3 > p/made/c; touch kept")
	r := rewound(t, l, then)
	files, _, err := l.Moments().TextDiff(l.within(), r.Difference)
	if err != nil || len(files) != 3 {
		t.Fatalf("%v %+v", err, files)
	}
	if p := payload[choir.TimelineRewound](t, l.waitEvent(ofType("timeline.rewound"))); p.Files != 3 {
		t.Errorf("the event counts %d files", p.Files)
	}
	marks := must(l.Moments().Marks(l.within(), 1, 0))(t)
	if m := marks[0]; m.Kind != eventstore.MarkRewind || m.ToSeq != then || m.Files != 3 {
		t.Errorf("the mark is %+v", m)
	}
}
