package bus

import "choiros/internal/choir"

// Live publishes text of a run to its current watchers. It is not stored.
func (c *Client) Live(run choir.ID, text string) error {
	l, err := c.beginCall()
	if err != nil {
		return err
	}
	defer l.calls.Done()
	err = l.nc.Publish(LiveSubject(c.cfg.User, c.cfg.Computer, c.cfg.Role, run), []byte(text))
	return choir.Wrap("bus.live", choir.CodeUnavailable, err, "stream text of run %s", run)
}
