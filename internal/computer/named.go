package computer

import (
	"bytes"
	"context"

	"choiros/internal/choir"
)

// appendAs appends drafts whose ids follow from what others know. One whose id an
// event of somebody else holds is appended under a fresh id, so the log has what
// was said whatever ids a guest makes up; that there is one of it follows from
// choir.TypeInfo.Once. Code conflict: as of eventstore.Store.Append.
func (c *Computer) appendAs(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	fresh := func(taken *choir.First) (choir.ID, error) {
		c.cfg.Log.Warn("an event has the id that another one follows to", "computer", c.cfg.ID, "event", taken.Seq, "type", taken.Type, "source", taken.Source)
		return c.newID()
	}
	receipts, i, err := choir.AppendAs(ctx, role.Source(), drafts, fresh, func(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
		return c.store.Append(ctx, role, drafts...)
	})
	if first := choir.FirstOf(err); first != nil && len(drafts) == 1 {
		return c.repeated(ctx, role, drafts[i], first, err)
	}
	return receipts, err
}

// repeated gives the receipt of an event that says what the draft does under
// another id: the draft had that one too when it was appended first. Otherwise it
// gives the refusal.
func (c *Computer) repeated(ctx context.Context, role choir.Role, d choir.Draft, first *choir.First, refusal error) ([]choir.Receipt, error) {
	if !first.Says(role.Source(), d.Type) {
		return nil, refusal
	}
	e, err := c.store.Event(ctx, first.ID)
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

// unlessSaid takes an error for none when it says that the source has said an
// event of the type already, in other words.
func unlessSaid(err error, role choir.Role, t choir.Type) error {
	if first := choir.FirstOf(err); first != nil && first.Says(role.Source(), t) {
		return nil
	}
	return err
}
