package eventstore

import (
	"context"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/lockorder"
)

// Progress is how far the verification in the background has come. An open
// checks the structure of the log and its last segment; this checks the rest.
type Progress struct {
	Done     uint64 // events that both copies were read up to
	Total    uint64 // events when the log was opened
	Repaired int    // ranges that were damaged in one copy
	Holes    int    // ranges that are damaged in both
	Finished bool
	Err      error // why it stopped, if it did
}

// check is the verification in the background.
type check struct {
	cancel context.CancelFunc // nil before Check
	done   chan struct{}      // closed when it has ended

	mu       lockorder.Mutex[lockorder.ProgressMu] // guards progress
	progress Progress
}

// resting is how many times as long as it worked the check rests after each
// segment, so that it takes a small part of one core and of the disk.
const resting = 3

// Check has everything that Open does not look at verified in the background,
// until it is finished or the store is closed; Checked says how far it is. What
// it restores is given to repaired, from a goroutine of the store, to be
// appended. It is called once at most, before other goroutines have the store.
func (s *Store) Check(repaired func(choir.LogRepaired)) {
	ctx, cancel := context.WithCancel(context.Background())
	s.checking.cancel, s.checking.done = cancel, make(chan struct{})
	s.checking.progress.Total = s.head
	go func() {
		defer close(s.checking.done)
		err := s.checkAll(ctx, repaired)
		s.checking.tell(func(p *Progress) { p.Finished, p.Err = err == nil, err })
	}()
}

func (c *check) stop() {
	if c.cancel != nil {
		c.cancel()
		<-c.done
	}
}

func (c *check) tell(fn func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn(&c.progress)
}

func (p Progress) String() string {
	text := fmt.Sprintf("%d of %d events verified", p.Done, p.Total)
	if p.Repaired > 0 {
		text += fmt.Sprintf(", %d ranges repaired", p.Repaired)
	}
	if p.Holes > 0 {
		text += fmt.Sprintf(", %d ranges damaged in both copies", p.Holes)
	}
	switch {
	case p.Err != nil:
		text += ", stopped: " + p.Err.Error()
	case !p.Finished:
		text += " so far"
	}
	return text
}

// Checked says how far the verification in the background has come: the zero
// value before Check.
func (s *Store) Checked() Progress {
	s.checking.mu.Lock()
	defer s.checking.mu.Unlock()
	return s.checking.progress
}

// checkAll compares both copies segment by segment, each in a read of its own so
// that the write-ahead log can be emptied meanwhile. What it finds is mended as
// Verify does.
func (s *Store) checkAll(ctx context.Context, repaired func(choir.LogRepaired)) error {
	sound := true
	var family ancestry
	for pass := s.journal.NewPass(); pass.More(); {
		began := time.Now()
		_, last := pass.Span()
		var wrong []item
		err := s.pool.use(ctx, func(conn *sqlite.Conn) error {
			return compareSegment(ctx, conn, pass, s.applier.reached(), &family, &wrong)
		})
		if err != nil && choir.CodeOf(err) != choir.CodeCorrupt {
			return err
		}
		sound = sound && err == nil && len(wrong)+len(family.broken) == 0
		s.checking.tell(func(p *Progress) { p.Done = last })
		if !pass.More() {
			sound = sound && len(pass.Damage()) == 0
		} else if err := pause(ctx, resting*time.Since(began)); err != nil {
			return err
		}
	}
	if sound {
		return nil
	}
	report, err := s.Verify(ctx, nil)
	s.checking.tell(func(p *Progress) { p.Repaired, p.Holes = len(report.Repaired), len(report.Holes) })
	for _, r := range report.Repaired {
		repaired(r)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return choir.Wrap("eventstore.check", choir.CodeCancelled, ctx.Err(), "stopped")
	}
}

// compareSegment reads the pass's next segment beside the rows of the copy, up
// to an event, and adds what the copy has wrong.
func compareSegment(ctx context.Context, conn *sqlite.Conn, pass *journal.Pass, head uint64, family *ancestry, wrong *[]item) error {
	first, last := pass.Span()
	st, err := conn.Prepare("SELECT seq, event, id, type, run FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq")
	if err != nil {
		return err
	}
	defer st.Reset() // an error of the last step has been told
	st.BindInt64(1, int64(first))
	st.BindInt64(2, int64(min(last, head)))
	more, err := st.Step()
	if err != nil {
		return err
	}
	return pass.Next(ctx, func(r journal.Record) error {
		if r.Seq > head {
			return nil
		}
		for more && uint64(st.ColumnInt64(0)) < r.Seq {
			if more, err = st.Step(); err != nil {
				return err
			}
		}
		e, err := choir.DecodeEvent(r.Event)
		if err != nil {
			return err
		}
		family.next(&e)
		if more && sameRow(st, r, &e) {
			return nil
		}
		*wrong = append(*wrong, item{event: e, raw: append([]byte(nil), r.Event...)})
		return nil
	})
}
