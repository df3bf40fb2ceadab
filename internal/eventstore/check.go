package eventstore

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/lockorder"
)

// Progress is the state of the background verification. An open checks the structure of
// the log and its last segment; this checks the rest.
type Progress struct {
	Done     uint64 // events that both copies were read up to
	Total    uint64 // events when the log was opened
	Repaired int    // ranges that were damaged in one copy
	Holes    int    // ranges that are damaged in both
	Finished bool
	Err      error // why it stopped, if it did
}

// check is the background verification.
type check struct {
	cancel   context.CancelFunc // nil before Check
	finished chan struct{}      // closed when what Open did not look at is verified
	doubted  chan struct{}      // has a value when a read met damage
	done     chan struct{}      // closed when nothing is verified any more

	mu       lockorder.Mutex[lockorder.ProgressMu] // guards progress
	progress Progress
}

// resting is the ratio of the pause after each segment to the time its verification
// took. It limits the share of one core and of the disk that the verification uses.
const resting = 3

// doubtsApart is the shortest time between two verifications caused by reads of damaged
// data, because damage that cannot be repaired is read again and again.
const doubtsApart = time.Minute

// Check starts the background verification of everything that Open does not check;
// Checked returns its progress. From then on until Close, each read or append that
// meets damage starts a verification of both copies. repaired is called from a
// goroutine of the store with each repair, for the caller to append it to the log.
// Check is called at most once, before other goroutines use the store.
func (s *Store) Check(repaired func(choir.LogRepaired)) {
	ctx, cancel := context.WithCancel(context.Background())
	s.checking.cancel, s.checking.finished, s.checking.doubted, s.checking.done = cancel, make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	s.checking.progress.Total = s.head
	go func() {
		defer close(s.checking.done)
		err := s.checkAll(ctx, repaired)
		s.checking.updateProgress(func(p *Progress) { p.Finished, p.Err = err == nil, err })
		close(s.checking.finished)
		s.verifyOnDamage(ctx, repaired)
	}()
}

// reportDamage requests a background verification of both copies if err has code
// corrupt.
func (s *Store) reportDamage(err error) {
	if s.checking.doubted == nil || choir.CodeOf(err) != choir.CodeCorrupt {
		return
	}
	select {
	case s.checking.doubted <- struct{}{}:
	default: // one waits already
	}
}

// verifyOnDamage verifies both copies each time a read has met damage. It returns when
// the context ends or both copies are damaged at the same place.
func (s *Store) verifyOnDamage(ctx context.Context, repaired func(choir.LogRepaired)) {
	for s.opened.readOnly == "" && s.Checked().Holes == 0 {
		select {
		case <-s.checking.doubted:
		case <-ctx.Done():
			return
		}
		err := s.verifyAndReport(ctx, repaired)
		s.checking.updateProgress(func(p *Progress) { p.Err = err })
		if pause(ctx, doubtsApart) != nil {
			return
		}
	}
}

// verifyAndReport verifies both copies and calls repaired for each repaired range.
func (s *Store) verifyAndReport(ctx context.Context, repaired func(choir.LogRepaired)) error {
	report, err := s.Verify(ctx, nil)
	select {
	case <-s.checking.doubted: // by this verification, or before it
	default:
	}
	s.checking.updateProgress(func(p *Progress) { p.Repaired, p.Holes = p.Repaired+len(report.Repaired), len(report.Holes) })
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

// updateProgress changes the progress under the lock.
func (c *check) updateProgress(fn func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn(&c.progress)
}

// Describe returns a sentence about the progress.
func (p Progress) Describe() choir.Told {
	done, total := choir.CountOf("done", p.Done), choir.CountOf("total", p.Total)
	if p.Err == nil && !p.Finished && p.Repaired+p.Holes == 0 {
		return choir.TellSentence("told.logSoFar", "{done} of {total} events verified so far", done, total)
	}
	said := choir.TellSentence("told.log", "{done} of {total} events verified", done, total)
	if p.Repaired > 0 {
		said = choir.TellAround("told.logRepaired", "{said}, {ranges} ranges repaired", map[string]choir.Told{"said": said}, choir.CountOf("ranges", p.Repaired))
	}
	if p.Holes > 0 {
		said = choir.TellAround("told.logHoles", "{said}, {ranges} ranges damaged in both copies", map[string]choir.Told{"said": said}, choir.CountOf("ranges", p.Holes))
	}
	switch {
	case p.Err != nil:
		return choir.TellAround("told.logStopped", "{said}, stopped: {why}", map[string]choir.Told{"said": said}, choir.LinesOf("why", p.Err))
	case !p.Finished:
		return choir.TellAround("told.logGoesOn", "{said} so far", map[string]choir.Told{"said": said})
	}
	return said
}

// Checked returns the progress of the background verification, or the zero value before
// Check.
func (s *Store) Checked() Progress {
	s.checking.mu.Lock()
	defer s.checking.mu.Unlock()
	return s.checking.progress
}

// checkAll compares both copies segment by segment, then checks the tables of the SQLite
// copy, and repairs damage as Verify does. Each segment has a read transaction of its own, so that SQLite can empty its
// write-ahead log in between.
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
		s.checking.updateProgress(func(p *Progress) { p.Done = last })
		if !pass.More() {
			sound = sound && len(pass.Damage()) == 0
		} else if err := pause(ctx, resting*time.Since(began)); err != nil {
			return err
		}
	}
	if sound {
		var err error
		if sound, err = s.checkTables(ctx); err != nil {
			return err
		}
	}
	if sound {
		return nil
	}
	return s.verifyAndReport(ctx, repaired)
}

// checkTables checks the structure of each table of the SQLite copy and of its indexes,
// page by page. No read may ever meet the damage of a page that holds old rows only. Each
// table has a read transaction of its own, and a pause as after a segment.
func (s *Store) checkTables(ctx context.Context) (sound bool, err error) {
	for _, t := range dumped {
		began := time.Now()
		err := s.pool.use(ctx, func(conn *sqlite.Conn) error { return checkStructure(conn, t.name) })
		if choir.CodeOf(err) == choir.CodeCorrupt {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err := pause(ctx, resting*time.Since(began)); err != nil {
			return false, err
		}
	}
	return true, nil
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

// compareSegment compares the next segment of pass with the rows of the SQLite copy, up
// to event head, and appends the wrong rows to wrong.
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
		family.checkNext(&e)
		if more && sameRow(st, r, &e) {
			return nil
		}
		*wrong = append(*wrong, item{event: e, raw: append([]byte(nil), r.Event...)})
		return nil
	})
}
