package eventstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
)

// watcher remembers what an observer is told.
type watcher struct {
	mu       sync.Mutex
	appended int
	codes    []choir.Code
	seqs     []uint64
	bytes    int
	payloads map[choir.Type]int
}

func (w *watcher) Appended(took time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.appended++; err != nil {
		w.codes = append(w.codes, choir.CodeOf(err))
	}
}

func (w *watcher) Committed(e *choir.Event, payload choir.Payload, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seqs, w.bytes = append(w.seqs, e.Seq), w.bytes+bytes
	if payload.EventType() == e.Type {
		w.payloads[e.Type]++
	}
}

func TestTheObserverHearsEachEventOnceInItsOrder(t *testing.T) {
	t.Parallel()
	w := &watcher{payloads: map[choir.Type]int{}}
	cfg := testConfig()
	cfg.Observer = w
	dir := t.TempDir()
	s, err := Open(context.Background(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 25
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				d := draft(t, choir.PromptSubmitted{Text: "x"}, newID(), "")
				for range 2 { // the second is a duplicate, which is no event
					if _, err := s.Append(t.Context(), choir.RoleShell, d); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if _, err := s.Append(t.Context(), choir.RoleDirector, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), "")); choir.CodeOf(err) != choir.CodeForbidden {
		t.Errorf("the Director prompts: %v", err)
	}
	add(t, s, "", "", choir.SnapshotTaken{Snapshot: choir.DigestOf(nil), Reason: "created", Files: 7, Bytes: 70})
	if w.appended != 2*writers*each+2 || len(w.codes) != 1 || w.codes[0] != choir.CodeForbidden || len(w.seqs) != writers*each+1 || w.payloads[choir.TypePromptSubmitted] != writers*each {
		t.Errorf("%d appends, refused %v, %d events, %v", w.appended, w.codes, len(w.seqs), w.payloads)
	}
	for i, seq := range w.seqs {
		if seq != uint64(i)+1 {
			t.Fatalf("event %d comes at place %d", seq, i)
		}
	}
	counts, err := s.Counts(t.Context())
	if err != nil || len(counts) != 2 || counts[choir.TypePromptSubmitted] != writers*each {
		t.Errorf("%v %v", counts, err)
	}
	if last, err := s.LastTaken(t.Context()); err != nil || last.Files != 7 || last.Bytes != 70 {
		t.Errorf("%+v %v", last, err)
	}
	f := s.Figures()
	if f.Head != writers*each+1 || f.Copied != f.Head || f.Behind != 0 || f.JournalBytes <= int64(w.bytes) || f.JournalBytes > int64(w.bytes)+200*int64(f.Head) || f.CopyBytes == 0 {
		t.Errorf("%+v beside %d bytes of events", f, w.bytes)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := len(w.seqs)
	if s, err = Open(context.Background(), dir, cfg); err != nil {
		t.Fatal(err)
	}
	if len(w.seqs) != before {
		t.Error("what was there before is told again at an open")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestALogWithoutASnapshotHasNone(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if last, err := s.LastTaken(t.Context()); err != nil || last.Snapshot != "" {
		t.Errorf("%+v %v", last, err)
	}
	if counts, err := s.Counts(t.Context()); err != nil || len(counts) != 0 {
		t.Errorf("%v %v", counts, err)
	}
}
