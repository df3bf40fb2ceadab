package eventstore

import (
	"context"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/journal"
	"choiros/internal/lockorder"
)

// item is an event in the queue between the journal and the SQLite copy.
type item struct {
	event   choir.Event
	payload choir.Payload // decoded, or nil
	raw     []byte
	once    choir.OnceKey // once keyed says so, see onceKey
	keyed   bool
}

// applier writes durable events to the SQLite copy in order, in groups. A transaction
// starts when a reader waits, when many events wait, or when the oldest event has
// waited for a short time. Readers wait for the applier; appends do not.
type applier struct {
	watch   watch                              // set before use
	retryMu lockorder.Mutex[lockorder.RetryMu] // held by the one who retries

	connMu lockorder.Mutex[lockorder.ConnMu] // held during a transaction; guards the three below
	conn   *sqlite.Conn
	view   *view
	remade int // how often the file was replaced

	mu      lockorder.Mutex[lockorder.ApplierMu] // guards the rest
	cond    *sync.Cond                           // told of every change
	queue   []item
	bytes   int
	applied uint64
	err     error // the last transaction failed; the queue has what it was about
	closing bool
	static  bool          // nothing is ever applied; set before use
	done    chan struct{} // closed when run has ended
	waiters []waiter
	ripe    bool        // the oldest event of the queue has waited long enough
	ripen   *time.Timer // makes it so; nil while the queue is empty
}

type waiter struct {
	seq  uint64
	done chan struct{}
}

const (
	// groupEvents bounds one transaction, so that reads do not wait for long.
	groupEvents = 1024
	// manyEvents are applied without waiting for more: a transaction of them costs
	// a quarter of what it costs in transactions of 64.
	manyEvents = 512
	// moment is how long an event waits for others at most.
	moment = 5 * time.Millisecond
	// queueBytes is where appends begin to wait for the SQLite copy.
	queueBytes = 16 << 20
	// rememberedRows bounds what the view keeps between transactions.
	rememberedRows = 512
)

func (a *applier) start(conn *sqlite.Conn) {
	a.cond = sync.NewCond(&a.mu)
	a.conn, a.view = conn, newView(sqliteBase{conn}, a.watch)
	a.done = make(chan struct{})
}

// enqueue adds durable events to the queue. It blocks while the queue is full, unless
// the SQLite copy fails.
func (a *applier) enqueue(items []item) {
	lockorder.Await[lockorder.ConnMu]() // which run needs to make room
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.bytes > queueBytes && a.err == nil && !a.closing {
		a.cond.Wait()
	}
	a.queue = append(a.queue, items...)
	for i := range items {
		a.bytes += len(items[i].raw)
	}
	if a.ripen == nil {
		a.ripen = time.AfterFunc(moment, a.ripened)
	}
	if a.due() {
		a.cond.Broadcast()
	}
}

func (a *applier) ripened() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ripe = true
	a.cond.Broadcast()
}

// hurry makes the applier write the queued events at once. It does not wait for that.
func (a *applier) hurry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) > 0 {
		a.ripe = true
		a.cond.Broadcast()
	}
}

// due reports whether a transaction should start now. The caller holds mu.
func (a *applier) due() bool {
	if len(a.queue) == 0 || a.err != nil {
		return a.closing
	}
	return a.closing || a.ripe || len(a.waiters) > 0 || len(a.queue) >= manyEvents
}

