package bus

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

const (
	retryMin = 10 * time.Millisecond
	retryMax = 250 * time.Millisecond
)

// Call sends a verb to the computer and decodes the reply into resp, which may be nil. A
// refusal is returned as a *choir.Error.
//
// Verbs are idempotent, so Call retries until ctx ends while the connection is down,
// nobody answers, or the answer has code busy.
func (c *Client) Call(ctx context.Context, verb choir.Verb, req, resp any) error {
	info, ok := choir.LookupVerb(verb)
	if !ok || !info.MayAsk(c.cfg.Role) {
		return choir.E("bus.call", choir.CodeForbidden, "the %s may not ask for %q", c.cfg.Role, verb)
	}
	body, err := json.Marshal(req)
	if err != nil {
		return choir.Wrap("bus.call", choir.CodeInvalid, err, "encode %T", req)
	}
	if len(body) > choir.LargeBody {
		if body, err = c.putAside(ctx, body); err != nil {
			return err
		}
	}
	for n := 1; ; n++ {
		reply, err := c.ask(ctx, verb, body)
		if err == nil {
			return c.decodeReply(ctx, verb, reply, resp)
		}
		if choir.CodeOf(err) != choir.CodeBusy {
			return err
		}
		if !pause(ctx, backoff(n, retryMin, retryMax)) {
			return ended(ctx, verb, err)
		}
	}
}

// putAside stores a large request as a blob and returns the message to send instead, which names the
// blob. Code too_large: the request exceeds choir.MaxLargeBody.
func (c *Client) putAside(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) > choir.MaxLargeBody {
		return nil, choir.E("bus.call", choir.CodeTooLarge, "the request has %d bytes, more than %d", len(body), choir.MaxLargeBody)
	}
	d, err := c.PutBlob(ctx, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(choir.LargeRequest{Large: d})
}

// ask sends one request over the current link and returns its reply. Code busy: a retry
// may succeed.
func (c *Client) ask(ctx context.Context, verb choir.Verb, body []byte) (choir.Reply, error) {
	l, err := c.beginCall()
	if err != nil {
		return choir.Reply{}, err
	}
	defer l.calls.Done()
	up := l.alive()
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(up, cancel)()
	subject := CommandSubject(c.caller(l), verb)
	m, err := l.nc.RequestMsgWithContext(both, &nats.Msg{Subject: subject, Data: body})
	switch {
	case err == nil:
		return openReply(m.Data)
	case errors.Is(err, nats.ErrMaxPayload):
		return choir.Reply{}, choir.E("bus.call", choir.CodeTooLarge, "the request %s has %d bytes", verb, len(body)).
			WithRemedy("put large content into the blob store")
	case ctx.Err() != nil:
		return choir.Reply{}, ended(ctx, verb, err)
	case c.life.Err() != nil:
		return choir.Reply{}, ErrClosed
	}
	return choir.Reply{}, choir.Wrap("bus.call", choir.CodeBusy, err, "ask for %s", verb)
}

// caller returns the client's identity on a link.
func (c *Client) caller(l *link) choir.Caller {
	return choir.Caller{User: c.cfg.User, Computer: c.cfg.Computer, Role: c.cfg.Role, Connection: l.nc.Opts.Name}
}

// openReply decodes a reply's envelope. It returns the error that the reply carries.
func openReply(raw []byte) (choir.Reply, error) {
	var r choir.Reply
	if err := json.Unmarshal(raw, &r); err != nil || (r.OK == nil && r.Large == "") == (r.Error == nil) {
		return r, choir.E("bus.call", choir.CodeInternal, "a reply of %d bytes is not an envelope", len(raw))
	}
	return r, r.Error.Err()
}

// decodeReply decodes a reply into resp, which may be nil. A large reply is read from the blob store.
func (c *Client) decodeReply(ctx context.Context, verb choir.Verb, r choir.Reply, resp any) error {
	if resp == nil {
		return nil
	}
	if r.Large != "" {
		var err error
		if r.OK, err = c.GetBlob(ctx, r.Large); err != nil {
			return err
		}
	}
	// Not strict: an optional field more must not stop an older role.
	return choir.Wrap("bus.call", choir.CodeInternal, json.Unmarshal(r.OK, resp), "read the reply to %s", verb)
}

// ended returns the error for a call whose ctx ended, which includes the last error.
func ended(ctx context.Context, verb choir.Verb, last error) error {
	code := choir.CodeCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = choir.CodeTimeout
	}
	return choir.Wrap("bus.call", code, errors.Join(ctx.Err(), last), "no answer to %s", verb)
}

// pause waits for d. It returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
