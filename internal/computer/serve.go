package computer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/thejerf/suture/v4"
)

// Serve runs the computer until ctx ends: relay, verbs, dispatch and both sandboxes, under
// one supervisor. With a read-only log it runs nothing. It may be called again after it has
// returned.
func (c *Computer) Serve(ctx context.Context) error {
	if why := c.store.ReadOnly(); why != "" {
		// What is intact can be read; nothing may run on top of a damaged log.
		c.cfg.Log.Error("the log is read-only", "computer", c.cfg.ID, "said", why)
		<-ctx.Done()
		return nil
	}
	sup := suture.New("computer "+string(c.cfg.ID), suture.Spec{
		EventHook: func(e suture.Event) {
			c.cfg.Log.Warn("supervisor", "computer", c.cfg.ID, "said", e.String())
		},
		FailureBackoff: 5 * time.Second,
		Timeout:        30 * time.Second, // a workspace may be fetched from its sandbox
	})
	if c.cfg.CloseUnreturned != nil {
		if err := c.cfg.CloseUnreturned(ctx, c); err != nil {
			return ended(err)
		}
	}
	answers, err := c.cfg.Bus.Respond(c.cfg.User, c.cfg.ID, c.verbs.Handle)
	if err != nil {
		return err
	}
	if err := c.session.Start(ctx, c.cfg.Driver.Name()); err != nil {
		answers.Close()
		return ended(err)
	}
	own, err := c.origin.Own(ctx)
	if err != nil {
		answers.Close()
		return err
	}
	sup.Add(c.cfg.Bus.Relay(own, c.store.Cursor("relay"), c.cfg.User, c.cfg.ID))
	for _, s := range slices.Concat(c.roles.Services(), c.tasks.Services()) {
		sup.Add(s)
	}
	sup.Add(c.effects)
	sup.Add(c.collector)
	sup.Add(c.draftNews)
	sup.Add(c.projects)
	sup.Add(c.rewinder)
	for _, s := range c.workspace.Services() {
		sup.Add(s)
	}
	err = sup.Serve(ctx)
	c.roles.Terminals().Shut(c.session.EndReason())
	// What the sandboxes still asked for is answered before the session's last event.
	answers.Close()
	err = ended(err)
	if c.cfg.Drain != nil {
		err = errorsJoin(err, c.cfg.Drain(c))
	}
	return errorsJoin(c.session.End(ctx), err)
}

// ended returns err, or nil if it is context.Canceled, which ends a service in order.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
