// Package gateway is the guest's side of the model gateway: it speaks the
// contract of package model through the egress door of the sandbox.
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

// CallInfo says for whom and for what a model is called.
type CallInfo = model.CallInfo

// Client calls models through the gateway. It may be used by many goroutines.
type Client struct {
	http  *http.Client
	url   string
	pause func(ctx context.Context, d time.Duration) error
}

// New makes a client over an HTTP client that dials the egress door.
func New(httpc *http.Client) *Client {
	return &Client{http: httpc, url: "http://choir" + model.CallPath, pause: pause}
}

// The control plane may be away while it restarts; a sandbox outlives it by 60
// seconds. The pauses add up to about that.
const (
	attempts   = 16
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Call calls a model. on gets each piece as it arrives, in order, from the
// calling goroutine, and may be nil. When the connection breaks, the same call
// is asked again with the same id, so nothing is paid twice that was answered
// once; pieces are then not delivered again, the response is whole.
//
// Errors are *choir.Error with the gateway's code; unavailable when the gateway
// cannot be reached, cancelled_by_you when ctx ended.
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

// once asks one time; again says that the same call may be asked again.
func (c *Client) once(ctx context.Context, body []byte, on func(model.Delta)) (resp model.Response, again bool, err error) {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return resp, false, choir.Wrap("model.call", choir.CodeInternal, err, "make the request")
	}
	post.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(post)
	if err != nil {
		return resp, true, lost(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		err := refusal(answer)
		return resp, err.Code == choir.CodeBusy, err
	}
	return readFrames(ctx, answer.Body, on)
}

// refusal reads an error that came before any frame.
func refusal(answer *http.Response) *choir.Error {
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var f model.Frame
	if json.Unmarshal(raw, &f) != nil || f.Error == nil {
		return choir.E("model.call", choir.CodeUnavailable, "the model gateway answered %s", answer.Status)
	}
	return f.Error.Err("model.call")
}

func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return choir.Wrap("model.call", choir.CodeUnavailable, err, "the model gateway cannot be reached")
}

func cancelled(ctx context.Context) error {
	code := choir.CodeCancelled
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		code = choir.CodeTimeout
	}
	return choir.Wrap("model.call", code, context.Cause(ctx), "the model call was stopped")
}

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
