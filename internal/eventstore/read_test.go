package eventstore

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// readerModel is a store whose events are known: a plain slice of their receipts.
type readerModel struct {
	t     *rapid.T
	s     *Store
	known []choir.Receipt
}

func (m *readerModel) append(n int) {
	for range n {
		d, err := choir.NewDraft(newID(), choir.PromptSubmitted{Text: strings.Repeat("x", len(m.known)%300+1)})
		if err != nil {
			m.t.Fatal(err)
		}
		r, err := m.s.Append(context.Background(), choir.RoleCLI, d.ForRun(newID(), ""))
		if err != nil {
			m.t.Fatal(err)
		}
		m.known = append(m.known, r[0])
	}
}

// forget leaves the newest events only in memory, so that readings go on in the
// SQLite copy.
func (s *Store) forget(keep int) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	s.tail.events = slices.Clone(s.tail.events[max(len(s.tail.events)-keep, 0):])
}

// expect reads a sequence until it ends or break is due, appending now and then in
// the middle, and holds what came against the slice.
func (m *readerModel) expect(what string, seq iter.Seq2[choir.Event, error], want []choir.Receipt) {
	want = slices.Clone(want)
	stop := rapid.IntRange(-len(want)-1, len(want)).Draw(m.t, "stop") // not below 1
	grow := rapid.IntRange(0, 3).Draw(m.t, "grow")
	n := 0
	for e, err := range seq {
		if err != nil {
			m.t.Fatalf("%s: %v behind %d events", what, err, n)
		}
		if n == len(want) || e.Seq != want[n].Seq || e.ID != want[n].ID || e.Hash != want[n].Hash {
			m.t.Fatalf("%s: event %d at place %d of %d", what, e.Seq, n, len(want))
		}
		if n++; n <= grow {
			m.append(1) // with a lock held this would wait for ever
		}
		if n == stop {
			return
		}
	}
	if n != len(want) {
		m.t.Fatalf("%s: %d events, wanted %d", what, n, len(want))
	}
}

// between is the part of the slice from one number to another, as Events says.
func (m *readerModel) between(from, to int) []choir.Receipt {
	if to == 0 || to > len(m.known) {
		to = len(m.known)
	}
	if from = max(from, 1); from > to {
		return nil
	}
	return m.known[from-1 : to]
}

func (m *readerModel) number(label string) int {
	return rapid.IntRange(0, len(m.known)+3).Draw(m.t, label)
}

func (m *readerModel) at() {
	seq := m.number("seq")
	e, err := m.s.At(context.Background(), uint64(seq))
	if seq == 0 || seq > len(m.known) {
		if choir.CodeOf(err) != choir.CodeNotFound {
			m.t.Fatalf("event %d of %d: %v", seq, len(m.known), err)
		}
		return
	}
	if err != nil || e.ID != m.known[seq-1].ID {
		m.t.Fatalf("event %d of %d: %v %v", seq, len(m.known), e, err)
	}
}

// follow reads what is there and what is appended meanwhile, until the context ends
// at the newest event.
func (m *readerModel) follow() {
	cursor := m.number("cursor")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if cursor == len(m.known) {
		cancel()
	}
	more := rapid.IntRange(0, 9).Draw(m.t, "more")
	at, ended := cursor, false
	for e, err := range m.s.Follow(ctx, uint64(cursor)) {
		switch {
		case ended:
			m.t.Fatalf("follow from %d: a pair behind the error", cursor)
		case cursor > len(m.known):
			if !errors.Is(err, ErrAhead) || choir.CodeOf(err) != choir.CodeConflict {
				m.t.Fatalf("follow from %d of %d: %v", cursor, len(m.known), err)
			}
			ended = true
		case err != nil:
			if at != len(m.known) || choir.CodeOf(err) != choir.CodeCancelled {
				m.t.Fatalf("follow from %d ended behind %d of %d: %v", cursor, at, len(m.known), err)
			}
			ended = true
		case e.Seq != uint64(at+1) || e.ID != m.known[at].ID:
			m.t.Fatalf("follow from %d: event %d behind %d", cursor, e.Seq, at)
		default:
			if at++; more > 0 {
				more--
				m.append(1)
			}
			if at == len(m.known) {
				cancel()
			}
		}
	}
	if !ended {
		m.t.Fatalf("follow from %d ended without an error", cursor)
	}
}

// TestReadingIsThatOfAPlainSlice reads any ranges in pages of any size, in both
// directions, with appends and early ends in between.
func TestReadingIsThatOfAPlainSlice(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.pageEvents = rapid.IntRange(0, 9).Draw(t, "page")
		s, err := Open(context.Background(), filepath.Join(root, string(newID())), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		m := &readerModel{t: t, s: s}
		ctx := context.Background()
		t.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) { m.append(rapid.IntRange(1, 50).Draw(t, "n")) },
			"forget": func(*rapid.T) { s.forget(rapid.IntRange(0, 20).Draw(t, "keep")) },
			"at":     func(*rapid.T) { m.at() },
			"events": func(*rapid.T) {
				from, to := m.number("from"), m.number("to")
				m.expect("events", s.Events(ctx, uint64(from), uint64(to)), m.between(from, to))
			},
			"backwards": func(*rapid.T) {
				before := m.number("before")
				want := slices.Clone(m.known)
				if before > 0 {
					want = slices.Clone(m.known[:min(before-1, len(m.known))])
				}
				slices.Reverse(want)
				m.expect("backwards", s.Backwards(ctx, uint64(before)), want)
			},
			"follow": func(*rapid.T) { m.follow() },
		})
	})
}

