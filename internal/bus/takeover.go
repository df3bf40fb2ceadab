package bus

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"choiros/internal/choir"
)

// UseCredentials opens a connection with creds, moves subscriptions and later calls to it,
// waits for the calls on the old one and closes that. Before the old credentials expire it
// interrupts nothing. After an error the client is unchanged.
func (c *Client) UseCredentials(ctx context.Context, creds Credentials) error {
	release, err := c.acquireTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	next, err := c.open(ctx, creds)
	if err != nil {
		return err
	}
	c.mu.Lock()
	old, feeds := c.link, slices.Clone(c.feeds)
	c.mu.Unlock()
	for _, f := range feeds {
		if err = next.attach(f); err == nil {
			err = next.confirmSubscription(ctx, f)
		}
		if err != nil {
			next.close()
			return err
		}
	}
	c.mu.Lock()
	c.link = next
	c.mu.Unlock()
	old.retire(ctx, c.life)
	c.pokeAll()
	return nil
}

// Renew calls UseCredentials for each line of credentials on a role's standard input. It
// returns nil at the end of input, and an error when ctx ends.
func (c *Client) Renew(ctx context.Context, r *bufio.Reader) error {
	for {
		creds, err := ReadCredentials(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		// A take-over that fails leaves the client as it was; control sends others.
		if err := c.UseCredentials(ctx, creds); err != nil && choir.CodeOf(err) == choir.CodeCancelled {
			return err
		}
	}
}
