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

// appending is one call of Append on its way through the journal.
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

// onceKeys are the keys of a draft, see choir.OnceKeys.
type onceKeys struct{ own, after choir.OnceKey }

// errClash is seal's refusal; appending.clash says it in full.
var errClash = errors.New("a draft collides with the log")

func (a *appending) run(ctx context.Context) ([]choir.Receipt, error) {
	if err := a.findEarlier(ctx); err != nil {
		return nil, err
	}
	err := a.store.journal.Append(a.seal)
	if err != nil {
		a.forget()
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

// findEarlier asks the database for ids and keys that are not remembered and not
// newer than all that are forgotten, and for the runs of what drafts answer.
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
	if _, ok := a.store.recent.seq(id); ok || a.store.recent.unknown(id) {
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
	if _, ok := a.store.recent.first(key); ok || a.store.recent.unheard(key) {
		return nil
	}
	seq, err := a.store.firstSeq(ctx, key)
	if err == nil && seq > 0 {
		a.firsts[key] = seq
	}
	return err
}

// findRun finds the run of the event with a key. One that is not durable yet is
// left out: a draft that answers it may be appended again a moment later.
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

// seal is called by the journal, which holds its lock.
func (a *appending) seal(next uint64, prev choir.Digest) ([]journal.Record, error) {
	a.receipts, a.sealed = make([]choir.Receipt, 0, len(a.drafts)), 0
	a.inBatch = map[choir.OnceKey]choir.ID{}
	records := make([]journal.Record, 0, len(a.drafts))
	for i := range a.drafts {
		known, err := a.repeats(i)
		if err == nil && !known {
			err = a.allowed(i)
		}
		if err != nil {
			a.forget()
			return nil, err
		}
		if known {
			a.receipts = append(a.receipts, choir.Receipt{ID: a.drafts[i].ID, Duplicate: true})
			continue
		}
		e := a.event(i, next, a.store.cfg.Now())
		raw, err := choir.SealEvent(&e, prev)
		if err != nil {
			a.forget()
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

// event is what becomes of a draft in its place in the log.
func (a *appending) event(i int, seq uint64, at choir.Time) choir.Event {
	d := &a.drafts[i]
	return choir.Event{
		Seq: seq, ID: d.ID, Time: at, Computer: a.store.cfg.Computer, User: a.store.cfg.User, Source: a.source,
		Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
	}
}

// repeats reports whether the log has the draft already. An event with its id
// that says something else is a clash.
func (a *appending) repeats(i int) (bool, error) {
	id := a.drafts[i].ID
	same, known := false, false
	if e, ok := a.store.recent.id(id); ok {
		again := a.event(i, e.seq, e.at)
		_, err := choir.SealEvent(&again, e.prev)
		same, known = err == nil && again.Hash == e.hash, true
	} else if e, ok := a.earlier[id]; ok {
		same, known = a.differs(i, &e) == "", true
	}
	switch {
	case !known || same:
		return known, nil
	case slices.ContainsFunc(a.receipts, func(r choir.Receipt) bool { return r.ID == id && !r.Duplicate }):
		return false, a.twin(i, "id")
	}
	return false, a.clashes(func(ctx context.Context) error { return a.taken(ctx, i) })
}

// allowed refuses the second event of which the log has one, and the answer to
// what is not there.
func (a *appending) allowed(i int) error {
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
		return a.twin(i, lastOf(a.drafts[i].Type))
	}
	if known {
		return a.clashes(func(ctx context.Context) error { return a.second(ctx, i, seq) })
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
		return choir.E("eventstore.append", choir.CodeBusy, "what %s answers is being appended", a.drafts[i].Type).WithRemedy("append it again")
	}
	return underDraft(i, len(a.drafts), unanswered(&a.drafts[i]))
}

// twin refuses a draft that collides with another of the same append.
func (a *appending) twin(i int, path string) error {
	return underDraft(i, len(a.drafts), &choir.Error{
		Op: "eventstore.append", Code: choir.CodeConflict, Path: path,
		Msg: "is that of another draft of the same append, which says something else", Remedy: "append only one of the two",
	})
}

// lastOf is the field that names the subject of a type most closely.
func lastOf(t choir.Type) string {
	info, _ := choir.LookupType(t)
	return info.Once[len(info.Once)-1]
}

func (a *appending) clashes(say func(context.Context) error) error {
	a.clash = say
	return errClash
}

// unanswered refuses an answer to what the log does not have.
func unanswered(d *choir.Draft) error {
	info, _ := choir.LookupType(d.Type)
	return &choir.Error{
		Op: "eventstore.append", Code: choir.CodeNotFound, Path: lastOf(d.Type),
		Msg:    "names what no " + string(info.After) + " of run " + string(d.Run) + " is about, so " + string(d.Type) + " answers nothing",
		Remedy: "append it after that event, with the same run",
	}
}

// taken says which field of a draft differs from the event that has its id.
func (a *appending) taken(ctx context.Context, i int) error {
	e, err := a.standing(ctx, func() (choir.Event, error) { return a.store.Event(ctx, a.drafts[i].ID) })
	if err != nil {
		return err
	}
	return underDraft(i, len(a.drafts), &choir.Error{
		Op: "eventstore.append", Code: choir.CodeConflict, Path: a.differs(i, &e), First: firstOf(&e),
		Msg:    "differs from event " + itoa(int(e.Seq)) + ", a " + string(e.Type) + " of the source " + string(e.Source) + ", which has the id " + string(e.ID),
		Remedy: "give another event an id of its own",
	})
}

// second says which event is there in the place of a draft.
func (a *appending) second(ctx context.Context, i int, seq uint64) error {
	e, err := a.standing(ctx, func() (choir.Event, error) { return a.store.At(ctx, seq) })
	if err != nil {
		return err
	}
	return underDraft(i, len(a.drafts), &choir.Error{
		Op: "eventstore.append", Code: choir.CodeConflict, Path: lastOf(e.Type), First: firstOf(&e),
		Msg:    "has its one " + string(e.Type) + " already: event " + itoa(int(e.Seq)) + " of the source " + string(e.Source),
		Remedy: "read that event; there is no second",
	})
}

func firstOf(e *choir.Event) *choir.First {
	return &choir.First{Seq: e.Seq, ID: e.ID, Hash: e.Hash, Type: e.Type, Source: e.Source}
}

// standing reads an event that was known when a draft was refused, after those
// that were on their way then. One whose append failed meanwhile is code busy.
func (a *appending) standing(ctx context.Context, read func() (choir.Event, error)) (choir.Event, error) {
	nothing := func(uint64, choir.Digest) ([]journal.Record, error) { return nil, nil }
	if err := a.store.journal.Append(nothing); err != nil {
		return choir.Event{}, err
	}
	e, err := read()
	if choir.CodeOf(err) == choir.CodeNotFound {
		err = choir.E("eventstore.append", choir.CodeBusy, "the append of an event that this one collides with has just failed").
			WithRemedy("append it again")
	}
	return e, err
}

// differs names the first field in which a draft says something else than an
// event; empty when it is the same.
func (a *appending) differs(i int, e *choir.Event) string {
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

// forget takes back that the sealed drafts are in the log.
func (a *appending) forget() {
	for i, r := range a.receipts {
		if !r.Duplicate {
			a.store.recent.remove(r.ID, a.keys[i].own)
		}
	}
	a.receipts = nil
}

// fillDuplicates looks the first receipts up. The journal has waited for those
// that were on their way; one that failed then is not in the log.
func (a *appending) fillDuplicates(ctx context.Context) error {
	for i := range a.receipts {
		r := &a.receipts[i]
		if !r.Duplicate {
			continue
		}
		first, err := a.store.Event(ctx, r.ID)
		if choir.CodeOf(err) == choir.CodeNotFound {
			return choir.E("eventstore.append", choir.CodeBusy, "the first append of event %s has just failed", r.ID).
				WithRemedy("append it again")
		}
		if err != nil {
			return err
		}
		r.Seq, r.Hash = first.Seq, first.Hash
	}
	return nil
}
