package eventstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"choiros/internal/choir"
)

// Append adds events, all or none, and returns when they are durable; receipts are in
// the order of the drafts. A draft identical to an event in the log, with its id and
// source, adds nothing and gets that event's receipt, marked as duplicate. Code
// conflict: an event with the id has other content, or the log already has the one
// event of the type about the subject, see choir.TypeInfo.Once; choir.FirstOf returns
// it. Code not_found: the event that the draft answers, see choir.TypeInfo.After, is
// not in the log. Codes invalid, forbidden and too_large: the draft does not satisfy
// its type; the error has the path of the field. Code no_space: nothing was added, and
// a later try may succeed. Code corrupt or unavailable: the log accepts no appends. An
// ErrNotReplicated error is about events that are in the log.
func (s *Store) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if s.cfg.Observer == nil {
		return s.appendDurably(ctx, role, drafts)
	}
	began := time.Now()
	receipts, err := s.appendDurably(ctx, role, drafts)
	s.cfg.Observer.Appended(time.Since(began), err)
	return receipts, err
}

// appendDurably is Append without its observer.
func (s *Store) appendDurably(ctx context.Context, role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
	if len(s.opened.holes) > 0 {
		return nil, choir.Refuse("eventstore.append", choir.ReasonLogDamaged, choir.TextOf("why", s.opened.readOnly))
	}
	if s.opened.readOnly != "" {
		return nil, choir.Refuse("eventstore.append", choir.ReasonLogReadOnly, choir.TextOf("why", s.opened.readOnly))
	}
	if err := ctx.Err(); err != nil {
		return nil, choir.Wrap("eventstore.append", choir.CodeCancelled, err, "stopped before anything was appended")
	}
	receipts, err := s.appendFairly(ctx, role, drafts, func() ([]choir.Receipt, error) { return s.append(ctx, role, drafts) })
	if err != nil || s.cfg.Replica == nil || role == choir.RoleControl {
		return receipts, err
	}
	return s.waitReplicated(ctx, receipts)
}

func (s *Store) append(ctx context.Context, role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
	a := appending{store: s, source: role.Source(), drafts: slices.Clone(drafts)}
	for i := range a.drafts {
		payload, err := s.checkDraft(ctx, role, &a.drafts[i])
		if err != nil {
			return nil, underDraft(i, len(drafts), err)
		}
		a.payloads = append(a.payloads, payload)
		d := &a.drafts[i]
		var keys onceKeys
		keys.own, keys.after = choir.OnceKeys(d.Type, d.Run, d.Task, d.Cause, d.Payload)
		a.keys = append(a.keys, keys)
	}
	return a.admit(ctx)
}

func underDraft(i, n int, err error) error {
	if n == 1 {
		return err
	}
	return choir.Under(fmt.Sprintf("drafts[%d]", i), err)
}

// checkDraft checks a draft against the rules of its type and returns its decoded
// payload.
func (s *Store) checkDraft(ctx context.Context, role choir.Role, d *choir.Draft) (choir.Payload, error) {
	info, ok := choir.LookupType(d.Type)
	switch {
	case !ok:
		return nil, choir.RefuseField("type", choir.ReasonEventTypeUnknown, choir.TextOf("type", d.Type))
	case !info.MayAppend(role):
		return nil, choir.Refuse("eventstore.append", choir.ReasonRoleMayNotAppend, choir.TextOf("role", role), choir.TextOf("type", d.Type)).At("type")
	case len(d.Payload) > choir.InlineLimit:
		return nil, choir.RefuseField("payload", choir.ReasonPayloadLarge, choir.CountOf("n", len(d.Payload)), choir.CountOf("most", choir.InlineLimit))
	case info.Run && d.Run == "":
		return nil, choir.RefuseField("run", choir.ReasonEventNeeds, choir.TextOf("type", d.Type))
	}
	payload, err := choir.DecodePayload(d.Type, d.Payload)
	if err != nil {
		return nil, err
	}
	if err := checkTask(d, payload); err != nil {
		return nil, err
	}
	if len(info.Once) > 0 {
		if err := canonicalizePayload(d); err != nil {
			return nil, err
		}
	}
	if d.Blob != "" && s.cfg.Blobs != nil {
		if _, err := s.cfg.Blobs.Size(ctx, d.Blob); err != nil {
			return nil, choir.Under("blob", err)
		}
	}
	return payload, nil
}

// checkTask checks the draft's task and run against those in its payload, and sets the
// draft's task if it is empty.
func checkTask(d *choir.Draft, payload choir.Payload) error {
	var task, run choir.ID
	switch p := payload.(type) {
	case *choir.TaskDispatched:
		task, run = p.Task.TaskID, p.Task.RunID
	case *choir.TaskReturned:
		task, run = p.Result.TaskID, p.Result.RunID
	case *choir.TaskStarted, *choir.TaskProgressed:
		if d.Task == "" {
			return choir.RefuseField("task", choir.ReasonEventNeeds, choir.TextOf("type", d.Type))
		}
		return nil
	default:
		return nil
	}
	if d.Task != "" && d.Task != task {
		return choir.RefuseField("task", choir.ReasonEventAboutOther, choir.TextOf("given", d.Task), choir.TextOf("other", task))
	}
	if d.Run != run {
		return choir.RefuseField("run", choir.ReasonEventAboutOther, choir.TextOf("given", d.Run), choir.TextOf("other", run))
	}
	d.Task = task
	return nil
}

// admit runs the append while holding off repairs: it waits at the maintenance barrier
// and leaves it afterwards.
func (a *appending) admit(ctx context.Context) ([]choir.Receipt, error) {
	if err := a.store.barrier.AdmitAppend(ctx); err != nil {
		return nil, err
	}
	defer a.store.barrier.ReleaseAppend()
	if err := a.store.applier.retry(); err != nil {
		a.store.reportDamage(err)
		return nil, err
	}
	return a.run(ctx)
}

// canonicalizePayload replaces the payload of a draft by its canonical JSON, because
// the once keys of the event are read from that.
func canonicalizePayload(d *choir.Draft) error {
	raw, err := choir.Canonicalize(d.Payload)
	if err != nil {
		return choir.Under("payload", err)
	}
	d.Payload = raw
	return nil
}
