package bus

import (
	"context"
	"encoding/json"

	"choiros/internal/choir"
)

// AskOnce is one attempt of Call.
func (c *Client) AskOnce(ctx context.Context, verb choir.Verb, req any) error {
	body, err := json.Marshal(req)
	if err == nil {
		_, err = c.ask(ctx, verb, body)
	}
	return err
}

// Connection is the token of the connection that carries new calls.
func (c *Client) Connection() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.nc.Opts.Name
}
