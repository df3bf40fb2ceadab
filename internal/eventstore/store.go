// Package eventstore is a computer's log: the journal, which is the truth, and
// its SQLite copy with the projections that answer questions. The projections
// follow from the events by pure reducers and can be rebuilt at any time.
//
// Locks are acquired in this order, the outermost first; a goroutine that holds
// one acquires only those below it, and waits only for goroutines that need those
// below it. The build tag lockorder checks that: see internal/lockorder.
//
//	Barrier.files     keeps repairs from who reads the log's files whole
//	Barrier.appends   keeps repairs from appends
//	pool.slots        a connection to read the SQLite copy with
//	Journal.writeMu   writing a batch; held while the applier's queue is full
//	applier.retryMu   one retry of a failed transaction at a time
//	applier.connMu    a transaction on the SQLite copy
//	Journal.mu        numbers and the chain
//	applier.mu        the queue between journal and SQLite copy
//	recent.mu         the newest ids
//	tail.mu           the newest events
//	Store.waitMu      who waits for an event
//	pool.mu           idle connections
//	check.mu          progress of the check in the background
package eventstore

import (
	"context"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/lockorder"
	"choiros/internal/recovery"
)

// Config identifies the log's computer and user, and injects the clock and optional
// dependencies.
type Config struct {
	Computer choir.ID
	User     choir.ID
	// Now stamps events; it is called with locks held and must not block.
	Now func() choir.Time
	// Blobs, when given, must hold what an appended event points at.
	Blobs blob.Store
	// Replica, when given, has a copy of an event before its append is
	// acknowledged.
	Replica Replica
	// ProjectionFailed, when given, gets each event on which a projection panics,
	// in a rebuild again. It is called with locks held and must not block.
	ProjectionFailed func(ProjectionFailure)
	// Observer, when given, receives figures about the log.
	Observer Observer

	beforeReducer func(projection string, e *choir.Event) // for tests
	segmentBytes  int64                                   // of the journal, for tests that need many segments
	pageEvents    int                                     // of each page of a reading, for tests that need many pages
}

// Replica follows the log elsewhere; cluster.Replica is one.
type Replica interface {
	// Wait returns once the copy has the event and all before it, or after a
	// bounded time with the reason why it is not known to.
	Wait(ctx context.Context, seq uint64) error
}

// Store is the log of one computer. Its methods are safe for concurrent use. Every read
// sees all events acknowledged before it began.
type Store struct {
	Tables

	cfg      Config
	dir      string
	journal  *journal.Journal
	barrier  *recovery.Barrier
	pool     *pool
	recent   recent
	queues   fairQueues
	tail     tail
	applier  applier
	opened   opened
	checking check

	waitMu lockorder.Mutex[lockorder.WaitMu] // guards the two below
	head   uint64                            // last durable event
	grown  chan struct{}                     // closed when head grows; nil while nobody waits
}

// opened is the result of Open; it does not change afterwards.
type opened struct {
	repairs      []choir.LogRepaired
	holes        []Hole
	readOnly     string
	sqliteDamage string // why the SQLite copy was thrown away
	foreign      bool   // another choir made its projections
	damaged      []choir.LogRepaired
	last         choir.Event // newest event of both copies, when only reading
}

const (
	journalDir = "journal"
	sqliteFile = "store.sqlite"
)

// Open opens the log in dir, or creates it. It brings the SQLite copy up to date and
// restores damage in one copy from the other, see Repairs. If events are damaged in
// both copies the store is read-only, see ReadOnly. Code busy: another process has it
// open.
func Open(ctx context.Context, dir string, cfg Config) (*Store, error) {
	s := &Store{cfg: cfg, dir: dir}
	s.Tables.read = s.read
	s.applier.watch = watch{cfg.ProjectionFailed, cfg.beforeReducer}
	s.barrier = recovery.NewBarrier(s.drain)
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	conn, acked, err := s.openSQLite()
	if err != nil {
		return err
	}
	s.journal, err = journal.Open(filepath.Join(s.dir, journalDir), journal.Config{SegmentBytes: s.cfg.segmentBytes, Acked: acked, Committed: s.committed})
	if err != nil {
		conn.Close() // nothing was written
		return err
	}
	s.pool = newPool(filepath.Join(s.dir, sqliteFile), sqlite.OpenReadOnly)
	s.applier.start(conn)
	if err := s.reconcile(ctx); err != nil {
		close(s.applier.done)
		s.Close() // the first error is the one to tell
		return err
	}
	s.head, _ = s.journal.Head()
	go s.applier.run()
	return nil
}

// Head returns the number and the hash of the last durable event: 0 and the zero hash
// for an empty log.
func (s *Store) Head() (uint64, choir.Digest) {
	if s.opened.last.Seq > 0 {
		return s.opened.last.Seq, s.opened.last.Hash
	}
	return s.journal.Head()
}

// Repairs returns the ranges that Open restored; the caller appends them as
// log.repaired.
func (s *Store) Repairs() []choir.LogRepaired { return s.opened.repairs }

// Holes returns the ranges that Open found damaged in both copies.
func (s *Store) Holes() []Hole { return s.opened.holes }

// Damaged returns the ranges that OpenReadOnly found damaged in one copy; the other has
// them.
func (s *Store) Damaged() []choir.LogRepaired { return s.opened.damaged }

// ReadOnly returns the reason why appends are refused, or "".
func (s *Store) ReadOnly() string { return s.opened.readOnly }

// WaitPast waits until the log has an event after seq, or returns the context's error.
func (s *Store) WaitPast(ctx context.Context, seq uint64) error {
	for {
		s.waitMu.Lock()
		if s.head > seq {
			s.waitMu.Unlock()
			return nil
		}
		if s.grown == nil {
			s.grown = make(chan struct{})
		}
		grown := s.grown
		s.waitMu.Unlock()
		select {
		case <-grown:
		case <-ctx.Done():
			return choir.Wrap("eventstore.wait", choir.CodeCancelled, ctx.Err(), "no event after %d came", seq)
		}
	}
}

// committed passes newly durable records to the tail, the applier and the observer. The
// journal calls it in the order of the log.
func (s *Store) committed(records []journal.Record) {
	items := make([]item, len(records))
	for i, r := range records {
		items[i] = r.Value.(item)
		items[i].raw = r.Event
	}
	s.tail.add(items)
	s.applier.enqueue(items)
	s.waitMu.Lock()
	s.head = records[len(records)-1].Seq
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	s.waitMu.Unlock()
	s.observe(items)
}

// Close waits for appends in progress, stops maintenance, brings the SQLite copy up to
// date and closes both copies. Later appends are refused.
func (s *Store) Close() error {
	s.checking.stop()
	s.barrier.Close()
	err := s.journal.Close()
	// The connection that writes is the last: it takes the write-ahead log away.
	if perr := s.pool.close(); err == nil {
		err = perr
	}
	if aerr := s.applier.stop(); err == nil {
		err = aerr
	}
	return err
}
