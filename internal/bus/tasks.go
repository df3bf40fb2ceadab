package bus

import (
	"context"

	"choiros/internal/choir"
)

// Tasks delivers what control sends this worker, until ctx ends or the client is
// closed; then the channel is closed. A delivery that does not hold is dropped,
// and so is one that comes while nobody reads: control sends it again.
func (c *Client) Tasks(ctx context.Context) (<-chan Delivery, error) {
	f, err := c.listen(ctx, TaskSubject(c.cfg.User, c.cfg.Computer, c.cfg.Role))
	if err != nil {
		return nil, err
	}
	out := make(chan Delivery)
	go func() {
		defer close(out)
		defer c.unlisten(f)
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.life.Done():
				return
			case <-f.pokes:
			case m := <-f.messages:
				var d Delivery
				if choir.DecodeStrict(m.Data, &d) != nil {
					continue
				}
				select {
				case out <- d:
				case <-ctx.Done():
					return
				case <-c.life.Done():
					return
				}
			}
		}
	}()
	return out, nil
}

// Live streams text of a run to whoever watches; nobody may, and it is not kept.
func (c *Client) Live(run choir.ID, text string) error {
	l, err := c.begin()
	if err != nil {
		return err
	}
	defer l.calls.Done()
	err = l.nc.Publish(LiveSubject(c.cfg.User, c.cfg.Computer, c.cfg.Role, run), []byte(text))
	return choir.Wrap("bus.live", choir.CodeUnavailable, err, "stream text of run %s", run)
}
