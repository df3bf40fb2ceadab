package bus

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"

	"choiros/internal/choir"
)

// UseCredentials opens a second connection, moves every subscription and all
// later calls to it, lets the calls in flight end on the first, and closes that.
// Called before the first expires, it interrupts nothing; afterwards it brings
// the client back. When it fails the client goes on as before.
func (c *Client) UseCredentials(ctx context.Context, creds Credentials) error {
	release, err := c.take(ctx)
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
			err = next.settle(ctx, f)
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

// Renew takes over to each new line of credentials on a role's standard input.
// It ends with nil when the input does, or with ctx.
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
