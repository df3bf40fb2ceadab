package eventstore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/journal"
)

// appending is the state of one call of Append.
type appending struct {
	store    *Store
	source   choir.Source
	drafts   []choir.Draft
	payloads []choir.Payload
	keys     []onceKeys
	receipts []choir.Receipt
	earlier  map[choir.ID]choir.Event    // found in the database by id
	firsts   map[choir.OnceKey]uint64    // found in the database by key
	runs     map[choir.OnceKey]choir.ID  // of the events that drafts answer
	inBatch  map[choir.OnceKey]choir.ID  // runs of this append's own events
	clash    func(context.Context) error // why seal refused, said once the log stands still
	sealed   int
}

// onceKeys are the once keys of a draft, see choir.OnceKeys.
type onceKeys struct{ own, after choir.OnceKey }

// errClash is the error of seal for a draft that collides with the log; appending.clash
// makes the full error.
var errClash = errors.New("a draft collides with the log")

func (a *appending) run(ctx context.Context) ([]choir.Receipt, error) {
	if err := a.findEarlier(ctx); err != nil {
		return nil, err
	}
	err := a.store.journal.Append(a.seal)
	if err != nil {
		a.removeFromCache()
		if errors.Is(err, errClash) {
			return nil, a.clash(ctx)
		}
		return nil, err
	}
	if a.sealed == len(a.drafts) {
		return a.receipts, nil
	}
	return a.receipts, a.fillDuplicates(ctx)
}

// findEarlier queries the database for the drafts' ids and once keys that are not
// cached, and for the runs of the events that drafts answer.
func (a *appending) findEarlier(ctx context.Context) error {
	a.earlier, a.firsts, a.runs = map[choir.ID]choir.Event{}, map[choir.OnceKey]uint64{}, map[choir.OnceKey]choir.ID{}
	for i := range a.drafts {
		if err := a.findID(ctx, a.drafts[i].ID); err != nil {
			return err
		}
		if err := a.findKey(ctx, a.keys[i].own); err != nil {
			return err
		}
		if err := a.findRun(ctx, a.keys[i].after); err != nil {
			return err
		}
	}
	return nil
}

func (a *appending) findID(ctx context.Context, id choir.ID) error {
	if _, ok := a.store.recent.seq(id); ok || a.store.recent.lacksID(id) {
		return nil
	}
	return a.store.askEarlier(ctx, func(conn *sqlite.Conn) error {
		var found []choir.Event
		err := query(conn, "SELECT event FROM events WHERE id = ?", decoded(&found), id)
		if err == nil && len(found) > 0 {
			a.earlier[id] = found[0]
		}
		return err
	})
}

func (a *appending) findKey(ctx context.Context, key choir.OnceKey) error {
	if key == "" {
		return nil
	}
	if _, ok := a.store.recent.first(key); ok || a.store.recent.lacksKey(key) {
		return nil
	}
	seq, err := a.store.firstSeq(ctx, key)
	if err == nil && seq > 0 {
		a.firsts[key] = seq
	}
	return err
}

// findRun finds the run of the event with a once key. An event that is not durable yet
// is left out: a draft that answers it may be appended again a moment later.
func (a *appending) findRun(ctx context.Context, key choir.OnceKey) error {
	if key == "" {
		return nil
	}
	if known, ok := a.store.recent.first(key); ok {
		if head, _ := a.store.journal.Head(); known.seq <= head {
			a.runs[key] = known.run
		}
		return nil
	}
	if err := a.findKey(ctx, key); err != nil || a.firsts[key] == 0 {
		return err
	}
	e, err := a.store.At(ctx, a.firsts[key])
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	a.runs[key] = e.Run
	return err
}