// run applies queued events until stop is called. The store starts it.
func (a *applier) run() {
	defer close(a.done)
	for {
		a.mu.Lock()
		for !a.due() {
			a.cond.Wait()
		}
		if len(a.queue) == 0 || a.err != nil {
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		a.applyNext() // finish has kept the error
	}
}

// applyNext writes the next group of the queue in one transaction. While connMu is
// held, the queue begins with the first event that the copy lacks.
func (a *applier) applyNext() error {
	defer fault.Point("store.committed")
	a.connMu.Lock()
	defer a.connMu.Unlock()
	if a.conn == nil {
		return errNoCopy()
	}
	a.mu.Lock()
	group := a.queue[:min(len(a.queue), groupEvents)]
	a.mu.Unlock()
	if len(group) == 0 {
		return nil // a repair has done it
	}
	err := a.write(group)
	a.finish(group, err)
	return err
}

// finish removes applied events from the queue and wakes the readers that wait for
// them. After an error it records the error instead.
func (a *applier) finish(group []item, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = sqliteError("eventstore.apply", err)
	if err == nil && len(group) > 0 {
		a.applied = group[len(group)-1].event.Seq
		for i := range group {
			a.bytes -= len(group[i].raw)
			group[i] = item{}
		}
		if a.queue = a.queue[len(group):]; len(a.queue) == 0 {
			a.queue, a.ripe = nil, false
			if a.ripen != nil {
				a.ripen.Stop()
				a.ripen = nil
			}
		}
	}
	still := a.waiters[:0]
	for _, w := range a.waiters {
		if err != nil || w.seq <= a.applied {
			close(w.done)
		} else {
			still = append(still, w)
		}
	}
	a.waiters = still
	a.cond.Broadcast()
}

// transact writes a group that is not in the queue.
func (a *applier) transact(group []item) error {
	defer fault.Point("store.committed")
	a.connMu.Lock()
	defer a.connMu.Unlock()
	return a.write(group)
}

// write writes a group of events and their projections in one transaction, all or
// nothing. The caller holds connMu.
func (a *applier) write(group []item) (err error) {
	end, err := sqlitex.ImmediateTransaction(a.conn)
	if err != nil {
		return err
	}
	defer func() {
		end(&err)
		if err != nil || a.view.size() > rememberedRows {
			a.view.forget()
		}
	}()
	if err := insertEvents(a.conn, group); err != nil {
		return err
	}
	for i := range group {
		a.view.addFirst(&group[i])
		if err := a.view.reduce(&group[i].event, group[i].payload); err != nil {
			return err
		}
	}
	err = a.view.flush()
	fault.Point("store.commit")
	return err
}

func insertEvents(conn *sqlite.Conn, group []item) error {
	st, err := conn.Prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for i := range group {
		e := &group[i].event
		st.BindInt64(1, int64(e.Seq))
		st.BindText(2, string(e.ID))
		st.BindText(3, string(e.Type))
		if e.Run == "" {
			st.BindNull(4)
		} else {
			st.BindText(4, string(e.Run))
		}
		st.BindText(5, string(group[i].raw))
		if _, err := st.Step(); err != nil {
			st.Reset() // the step's error is the one to tell
			return err
		}
		if err := st.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits until event seq is in the SQLite copy. If the copy cannot be written
// and lacks the event it returns an error: a caller that decides by an older state
// might act twice.
func (a *applier) waitFor(ctx context.Context, seq uint64) error {
	for {
		a.mu.Lock()
		if a.applied >= seq || a.closing {
			a.mu.Unlock()
			return nil
		}
		if a.err != nil {
			a.mu.Unlock()
			if err := a.retry(); err != nil {
				return choir.Wrap("eventstore.read", "", err, "the newest events are in the log and cannot be read yet")
			}
			continue
		}
		w := waiter{seq, make(chan struct{})}
		a.waiters = append(a.waiters, w)
		a.cond.Broadcast()
		a.mu.Unlock()
		select {
		case <-w.done:
		case <-ctx.Done():
			return choir.Wrap("eventstore.read", choir.CodeCancelled, ctx.Err(), "stopped")
		}
	}
}

// retry applies the events of a failed transaction again, one caller at a time. An
// error means that appends must still be refused.
func (a *applier) retry() error {
	a.mu.Lock()
	sound := a.err == nil
	a.mu.Unlock()
	if sound {
		return nil
	}
	a.retryMu.Lock()
	defer a.retryMu.Unlock()
	a.mu.Lock()
	failed := a.err != nil
	a.mu.Unlock()
	if !failed {
		return nil
	}
	return sqliteError("eventstore.append", a.applyNext()) // run leaves the queue alone while err is set
}

// advance removes the events up to number to from the queue after a rebuild has written
// them, and clears the error of their failed transaction. The caller holds connMu.
func (a *applier) advance(to uint64) {
	a.mu.Lock()
	done := 0
	for done < len(a.queue) && a.queue[done].event.Seq <= to {
		done++
	}
	group := a.queue[:done]
	a.applied = to
	a.mu.Unlock()
	a.finish(group, nil)
}

// fetch returns the record of an event from the queue or from the SQLite copy; it is a
// journal.Fetch.
func (a *applier) fetch(seq uint64) (journal.Record, bool) {
	if r, ok := a.queued(seq); ok {
		return r, true
	}
	a.connMu.Lock()
	defer a.connMu.Unlock()
	return fetchFrom(a.conn)(seq)
}

func (a *applier) queued(seq uint64) (journal.Record, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 || seq < a.queue[0].event.Seq || seq-a.queue[0].event.Seq >= uint64(len(a.queue)) {
		return journal.Record{}, false
	}
	it := &a.queue[seq-a.queue[0].event.Seq]
	return journal.Record{Seq: seq, Event: it.raw, Hash: it.event.Hash}, true
}

// stop waits until the queue is applied and closes the connection.
func (a *applier) stop() error {
	a.mu.Lock()
	a.closing = true
	a.cond.Broadcast()
	a.mu.Unlock()
	<-a.done
	a.mu.Lock()
	for _, w := range a.waiters {
		close(w.done)
	}
	a.waiters = nil
	if a.ripen != nil {
		a.ripen.Stop()
	}
	a.mu.Unlock()
	a.connMu.Lock()
	defer a.connMu.Unlock()
	if a.conn == nil {
		return nil
	}
	var err error
	if !a.static {
		fault.Point("store.checkpoint")
		err = execute(a.conn, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if cerr := a.conn.Close(); err == nil {
		err = cerr
	}
	a.conn = nil
	return sqliteError("eventstore.close", err)
}

// replaceEvents overwrites rows of the events table with items.
func (a *applier) replaceEvents(items []item) (err error) {
	fault.Point("store.replace")
	a.connMu.Lock()
	defer a.connMu.Unlock()
	end, err := sqlitex.ImmediateTransaction(a.conn)
	if err != nil {
		return sqliteError("eventstore.repair", err)
	}
	defer func() {
		end(&err)
		err = sqliteError("eventstore.repair", err)
	}()
	for i := range items {
		e := &items[i].event
		err := sqlitex.Execute(a.conn, "DELETE FROM events WHERE seq = ? OR id = ?", &sqlitex.ExecOptions{Args: []any{int64(e.Seq), string(e.ID)}})
		if err != nil {
			return err
		}
	}
	return insertEvents(a.conn, items)
}
