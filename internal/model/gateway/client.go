// Package gateway is the guest's client of the model gateway. It uses the contract of
// package model over the egress door of the sandbox.
package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// CallInfo identifies a model call; see model.CallInfo.
type CallInfo = model.CallInfo

// Client calls models through the gateway. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	url   string
	pause func(ctx context.Context, d time.Duration) error
}

// New returns a client. httpc must dial the egress door.
func New(httpc *http.Client) *Client {
	return &Client{http: httpc, url: "http://choir" + model.CallPath, pause: pause}
}

// The maximum of attempts of one call, and the pauses between them, which double.
// Together they last about as long as a sandbox survives without its control plane, 60
// s.
const (
	attempts   = 16
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Call calls a model and returns the whole answer. on gets each piece as it arrives, in
// order, from the calling goroutine, and may be nil. If the connection breaks, the call
// is repeated with the same id, so that an answer is paid for only once; pieces are then
// not delivered again.
//
// Errors are *choir.Error with the gateway's code; unavailable: the gateway cannot be
// reached, cancelled_by_you: ctx ended.
func (c *Client) Call(ctx context.Context, info CallInfo, req model.Request, on func(model.Delta)) (model.Response, error) {
	body, err := json.Marshal(model.Call{Call: info.Call, Run: info.Run, Task: info.Task, Caller: info.Caller, Request: req})
	if err != nil {
		return model.Response{}, choir.Wrap("model.call", choir.CodeInvalid, err, "encode the request")
	}
	if len(body) > model.MaxCallBytes {
		return model.Response{}, choir.E("model.call", choir.CodeTooLarge, "the request has %d bytes, more than %d", len(body), model.MaxCallBytes).
			WithRemedy("shorten the conversation")
	}
	delivered := false
	once := func(d model.Delta) {
		delivered = true
		if on != nil {
			on(d)
		}
	}
	wait := firstPause
	for n := 1; ; n++ {
		resp, again, err := c.once(ctx, body, once)
		if err == nil || !again || n == attempts {
			return resp, err
		}
		if delivered {
			once = func(model.Delta) {}
		}
		if c.pause(ctx, wait) != nil {
			return resp, cancelled(ctx)
		}
		wait = min(2*wait, maxPause)
	}
}

// once makes one attempt of a call. again reports whether the same call may be repeated
// after the error.
func (c *Client) once(ctx context.Context, body []byte, on func(model.Delta)) (resp model.Response, again bool, err error) {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return resp, false, choir.Wrap("model.call", choir.CodeInternal, err, "make the request")
	}
	post.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(post)
	if err != nil {
		return resp, true, connectionError(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		err := refusal(answer)
		return resp, err.Code == choir.CodeBusy, err
	}
	return readFrames(ctx, answer.Body, on)
}

// refusal decodes an error that the gateway answered before any frame.
func refusal(answer *http.Response) *choir.Error {
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var f model.Frame
	if json.Unmarshal(raw, &f) != nil || f.Error == nil {
		return choir.E("model.call", choir.CodeUnavailable, "the model gateway answered %s", answer.Status)
	}
	return f.Error.Err("model.call")
}

// connectionError returns the error for a failed connection: unavailable, or that of the
// ended ctx.
func connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return choir.Wrap("model.call", choir.CodeUnavailable, err, "the model gateway cannot be reached")
}

// cancelled returns the error for an ended ctx: code timeout at its deadline, else
// cancelled_by_you.
func cancelled(ctx context.Context) error {
	code := choir.CodeCancelled
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		code = choir.CodeTimeout
	}
	return choir.Wrap("model.call", code, context.Cause(ctx), "the model call was stopped")
}

// pause waits for d. Its error is that of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