// seal turns the drafts into the records of the journal; it is the journal.Seal of this
// append. The journal holds its lock meanwhile.
func (a *appending) seal(next uint64, prev choir.Digest) ([]journal.Record, error) {
	a.receipts, a.sealed = make([]choir.Receipt, 0, len(a.drafts)), 0
	a.inBatch = map[choir.OnceKey]choir.ID{}
	records := make([]journal.Record, 0, len(a.drafts))
	for i := range a.drafts {
		known, err := a.repeats(i)
		if err == nil && !known {
			err = a.checkOnce(i)
		}
		if err != nil {
			a.removeFromCache()
			return nil, err
		}
		if known {
			a.receipts = append(a.receipts, choir.Receipt{ID: a.drafts[i].ID, Duplicate: true})
			continue
		}
		e := a.event(i, next, a.store.cfg.Now())
		raw, err := choir.SealEvent(&e, prev)
		if err != nil {
			a.removeFromCache()
			return nil, underDraft(i, len(a.drafts), err)
		}
		key := a.keys[i].own
		a.receipts = append(a.receipts, choir.Receipt{Seq: next, ID: e.ID, Hash: e.Hash})
		a.store.recent.add(&e, key)
		a.inBatch[key] = e.Run
		records = append(records, journal.Record{
			Seq: next, Event: raw, Hash: e.Hash, Value: item{event: e, payload: a.payloads[i], once: key, keyed: true},
		})
		next, prev = next+1, e.Hash
		a.sealed++
	}
	return records, nil
}

// event returns the event that draft i becomes with number seq and time at.
func (a *appending) event(i int, seq uint64, at choir.Time) choir.Event {
	d := &a.drafts[i]
	return choir.Event{
		Seq: seq, ID: d.ID, Time: at, Computer: a.store.cfg.Computer, User: a.store.cfg.User, Source: a.source,
		Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
	}
}

// repeats reports whether draft i is already in the log. An event with the same id and
// other content is errClash.
func (a *appending) repeats(i int) (bool, error) {
	id := a.drafts[i].ID
	same, known := false, false
	if e, ok := a.store.recent.id(id); ok {
		again := a.event(i, e.seq, e.at)
		_, err := choir.SealEvent(&again, e.prev)
		same, known = err == nil && again.Hash == e.hash, true
	} else if e, ok := a.earlier[id]; ok {
		same, known = a.differingField(i, &e) == "", true
	}
	switch {
	case !known || same:
		return known, nil
	case slices.ContainsFunc(a.receipts, func(r choir.Receipt) bool { return r.ID == id && !r.Duplicate }):
		return false, a.batchConflict(i, "id")
	}
	return false, a.clashes(func(ctx context.Context) error { return a.idConflict(ctx, i) })
}

// checkOnce returns errClash if the log already has the one event of the type about
// draft i's subject, or lacks the event that the draft answers.
func (a *appending) checkOnce(i int) error {
	own, after := a.keys[i].own, a.keys[i].after
	if own == "" || fault.NoTaskKeys {
		return nil
	}
	earlier, known := a.store.recent.first(own)
	seq := earlier.seq
	if !known {
		seq, known = a.firsts[own]
	}
	if _, twin := a.inBatch[own]; twin {
		return a.batchConflict(i, subjectField(a.drafts[i].Type))
	}
	if known {
		return a.clashes(func(ctx context.Context) error { return a.onceConflict(ctx, i, seq) })
	}
	if after == "" {
		return nil
	}
	run, found := a.inBatch[after]
	if !found {
		run, found = a.runs[after]
	}
	if found && run == a.drafts[i].Run {
		return nil
	}
	if _, moment := a.store.recent.first(after); moment && !found {
		return choir.Refuse("eventstore.append", choir.ReasonAppendAnswering, choir.TextOf("type", a.drafts[i].Type))
	}
	return underDraft(i, len(a.drafts), unanswered(&a.drafts[i]))
}

// batchConflict returns the error for draft i that collides with another draft of the
// same append.
func (a *appending) batchConflict(i int, path string) error {
	return underDraft(i, len(a.drafts), choir.RefuseField(path, choir.ReasonAppendSameBatch))
}

// subjectField returns the name of the most specific field that identifies the subject
// of a type.
func subjectField(t choir.Type) string {
	info, _ := choir.LookupType(t)
	return info.Once[len(info.Once)-1]
}

func (a *appending) clashes(say func(context.Context) error) error {
	a.clash = say
	return errClash
}

