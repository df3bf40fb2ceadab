package eventstore

import (
	"context"
	"errors"
	"sync"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/recovery"
)

// Rebuild recomputes all projections from the journal and checks its hash chain. Reads
// see the old projections until the new ones are complete; appends continue.
func (s *Store) Rebuild(ctx context.Context) error {
	return s.barrier.Beside(ctx, recovery.Rebuild, s.rebuild)
}

func (s *Store) rebuild(ctx context.Context) error {
	s.applier.mu.Lock()
	err := s.applier.err
	s.applier.mu.Unlock()
	if err != nil {
		return err
	}
	head, _ := s.journal.Head()
	if err := s.applier.waitFor(ctx, head); err != nil {
		return err
	}
	if len(s.opened.holes) == 0 {
		return s.applier.rebuild(ctx, wholeJournal(s.journal), 0, 0)
	}
	return s.pool.use(ctx, func(conn *sqlite.Conn) error {
		return s.applier.rebuild(ctx, s.intact(1, fetchFrom(conn)), 0, 0)
	})
}

// backlog returns the size in bytes of the durable events that the SQLite copy lacks.
func (a *applier) backlog() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bytes
}

// reached returns the number of the last event in the SQLite copy.
func (a *applier) reached() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.applied
}

var errStop = errors.New("stop reading")

func unlessStopped(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// rebuildCache is the value of SQLite's cache_size pragma during a rebuild: negative
// KiB.
const rebuildCache = -64_000

// rebuild replays the log from source into the projections up to event to; 0 means the
// last event in the copy. It also inserts the events after have into the events table.
func (a *applier) rebuild(ctx context.Context, from source, have, to uint64) error {
	a.connMu.Lock()
	defer a.connMu.Unlock()
	if a.conn == nil {
		return errNoCopy()
	}
	if to == 0 {
		to = a.reached()
		have = to
	}
	err := rebuildIn(ctx, a.conn, from, have, to, a.watch)
	a.view.forget()
	if err == nil {
		a.advance(to)
	}
	return err
}

// rebuildIn does the work of rebuild in a database, in one transaction.
func rebuildIn(ctx context.Context, conn *sqlite.Conn, from source, have, to uint64, see watch) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return sqliteError("eventstore.rebuild", err)
	}
	defer func() {
		end(&err)
		err = sqliteError("eventstore.rebuild", err)
	}()
	if err := empty(conn, have == 0); err != nil {
		return err
	}
	// Pages that have no room in the cache are written to the write-ahead log
	// more than once.
	if err := execute(conn, "PRAGMA cache_size = "+itoa(rebuildCache)); err != nil {
		return err
	}
	defer func() {
		if cerr := execute(conn, "PRAGMA cache_size = "+itoa(writerCache)); err == nil {
			err = cerr
		}
	}()
	err = replay(ctx, conn, from, have, to, see)
	fault.Point("store.rebuild")
	return err
}

func empty(conn *sqlite.Conn, events bool) error {
	if events {
		if err := execute(conn, "DELETE FROM events"); err != nil {
			return err
		}
	}
	for _, t := range projections {
		if err := execute(conn, "DELETE FROM "+t.projected().name); err != nil {
			return err
		}
	}
	return nil
}

