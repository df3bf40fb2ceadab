package eventstore

import (
	"context"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// Append adds events, all or none, and returns when they are durable; receipts
// are in the order of the drafts. A draft whose id is in the log already adds
// nothing and gets the receipt of the first, marked as duplicate. What a draft
// says is held against its type: code invalid, forbidden or too_large, with the
// path of the field. Code no_space: nothing was added, try again when there is
// room. Code corrupt or unavailable: the log takes no appends; but an error that
// is ErrNotReplicated is about events that are in the log.
func (s *Store) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if len(s.opened.holes) > 0 {
		return nil, choir.E("eventstore.append", choir.CodeCorrupt, "the log takes no appends: %s", s.opened.readOnly).
			WithRemedy("restore a backup; reading goes on")
	}
	if s.opened.readOnly != "" {
		return nil, choir.E("eventstore.append", choir.CodeUnavailable, "the log takes no appends: %s", s.opened.readOnly)
	}
	if err := ctx.Err(); err != nil {
		return nil, choir.Wrap("eventstore.append", choir.CodeCancelled, err, "stopped before anything was appended")
	}
	a := appending{store: s, source: role.Source(), drafts: slices.Clone(drafts)}
	for i := range a.drafts {
		payload, err := s.check(ctx, role, &a.drafts[i])
		if err != nil {
			return nil, underDraft(i, len(drafts), err)
		}
		a.payloads = append(a.payloads, payload)
	}
	receipts, err := a.admit(ctx)
	if err != nil || s.cfg.Replica == nil || role == choir.RoleControl {
		return receipts, err
	}
	return s.replicated(ctx, receipts)
}

func underDraft(i, n int, err error) error {
	if n == 1 {
		return err
	}
	return choir.Under(fmt.Sprintf("drafts[%d]", i), err)
}

// check holds a draft against its type and gives its payload.
func (s *Store) check(ctx context.Context, role choir.Role, d *choir.Draft) (choir.Payload, error) {
	info, ok := choir.LookupType(d.Type)
	switch {
	case !ok:
		return nil, choir.Invalid("type", "%q is not an event type", d.Type)
	case !info.MayAppend(role):
		e := choir.E("eventstore.append", choir.CodeForbidden, "the role %q may not append %s", role, d.Type)
		e.Path = "type"
		return nil, e
	case len(d.Payload) > choir.InlineLimit:
		return nil, &choir.Error{Op: "eventstore.append", Code: choir.CodeTooLarge, Path: "payload",
			Msg:    fmt.Sprintf("has %d bytes, more than %d", len(d.Payload), choir.InlineLimit),
			Remedy: "put the content into the blob store and name its digest"}
	case info.Run && d.Run == "":
		return nil, choir.Invalid("run", "is required for %s", d.Type)
	}
	payload, err := choir.DecodePayload(d.Type, d.Payload)
	if err != nil {
		return nil, err
	}
	if err := checkTask(d, payload); err != nil {
		return nil, err
	}
	if d.Blob != "" && s.cfg.Blobs != nil {
		if _, err := s.cfg.Blobs.Size(ctx, d.Blob); err != nil {
			return nil, choir.Under("blob", err)
		}
	}
	return payload, nil
}

// checkTask holds the task and run a draft names against those in its payload,
// and fills the task in.
func checkTask(d *choir.Draft, payload choir.Payload) error {
	var task, run choir.ID
	switch p := payload.(type) {
	case *choir.TaskDispatched:
		task, run = p.Task.TaskID, p.Task.RunID
	case *choir.TaskReturned:
		task, run = p.Result.TaskID, p.Result.RunID
	case *choir.TaskStarted, *choir.TaskProgressed:
		if d.Task == "" {
			return choir.Invalid("task", "is required for %s", d.Type)
		}
		return nil
	default:
		return nil
	}
	if d.Task != "" && d.Task != task {
		return choir.Invalid("task", "is %s, the payload is about %s", d.Task, task)
	}
	if d.Run != run {
		return choir.Invalid("run", "is %s, the payload is about %s", d.Run, run)
	}
	d.Task = task
	return nil
}

// appending is one call of Append on its way through the journal.
type appending struct {
	store    *Store
	source   choir.Source
	drafts   []choir.Draft
	payloads []choir.Payload
	receipts []choir.Receipt
	earlier  map[choir.ID]bool // ids found in the database
	sealed   int
}

// admit is run while no repair runs.
func (a *appending) admit(ctx context.Context) ([]choir.Receipt, error) {
	if err := a.store.barrier.Enter(ctx); err != nil {
		return nil, err
	}
	defer a.store.barrier.Leave()
	if err := a.store.applier.retry(); err != nil {
		return nil, err
	}
	return a.run(ctx)
}

func (a *appending) run(ctx context.Context) ([]choir.Receipt, error) {
	if err := a.findEarlier(ctx); err != nil {
		return nil, err
	}
	err := a.store.journal.Append(a.seal)
	if err != nil {
		a.forget()
		return nil, err
	}
	if a.sealed == len(a.drafts) {
		return a.receipts, nil
	}
	return a.receipts, a.fillDuplicates(ctx)
}

// findEarlier asks the database for ids that are not remembered and not newer
// than all that are forgotten.
func (a *appending) findEarlier(ctx context.Context) error {
	ask := a.store.pool.use
	if head, _ := a.store.journal.Head(); a.store.applier.reached()+recentEvents <= head {
		ask = a.store.read // the database lacks events that are forgotten
	}
	for i := range a.drafts {
		id := a.drafts[i].ID
		if _, ok := a.store.recent.seq(id); ok || a.store.recent.unknown(id) {
			continue
		}
		err := ask(ctx, func(conn *sqlite.Conn) error {
			return query(conn, "SELECT seq FROM events WHERE id = ?", func(*sqlite.Stmt) error {
				if a.earlier == nil {
					a.earlier = map[choir.ID]bool{}
				}
				a.earlier[id] = true
				return nil
			}, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// seal is called by the journal, which holds its lock.
func (a *appending) seal(next uint64, prev choir.Digest) ([]journal.Record, error) {
	a.receipts, a.sealed = make([]choir.Receipt, len(a.drafts)), 0
	records := make([]journal.Record, 0, len(a.drafts))
	for i := range a.drafts {
		d := &a.drafts[i]
		if _, known := a.store.recent.seq(d.ID); known || a.earlier[d.ID] {
			a.receipts[i] = choir.Receipt{ID: d.ID, Duplicate: true}
			continue
		}
		e := choir.Event{
			Seq: next, ID: d.ID, Time: a.store.cfg.Now(), Computer: a.store.cfg.Computer, User: a.store.cfg.User,
			Source: a.source, Type: d.Type, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
		}
		raw, err := choir.SealEvent(&e, prev)
		if err != nil {
			a.receipts = a.receipts[:i]
			a.forget()
			return nil, underDraft(i, len(a.drafts), err)
		}
		a.receipts[i] = choir.Receipt{Seq: next, ID: e.ID, Hash: e.Hash}
		a.store.recent.add(e.ID, next)
		records = append(records, journal.Record{Seq: next, Event: raw, Hash: e.Hash, Value: item{event: e, payload: a.payloads[i]}})
		next, prev = next+1, e.Hash
		a.sealed++
	}
	return records, nil
}

// forget takes back that the sealed drafts are in the log.
func (a *appending) forget() {
	for _, r := range a.receipts {
		if !r.Duplicate {
			a.store.recent.remove(r.ID)
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
