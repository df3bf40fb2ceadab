package eventstore

import (
	"context"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// An event is found as soon as it is acknowledged, whether the SQLite copy has
// it or not, and what was never appended is not found, before and after the
// store was opened again.
func TestAnEventIsFoundFromItsAcknowledgementOn(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "store")
	load := workload(t, 60)
	s := open(t, dir)
	find := func(s *Store, id choir.ID) {
		t.Helper()
		if e, err := s.Event(ctx, id); err != nil || e.ID != id {
			t.Errorf("event %s: %+v, %v", id, e, err)
		}
	}
	miss := func(s *Store) {
		t.Helper()
		if _, err := s.Event(ctx, newID()); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("an unknown event: %v", err)
		}
	}
	miss(s)
	for _, p := range load[:40] {
		if _, err := s.Append(ctx, p.role, p.d); err != nil {
			t.Fatal(err)
		}
		find(s, p.d.ID)
		miss(s)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	for _, p := range load[40:] {
		find(again, load[0].d.ID)
		if _, err := again.Append(ctx, p.role, p.d); err != nil {
			t.Fatal(err)
		}
		find(again, p.d.ID)
		miss(again)
	}
}
