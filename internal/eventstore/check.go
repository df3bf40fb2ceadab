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
	cancel   context.CancelFunc // nil before Check
	finished chan struct{}      // closed when what Open did not look at is verified
	doubted  chan struct{}      // has a value when a read met damage
	done     chan struct{}      // closed when nothing is verified any more

	mu       lockorder.Mutex[lockorder.ProgressMu] // guards progress
	progress Progress
}

// resting is how many times as long as it worked the check rests after each
// segment, so that it takes a small part of one core and of the disk.
const resting = 3

// doubtsApart is how long after a verification for a read that met damage the next
// is made at the earliest: damage that it cannot mend would be read again and again.
const doubtsApart = time.Minute

// Check has everything that Open does not look at verified in the background;
// Checked says how far it is. From then on until the store is closed, a read or an
// append that meets damage has both copies verified. What is restored is given to
// repaired, from a goroutine of the store, to be appended. It is called once at
// most, before other goroutines have the store.
func (s *Store) Check(repaired func(choir.LogRepaired)) {
	ctx, cancel := context.WithCancel(context.Background())
	s.checking.cancel, s.checking.finished, s.checking.doubted, s.checking.done = cancel, make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	s.checking.progress.Total = s.head
	go func() {
		defer close(s.checking.done)
		err := s.checkAll(ctx, repaired)
		s.checking.tell(func(p *Progress) { p.Finished, p.Err = err == nil, err })
		close(s.checking.finished)
		s.checkDoubted(ctx, repaired)
	}()
}

// doubt has both copies verified in the background when an error says that the
// SQLite copy is damaged.
func (s *Store) doubt(err error) {
	if s.checking.doubted == nil || choir.CodeOf(err) != choir.CodeCorrupt {
		return
	}
	select {
	case s.checking.doubted <- struct{}{}:
	default: // one waits already
	}
}

// checkDoubted verifies both copies each time that a read met damage, until the
// context ends, or there is damage that stays: of both copies.
func (s *Store) checkDoubted(ctx context.Context, repaired func(choir.LogRepaired)) {
	for s.opened.readOnly == "" && s.Checked().Holes == 0 {
		select {
		case <-s.checking.doubted:
		case <-ctx.Done():
			return
		}
		err := s.verifyAndTell(ctx, repaired)
		s.checking.tell(func(p *Progress) { p.Err = err })
		if pause(ctx, doubtsApart) != nil {
			return
		}
	}
}

// verifyAndTell verifies both copies, and says what it restored.
func (s *Store) verifyAndTell(ctx context.Context, repaired func(choir.LogRepaired)) error {
	report, err := s.Verify(ctx, nil)
	select {
	case <-s.checking.doubted: // by this verification, or before it
	default:
	}
	s.checking.tell(func(p *Progress) { p.Repaired, p.Holes = p.Repaired+len(report.Repaired), len(report.Holes) })
	for _, r := range report.Repaired {
		repaired(r)
	}
	return err
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
	return s.verifyAndTell(ctx, repaired)
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