// replay computes the projections from the events of a source: one goroutine reads the
// journal, two decode events and check hashes, one writes rows, and the caller's
// goroutine checks the chain and runs the reducers.
func replay(ctx context.Context, conn *sqlite.Conn, from source, have, to uint64, see watch) error {
	ctx, cancel := context.WithCancel(ctx)
	w := startWriting(conn)
	chunks := readChunks(ctx, from, to)
	v := newView(w, see)
	err := func() error {
		last := choir.Event{Hash: choir.ZeroHash}
		for c := range chunks {
			<-c.done
			if c.err != nil {
				return c.err
			}
			for i := range c.items {
				e := &c.items[i].event
				if hole := from.gaps && e.Seq != last.Seq+1; !hole && e.PrevHash != last.Hash && !fault.NoChain {
					return choir.E("eventstore.rebuild", choir.CodeCorrupt, "event %d does not follow from the one before", e.Seq)
				}
				last = choir.Event{Seq: e.Seq, Hash: e.Hash}
				v.addFirst(&c.items[i])
				if err := v.reduce(e, c.items[i].payload); err != nil {
					return err
				}
			}
			if len(c.items) > 0 && last.Seq > have {
				w.insertAfter(c.items, have)
			} else {
				c.recycle()
			}
			if v.queued > chunkEvents {
				if err := w.write(v.takePending()); err != nil {
					return err
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return choir.Wrap("eventstore.rebuild", choir.CodeCancelled, err, "stopped")
		}
		return v.flush()
	}()
	cancel()
	for range chunks { // the reader ends because of cancel
	}
	if werr := w.close(); err == nil {
		err = werr
	}
	return err
}

// chunkEvents is the number of events in a chunk.
const chunkEvents = 128

// chunk is a part of the log; its events are decoded when done is closed.
type chunk struct {
	memory *memory
	items  []item
	room   []byte // for the bytes of more items
	err    error
	done   chan struct{}
}

// chunkBytes is the expected total size of a chunk's events.
const chunkBytes = chunkEvents * 640

// chunkPool pools the memory of chunks.
var chunkPool = sync.Pool{New: func() any {
	return &memory{make([]item, 0, chunkEvents), make([]byte, chunkBytes)}
}}

type memory struct {
	items []item
	room  []byte
}

func newChunk() *chunk {
	m := chunkPool.Get().(*memory)
	return &chunk{memory: m, items: m.items, room: m.room, done: make(chan struct{})}
}

// recycle returns the chunk's memory to the pool. Reducers keep only strings of an
// event, which are copies.
func (c *chunk) recycle() {
	clear(c.items)
	chunkPool.Put(c.memory)
	c.memory, c.items, c.room = nil, nil, nil
}

// add appends a copy of an event's bytes to the chunk.
func (c *chunk) add(event []byte) {
	if len(c.room) < len(event) {
		c.room = make([]byte, max(chunkBytes, len(event)))
	}
	n := copy(c.room, event)
	c.items = append(c.items, item{raw: c.room[:n:n]})
	c.room = c.room[n:]
}

// readChunks reads the journal up to an event and sends chunks in the order of the log,
// while other goroutines decode them. It closes the channel after the last one.
func readChunks(ctx context.Context, from source, to uint64) <-chan *chunk {
	out := make(chan *chunk, 8)
	work := make(chan *chunk, 8)
	for range 2 {
		go func() {
			for c := range work {
				c.decode()
			}
		}()
	}
	go func() {
		defer close(out)
		defer close(work)
		c := newChunk()
		send := func(err error) error {
			c.err = err
			for _, ch := range []chan *chunk{work, out} {
				select {
				case ch <- c:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			c = newChunk()
			return nil
		}
		err := from.read(func(seq uint64, event []byte) error {
			if seq > to {
				return errStop
			}
			c.add(event)
			if len(c.items) < chunkEvents {
				return nil
			}
			return send(nil)
		})
		if ctx.Err() == nil {
			send(unlessStopped(err)) // only the context can refuse it
		}
	}()
	return out
}

// decode decodes the events of the chunk, checks their hashes, and decodes the payloads
// that reducers need. It closes done.
func (c *chunk) decode() {
	defer close(c.done)
	for i := range c.items {
		it := &c.items[i]
		var err error
		if it.event, err = choir.DecodeShared(it.raw); err != nil {
			c.err = choir.Wrap("eventstore.rebuild", choir.CodeCorrupt, err, "the journal is damaged")
			return
		}
		it.onceKey()
		if len(reduced[it.event.Type]) > 0 {
			if it.payload, err = choir.ReadPayload(it.event.Type, it.event.Payload); err != nil {
				c.err = choir.Wrap("eventstore.rebuild", choir.CodeCorrupt, err, "event %d", it.event.Seq)
				return
			}
		}
	}
}
