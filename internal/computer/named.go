package computer

import (
	"context"

	"choiros/internal/choir"
)

// appendAs appends drafts whose ids follow from ids that others know; see
// appender.Appender.AppendAs.
func (c *Computer) appendAs(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return c.events.AppendAs(ctx, role, drafts...)
}

// unlessSaid takes an error for none when it says that the source has said an
// event of the type already, in other words.
func unlessSaid(err error, role choir.Role, t choir.Type) error {
	if first := choir.FirstOf(err); first != nil && first.Says(role.Source(), t) {
		return nil
	}
	return err
}
