package terminals

import (
	"iter"
	"slices"
	"testing"

	"choiros/internal/choir"
)

// told is a log that tells of openings and ends, in this order.
func told(t *testing.T, payloads ...choir.Payload) iter.Seq2[choir.Event, error] {
	t.Helper()
	var events []choir.Event
	for i, p := range payloads {
		d, err := choir.NewDraft(choir.DeriveID("log", string(rune('a'+i))), p)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, choir.Event{Seq: uint64(i + 1), Type: d.Type, Payload: d.Payload})
	}
	return func(yield func(choir.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestTerminalsThatAreOpenInTheLogAreLost(t *testing.T) {
	a, b, c := choir.DeriveID("terminal", "a"), choir.DeriveID("terminal", "b"), choir.DeriveID("terminal", "c")
	opened := func(id choir.ID) choir.Payload {
		return choir.TerminalOpened{Terminal: id, Cwd: "workspace", Title: "Terminal"}
	}
	lost := func(id choir.ID) choir.Payload {
		return choir.TerminalClosed{Terminal: id, Reason: choir.TerminalLost, Code: -1}
	}
	got, err := Lost(told(t, opened(a), choir.SessionEnded{Reason: "x"}, opened(b), opened(c), choir.TerminalClosed{Terminal: b, Reason: choir.TerminalExited}))
	if want := []choir.Payload{lost(a), lost(c)}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := Lost(told(t)); err != nil || len(got) != 0 {
		t.Errorf("of no terminals %v are lost, %v", got, err)
	}
	failing := func(yield func(choir.Event, error) bool) {
		yield(choir.Event{}, choir.E("x", choir.CodeCancelled, "stopped"))
	}
	if _, err := Lost(failing); choir.CodeOf(err) != choir.CodeCancelled {
		t.Errorf("a log that cannot be read: %v", err)
	}
}
