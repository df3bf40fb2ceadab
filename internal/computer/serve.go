package computer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// Serve wakes the computer and runs it until the context ends: the relay, the
// verbs, the dispatcher and both sandboxes, under one supervisor. It may be called
// again once it has returned.
func (c *Computer) Serve(ctx context.Context) error {
	if why := c.store.ReadOnly(); why != "" {
		// What is intact can be read; nothing may run on top of a damaged log.
		c.cfg.Log.Error("the log is read-only", "computer", c.cfg.ID, "said", why)
		<-ctx.Done()
		return nil
	}
	sup := suture.New("computer "+string(c.cfg.ID), suture.Spec{
		EventHook:      c.supervised,
		FailureBackoff: 5 * time.Second,
		Timeout:        20 * time.Second,
	})
	if c.cfg.CloseUnreturned != nil {
		if err := c.cfg.CloseUnreturned(ctx, c); err != nil {
			return ended(err)
		}
	}
	answers, err := hub.Respond(c.cfg.Bus, c.cfg.User, c.cfg.ID, c.Handle)
	if err != nil {
		return err
	}
	_, err = c.events.Append(ctx, choir.RoleControl, choir.SessionStarted{
		Version: c.cfg.Version, Isolation: c.cfg.Driver.Name(), Recovered: c.recovered, Boot: c.cfg.Boot,
	})
	if err != nil {
		answers.Close()
		return ended(err)
	}
	begins, err := c.beginsAt(ctx)
	if err != nil {
		answers.Close()
		return err
	}
	sup.Add(hub.NewRelay(c.cfg.Bus, ownEvents{c.store, begins}, c.store.Cursor("relay"), c.cfg.User, c.cfg.ID))
	for _, s := range slices.Concat(c.roles.Services(), c.tasks.Services()) {
		sup.Add(s)
	}
	sup.Add(autoCollect{c})
	sup.Add(c.draftNews)
	sup.Add(c.rewinds)
	for _, s := range c.workspace.Services() {
		sup.Add(s)
	}
	err = sup.Serve(ctx)
	c.roles.Terminals().Shut("choir was stopped")
	// What the sandboxes still asked for is answered before the session's last event.
	answers.Close()
	err = ended(err)
	if c.cfg.Drain != nil {
		err = errorsJoin(err, c.cfg.Drain(c))
	}
	slept := c.sleep(ctx)
	c.recovered = slept != nil // what a further Serve follows is this session
	return errorsJoin(slept, err)
}

// sleep says in the log that the session ended in order.
func (c *Computer) sleep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := c.events.Append(ctx, choir.RoleControl, choir.SessionEnded{Reason: "choir was stopped"})
	return err
}

// supervised logs what the supervisor sees.
func (c *Computer) supervised(e suture.Event) {
	c.cfg.Log.Warn("supervisor", "computer", c.cfg.ID, "said", e.String())
}

// ended is nil for the ways in which a service is meant to end.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lastSessionEvent is the newest session event in the log; nil when there is
// none.
func (c *Computer) lastSessionEvent(ctx context.Context) (*choir.Event, error) {
	for e, err := range c.store.Backwards(ctx, 0) {
		if err != nil {
			return nil, err
		}
		switch e.Type {
		case choir.TypeSessionStarted, choir.TypeSessionEnded, choir.TypeComputerForked, choir.TypeComputerImported:
			return &e, nil
		}
	}
	return nil, nil
}

// UnreturnedCalls lists the model.called that have no model.returned, of the
// session that the log ends in. It looks at nothing when that session ended in
// order, because then its gateway wrote the end of every call.
func (c *Computer) UnreturnedCalls(ctx context.Context) ([]choir.Event, error) {
	last, err := c.lastSessionEvent(ctx)
	if err != nil || last == nil || last.Type != choir.TypeSessionStarted {
		return nil, err
	}
	var open []choir.Event
	for e, err := range c.store.Events(ctx, last.Seq+1, 0) {
		if err != nil {
			return open, err
		}
		switch e.Type {
		case choir.TypeModelCalled:
			open = append(open, e)
		case choir.TypeModelReturned:
			open = slices.DeleteFunc(open, func(called choir.Event) bool { return called.ID == e.Cause })
		}
	}
	return open, nil
}

// wentDownSince reports whether the machine was started anew since a session that did not
// end. boot names the time since the machine was started.
func wentDownSince(started *choir.Event, boot string) (bool, error) {
	p, err := choir.ReadPayload(started.Type, started.Payload)
	if err != nil {
		return false, choir.Wrap("computer.open", choir.CodeCorrupt, err, "event %d", started.Seq)
	}
	before := p.(*choir.SessionStarted).Boot
	return before != "" && boot != "" && before != boot, nil
}
