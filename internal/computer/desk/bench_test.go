package desk

import (
	"testing"

	"choiros/internal/choir"
)

// BenchmarkWindowMove moves one of twenty windows, each time to another place. The
// benchmark below is its floor.
func BenchmarkWindowMove(b *testing.B) {
	moveOneOfTwenty(b, func(l *lab, id choir.ID, to choir.Rect) error {
		_, err := l.ChangeWindow(b.Context(), choir.RoleDesktop, id, "", MoveWindow(&to, nil))
		return err
	})
}

// BenchmarkWindowMoveAppendedOnly appends the same events and asks for nothing.
func BenchmarkWindowMoveAppendedOnly(b *testing.B) {
	moveOneOfTwenty(b, func(l *lab, id choir.ID, to choir.Rect) error {
		_, err := l.events.Append(b.Context(), choir.RoleDesktop, choir.WindowMoved{Window: id, Bounds: to})
		return err
	})
}

func moveOneOfTwenty(b *testing.B, move func(l *lab, id choir.ID, to choir.Rect) error) {
	b.Helper()
	l := openLab(b)
	at := choir.Rect{Width: 10, Height: 10}
	ids := make([]choir.ID, 20)
	for i := range ids {
		ids[i] = l.newID()
		must(l.events.Append(b.Context(), choir.RoleDesktop, choir.WindowOpened{Window: ids[i], App: "files", Bounds: at}))(b)
	}
	b.ResetTimer()
	for i := range b.N {
		if err := move(l, ids[i%len(ids)], choir.Rect{X: 1 + i, Width: 10, Height: 10}); err != nil {
			b.Fatal(err)
		}
	}
}
