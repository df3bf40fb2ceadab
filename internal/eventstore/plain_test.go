package eventstore

import (
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// TestPlainKeepsTheSameProjections holds the peer of benchmarks against the
// store: a peer that did less would make every ratio a lie.
func TestPlainKeepsTheSameProjections(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "store"))
	p, err := OpenPlain(filepath.Join(dir, "plain.sqlite"), testConfig(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, w := range workload(t, 60) {
		if _, err := s.Append(t.Context(), w.role, w.d); err != nil {
			t.Fatal(err)
		}
		if err := p.Append(t.Context(), PlainDraft{w.role, w.d}); err != nil {
			t.Fatal(err)
		}
	}
	if seq, hash := s.Head(); seq != p.seq || hash != p.prev {
		t.Errorf("the store ends at %d %s, the peer at %d %s", seq, hash, p.seq, p.prev)
	}
	head, _ := s.Head()
	if err := s.applier.waitFor(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"events"}, projectionNames()...) {
		ours, err := queryInt(s.applier.conn, "SELECT count(*) FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		if theirs, err := queryInt(p.a.conn, "SELECT count(*) FROM "+name); err != nil || theirs != ours {
			t.Errorf("%s has %d rows, the peer's %d, %v", name, ours, theirs, err)
		}
	}
}

func projectionNames() []string {
	var out []string
	for _, t := range projections {
		out = append(out, t.projected().name)
	}
	return out
}

func TestPlainRefusesWhatTheStoreRefuses(t *testing.T) {
	p, err := OpenPlain(filepath.Join(t.TempDir(), "plain.sqlite"), testConfig(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := workload(t, 1)[0]
	if err := p.Append(t.Context(), PlainDraft{"nobody", w.d}); choir.CodeOf(err) != choir.CodeForbidden {
		t.Error(err)
	}
	if err := p.Append(t.Context(), PlainDraft{w.role, w.d}); err != nil || p.seq != 1 {
		t.Errorf("%d events, %v", p.seq, err)
	}
}
