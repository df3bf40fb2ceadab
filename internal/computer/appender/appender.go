// Package appender appends the control plane's events to the log of a computer: it
// makes drafts of payloads and gives them ids. Ids that follow from others are public,
// so a guest may have taken one; the event gets a fresh id then.
package appender

import (
	"bytes"
	"context"
	"log/slog"

	"choiros/internal/choir"
)

// Log is the log that an Appender appends to; eventstore.Store is one.
type Log interface {
	// Append appends all drafts or none, as eventstore.Store.Append.
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
	// Event is the event with an id. Code not_found when there is none.
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
}

// Appender appends to the log of one computer. Its methods may be called at once.
type Appender struct {
	log      Log
	computer choir.ID
	newID    func() (choir.ID, error)
	logger   *slog.Logger
}

// New makes an Appender for the log of a computer. newID makes fresh ids; it may be
// called at once, and its error is that of whatever needed the id. The logger is
// told of ids that were taken.
func New(log Log, computer choir.ID, newID func() (choir.ID, error), logger *slog.Logger) *Appender {
	return &Appender{log: log, computer: computer, newID: newID, logger: logger}
}

// NewID returns a fresh id.
func (a *Appender) NewID() (choir.ID, error) { return a.newID() }

// Draft returns a draft of a payload with a fresh id.
func (a *Appender) Draft(p choir.Payload) (choir.Draft, error) {
	id, err := a.newID()
	if err != nil {
		return choir.Draft{}, err
	}
	return choir.NewDraft(id, p)
}

// Drafts returns a draft with a fresh id for each payload.
func (a *Appender) Drafts(payloads []choir.Payload) ([]choir.Draft, error) {
	out := make([]choir.Draft, 0, len(payloads))
	for _, p := range payloads {
		d, err := a.Draft(p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// Append appends payloads that belong to no run, all or none. Errors are those of
// Log.Append.
func (a *Appender) Append(ctx context.Context, role choir.Role, payloads ...choir.Payload) ([]choir.Receipt, error) {
	drafts, err := a.Drafts(payloads)
	if err != nil {
		return nil, err
	}
	return a.log.Append(ctx, role, drafts...)
}

// AppendAs appends drafts whose ids are derived from ids that guests know. If a guest
// has used such an id for another event, the draft gets a fresh id, so a guest cannot
// prevent the append. choir.TypeInfo.Once prevents a second event. Code conflict: see
// Log.Append.
func (a *Appender) AppendAs(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	fresh := func(taken *choir.First) (choir.ID, error) {
		a.logger.Warn("an event has the id that another one follows to", "computer", a.computer, "event", taken.Seq, "type", taken.Type, "source", taken.Source)
		return a.newID()
	}
	receipts, i, err := choir.AppendAs(ctx, role.Source(), drafts, fresh, func(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
		return a.log.Append(ctx, role, drafts...)
	})
	if first := choir.FirstOf(err); first != nil && len(drafts) == 1 {
		return a.repeated(ctx, role, drafts[i], first, err)
	}
	return receipts, err
}

// AppendToRun appends one event of a run, and of a task of it unless that is empty, as
// AppendAs does.
func (a *Appender) AppendToRun(ctx context.Context, role choir.Role, id, run, task choir.ID, p choir.Payload) (choir.Receipt, error) {
	d, err := choir.NewDraft(id, p)
	if err != nil {
		return choir.Receipt{}, err
	}
	receipts, err := a.AppendAs(ctx, role, d.ForRun(run, task))
	if err != nil {
		return choir.Receipt{}, err
	}
	return receipts[0], nil
}

// repeated returns the receipt of first if it equals the draft except for the id,
// because the draft got a fresh id at its first append; else refusal.
func (a *Appender) repeated(ctx context.Context, role choir.Role, d choir.Draft, first *choir.First, refusal error) ([]choir.Receipt, error) {
	if !first.Says(role.Source(), d.Type) {
		return nil, refusal
	}
	e, err := a.log.Event(ctx, first.ID)
	if err != nil {
		return nil, err
	}
	raw, err := choir.Canonicalize(d.Payload)
	if err != nil || e.Run != d.Run || e.Task != d.Task || !bytes.Equal(raw, e.Payload) {
		return nil, refusal
	}
	r := first.Receipt()
	r.Duplicate = true
	return []choir.Receipt{r}, nil
}

// UnlessSaid returns nil for an error of AppendAs which says that the source has said
// an event of the type already, in other words. It returns any other error as it is.
func UnlessSaid(err error, role choir.Role, t choir.Type) error {
	if first := choir.FirstOf(err); first != nil && first.Says(role.Source(), t) {
		return nil
	}
	return err
}