// TestFollowersSeeEveryEventOnceBesideManyWriters follows from the beginning, the
// middle and the head while others append.
func TestFollowersSeeEveryEventOnceBesideManyWriters(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.pageEvents = 7
	s := must[*Store](t)(Open(context.Background(), t.TempDir(), cfg))
	defer s.Close()
	const before, writers, each = 60, 8, 40
	for range before {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: "x"})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var followers, appending sync.WaitGroup
	for _, cursor := range []uint64{0, 1, before / 2, before - 1, before} {
		followers.Go(func() {
			at := cursor
			for e, err := range s.Follow(ctx, cursor) {
				if err != nil {
					t.Errorf("from %d: %v behind %d", cursor, err, at)
					return
				}
				if at++; e.Seq != at {
					t.Errorf("from %d: event %d behind %d", cursor, e.Seq, at-1)
					return
				}
				if at == before+writers*each {
					return
				}
			}
		})
	}
	for range writers {
		appending.Go(func() {
			for range each {
				add(t, s, newID(), "", choir.PromptSubmitted{Text: "x"})
				s.forget(3)
			}
		})
	}
	appending.Wait()
	followers.Wait()
}

// TestAReadingEndsWithItsContext also where the events are there already.
func TestAReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for range 50 {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: "x"})
	}
	head, _ := s.Head()
	for name, read := range map[string]func(context.Context) iter.Seq2[choir.Event, error]{
		"events":      func(ctx context.Context) iter.Seq2[choir.Event, error] { return s.Events(ctx, 1, 0) },
		"backwards":   func(ctx context.Context) iter.Seq2[choir.Event, error] { return s.Backwards(ctx, 0) },
		"follow":      func(ctx context.Context) iter.Seq2[choir.Event, error] { return s.Follow(ctx, 0) },
		"follow head": func(ctx context.Context) iter.Seq2[choir.Event, error] { return s.Follow(ctx, head) },
	} {
		for _, after := range []int{0, 1, 5} {
			ctx, cancel := context.WithCancel(context.Background())
			if after == 0 || name == "follow head" {
				cancel()
			}
			n, refused := 0, 0
			for _, err := range read(ctx) {
				if err != nil {
					wantCode(t, err, choir.CodeCancelled)
					refused++
					continue
				}
				if n++; n == after {
					cancel()
				}
			}
			cancel()
			if refused != 1 || n != after && name != "follow head" {
				t.Errorf("%s: %d events and %d errors with a context that ended behind %d", name, n, refused, after)
			}
		}
	}
}

// TestABodyMayReadAsDeepAsItLikes: each reading would hold a connection if it held
// one while the body runs, and there are few.
func TestABodyMayReadAsDeepAsItLikes(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	const deep = 40
	for range deep {
		add(t, s, newID(), "", choir.PromptSubmitted{Text: "x"})
	}
	s.forget(0)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var dive func(level uint64) error
	dive = func(level uint64) error {
		for e, err := range s.Events(ctx, level, level) {
			if err != nil || e.Seq == deep {
				return err
			}
			for _, err := range s.Backwards(ctx, level+1) {
				if err != nil {
					return err
				}
				return dive(level + 1)
			}
		}
		return errors.New("nothing came")
	}
	if err := dive(1); err != nil {
		t.Error(err)
	}
}

// TestAPageIsBoundedInBytes: 100 events of 60 kB are not in memory at once.
func TestAPageIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	const n = 100
	for range n {
		add(t, s, newID(), "", choir.DocumentVersioned{Document: newID(), Version: 1, Content: strings.Repeat("x", 60_000)})
	}
	s.forget(0)
	page := must[[]choir.Event](t)(s.page(ctx, 0, n, pageLimit{maxPageEvents, maxPageBytes}))
	back, below, err := s.pageBack(ctx, n, pageLimit{maxPageEvents, maxPageBytes})
	if err != nil || len(page) != 18 || len(back) != 18 || below != n-18 {
		t.Errorf("pages of %d and %d events, below them %d: %v", len(page), len(back), below, err)
	}
	if all := must[[]choir.Event](t)(choir.Collect(s.Events(ctx, 1, 0), 0)); len(all) != n {
		t.Errorf("%d events in all", len(all))
	}
}

// TestADamagedEventIsNamedByAt and left out by readings of ranges.
func TestADamagedEventIsNamedByAt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, _, head := closedLog(t)
	flipEvent(t, dir, 100)
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 100")
	s := must[*Store](t)(OpenReadOnly(ctx, dir))
	defer s.Close()
	_, err := s.At(ctx, 100)
	wantCode(t, err, choir.CodeCorrupt)
	_, err = s.At(ctx, head+1)
	wantCode(t, err, choir.CodeNotFound)
	if got := seqs(t, s); !slices.Equal(got, allBut(head, 100)) {
		t.Errorf("it lists %d events of %d", len(got), head)
	}
}