// unanswered returns the not_found error for a draft that answers an event which is not
// in the log.
func unanswered(d *choir.Draft) error {
	info, _ := choir.LookupType(d.Type)
	return choir.RefuseField(subjectField(d.Type), choir.ReasonAppendUnanswered, choir.TextOf("after", info.After), choir.TextOf("run", d.Run), choir.TextOf("type", d.Type))
}

// idConflict returns the conflict error for draft i, whose id belongs to another event,
// with the first field that differs.
func (a *appending) idConflict(ctx context.Context, i int) error {
	e, err := a.readColliding(ctx, func() (choir.Event, error) { return a.store.Event(ctx, a.drafts[i].ID) })
	if err != nil {
		return err
	}
	taken := choir.RefuseField(a.differingField(i, &e), choir.ReasonAppendIDTaken,
		choir.CountOf("event", e.Seq), choir.TextOf("type", e.Type), choir.TextOf("source", e.Source), choir.TextOf("id", e.ID))
	taken.First = firstOf(&e)
	return underDraft(i, len(a.drafts), taken)
}

// onceConflict returns the conflict error for draft i, because event seq already is the
// one event of its type about the subject.
func (a *appending) onceConflict(ctx context.Context, i int, seq uint64) error {
	e, err := a.readColliding(ctx, func() (choir.Event, error) { return a.store.At(ctx, seq) })
	if err != nil {
		return err
	}
	once := choir.RefuseField(subjectField(e.Type), choir.ReasonAppendOnce, choir.TextOf("type", e.Type), choir.CountOf("event", e.Seq), choir.TextOf("source", e.Source))
	once.First = firstOf(&e)
	return underDraft(i, len(a.drafts), once)
}

func firstOf(e *choir.Event) *choir.First {
	return &choir.First{Seq: e.Seq, ID: e.ID, Hash: e.Hash, Type: e.Type, Source: e.Source}
}

// readColliding calls read for the event that a draft collided with, after all appends
// in progress are durable. Code busy: the append of that event failed meanwhile.
func (a *appending) readColliding(ctx context.Context, read func() (choir.Event, error)) (choir.Event, error) {
	nothing := func(uint64, choir.Digest) ([]journal.Record, error) { return nil, nil }
	if err := a.store.journal.Append(nothing); err != nil {
		return choir.Event{}, err
	}
	e, err := read()
	if choir.CodeOf(err) == choir.CodeNotFound {
		err = choir.Refuse("eventstore.append", choir.ReasonAppendCollided)
	}
	return e, err
}

// differingField returns the name of the first field in which draft i differs from e,
// or "".
func (a *appending) differingField(i int, e *choir.Event) string {
	d := &a.drafts[i]
	switch {
	case e.Source != a.source:
		return "source"
	case e.Type != d.Type:
		return "type"
	case e.Run != d.Run:
		return "run"
	case e.Task != d.Task:
		return "task"
	case e.Cause != d.Cause:
		return "cause"
	case e.Blob != d.Blob:
		return "blob"
	}
	if raw, err := choir.Canonicalize(d.Payload); err != nil || !bytes.Equal(raw, e.Payload) {
		return "payload"
	}
	return ""
}

// removeFromCache removes the sealed drafts from the recent cache, after their append
// failed.
func (a *appending) removeFromCache() {
	for i, r := range a.receipts {
		if !r.Duplicate {
			a.store.recent.remove(r.ID, a.keys[i].own)
		}
	}
	a.receipts = nil
}

// fillDuplicates copies number, time and hash of the first event into the receipts of
// duplicates. The first append is finished by then; an event whose append failed gives
// an error.
func (a *appending) fillDuplicates(ctx context.Context) error {
	for i := range a.receipts {
		r := &a.receipts[i]
		if !r.Duplicate {
			continue
		}
		first, err := a.store.Event(ctx, r.ID)
		if choir.CodeOf(err) == choir.CodeNotFound {
			return choir.Refuse("eventstore.append", choir.ReasonAppendFirstFailed, choir.TextOf("id", r.ID))
		}
		if err != nil {
			return err
		}
		r.Seq, r.Hash = first.Seq, first.Hash
	}
	return nil
}
