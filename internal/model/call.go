package model

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// CallPath is where the gateway serves this contract at the egress door:
// POST a Call, get a stream of Frames as server-sent events.
const CallPath = "/choir/v1/model"

// MaxCallBytes bounds the body of one call.
const MaxCallBytes = 8 << 20

// CallInfo says for whom and for what a model is called. Call is the
// idempotency key: the same id with the same request is answered once by the
// provider and from the log ever after.
type CallInfo struct {
	Call   choir.ID
	Run    choir.ID // empty outside a run
	Task   choir.ID // empty outside a task
	Caller string   // director, associate or tool
}

// Call is the body of a request to the gateway.
type Call struct {
	Call    choir.ID `json:"call" choir:"id"`
	Run     choir.ID `json:"run,omitempty" choir:"id"`
	Task    choir.ID `json:"task,omitempty" choir:"id"`
	Caller  string   `json:"caller" choir:"enum=director|associate|tool"`
	Request Request  `json:"request"`
}

// Info is what the call says about itself.
func (c *Call) Info() CallInfo {
	return CallInfo{Call: c.Call, Run: c.Run, Task: c.Task, Caller: c.Caller}
}

// Frame is one message of the gateway's answer: exactly one field is set. The
// last frame is a response or an error; a stream without it was cut.
type Frame struct {
	Delta    *Delta    `json:"delta,omitempty"`
	Response *Response `json:"response,omitempty"`
	Error    *Failure  `json:"error,omitempty"`
}

// Failure is an error on the wire.
type Failure struct {
	Code    choir.Code `json:"code"`
	Message string     `json:"message"`
	Path    string     `json:"path,omitempty"`
	Remedy  string     `json:"remedy,omitempty"`
}

// FailureOf is the wire form of an error.
func FailureOf(err error) Failure {
	var e *choir.Error
	if !errors.As(err, &e) {
		return Failure{Code: choir.CodeInternal, Message: err.Error()}
	}
	plain := *e
	plain.Op, plain.Path, plain.Remedy = "", "", ""
	return Failure{Code: e.Code, Message: plain.Error(), Path: e.Path, Remedy: e.Remedy}
}

// Err is the error a failure stands for.
func (f Failure) Err(op string) *choir.Error {
	return &choir.Error{Op: op, Code: f.Code, Msg: f.Message, Path: f.Path, Remedy: f.Remedy}
}

type infoKey struct{}

// WithInfo hands what is known of a call down to the provider.
func WithInfo(ctx context.Context, info CallInfo) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// InfoOf is what WithInfo handed down; zero without it.
func InfoOf(ctx context.Context) CallInfo {
	info, _ := ctx.Value(infoKey{}).(CallInfo)
	return info
}

// Waiting is told by a provider that waits before it calls the service again: why,
// and for how long.
type Waiting func(why error, pause time.Duration)

type waitingKey struct{}

// WithWaiting hands down who is told that a provider waits.
func WithWaiting(ctx context.Context, tell Waiting) context.Context {
	return context.WithValue(ctx, waitingKey{}, tell)
}

// TellWaiting tells whom WithWaiting handed down, if it did.
func TellWaiting(ctx context.Context, why error, pause time.Duration) {
	if tell, ok := ctx.Value(waitingKey{}).(Waiting); ok {
		tell(why, pause)
	}
}

// Again is asked by a provider before it calls the service once more for a call whose
// answer broke: used is what the broken answers used so far, why how the last one
// broke. An error ends the call with it.
type Again func(ctx context.Context, used Usage, why error) error

type againKey struct{}

// WithAgain hands down who is asked before a service is called once more.
func WithAgain(ctx context.Context, again Again) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// AskAgain asks whom WithAgain handed down; nil without it.
func AskAgain(ctx context.Context, used Usage, why error) error {
	if again, ok := ctx.Value(againKey{}).(Again); ok {
		return again(ctx, used, why)
	}
	return nil
}

// KeySource gives the key a provider is called with. It is asked for every
// call, so that a key can be changed while the computer runs. The key is never
// logged and never part of an error.
type KeySource func(ctx context.Context) (string, error)

// Get returns the key for a call of a provider. The errors are the source's own,
// which say what to do; code unavailable when it has no key.
func (s KeySource) Get(ctx context.Context, provider string) (string, error) {
	key, err := s(ctx)
	if err == nil && key == "" {
		err = choir.E(provider+".stream", choir.CodeUnavailable, "there is no key for the model service (%s)", provider).
			WithRemedy("connect it under " + names.ModelsPlace + ", or name its key in choir.toml")
	}
	return key, err
}

// Resumer is the optional power of a provider whose answers depend on what it
// has answered before. Resume is called in order for each exchange of a run
// that is already in the log, before the first new call of that run.
type Resumer interface {
	Resume(info CallInfo, req Request)
}
