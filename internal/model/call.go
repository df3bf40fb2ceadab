package model

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

// CallPath is the path at the egress door where the gateway serves this contract: POST a
// Call, get a stream of Frames as server-sent events.
const CallPath = "/choir/v1/model"

// MaxCallBytes is the maximum size of a call's body.
const MaxCallBytes = 8 << 20

// CallInfo identifies a model call and its caller, run and task. Call is the idempotency
// key: the provider answers the same id with the same request once, and later ones are
// answered from the log.
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

// Info returns the identity of the call.
func (c *Call) Info() CallInfo {
	return CallInfo{Call: c.Call, Run: c.Run, Task: c.Task, Caller: c.Caller}
}

// Frame is one message of the gateway's answer: exactly one field is set. The last frame
// is a response or an error; a stream without either is incomplete.
type Frame struct {
	Delta    *Delta    `json:"delta,omitempty"`
	Response *Response `json:"response,omitempty"`
	Error    *Failure  `json:"error,omitempty"`
}

// Failure is an error as it is sent to the guest.
type Failure struct {
	Code    choir.Code `json:"code"`
	Message string     `json:"message"`
	Path    string     `json:"path,omitempty"`
	Remedy  string     `json:"remedy,omitempty"`
}

// FailureOf converts an error into a Failure. An error that is no *choir.Error gets code
// internal.
func FailureOf(err error) Failure {
	var e *choir.Error
	if !errors.As(err, &e) {
		return Failure{Code: choir.CodeInternal, Message: err.Error()}
	}
	plain := *e
	plain.Op, plain.Path, plain.Remedy = "", "", ""
	return Failure{Code: e.Code, Message: plain.Error(), Path: e.Path, Remedy: e.Remedy}
}

// Err converts a failure back into an error. op is the error's operation.
func (f Failure) Err(op string) *choir.Error {
	return &choir.Error{Op: op, Code: f.Code, Msg: f.Message, Path: f.Path, Remedy: f.Remedy}
}

// ServiceError is the error of a call that a model service answered with an error of its
// own. It unwraps to the error for people.
type ServiceError struct {
	Err    *choir.Error
	Status int           // the HTTP status, also of an error within a stream
	After  time.Duration // the wait that the service asks for; 0 if none
}

func (e *ServiceError) Error() string { return e.Err.Error() }

// Unwrap returns the error for people.
func (e *ServiceError) Unwrap() error { return e.Err }

type infoKey struct{}

// WithInfo returns a context that carries the identity of a call to the provider.
func WithInfo(ctx context.Context, info CallInfo) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// InfoOf returns the identity of a call from ctx; zero without one.
func InfoOf(ctx context.Context) CallInfo {
	info, _ := ctx.Value(infoKey{}).(CallInfo)
	return info
}

// Waiting receives the reason and the duration of a pause before a provider calls the
// service again.
type Waiting func(why error, pause time.Duration)

type waitingKey struct{}

// WithWaiting returns a context whose provider reports its pauses to tell.
func WithWaiting(ctx context.Context, tell Waiting) context.Context {
	return context.WithValue(ctx, waitingKey{}, tell)
}

// TellWaiting reports a pause to the receiver of WithWaiting; it does nothing without
// one.
func TellWaiting(ctx context.Context, why error, pause time.Duration) {
	if tell, ok := ctx.Value(waitingKey{}).(Waiting); ok {
		tell(why, pause)
	}
}

// Again decides whether a provider may call the service once more after an answer broke
// off. used is the usage of the broken answers so far, and why the last error. An error
// ends the call with it.
type Again func(ctx context.Context, used Usage, why error) error

type againKey struct{}

// WithAgain returns a context whose provider calls again before each further attempt.
func WithAgain(ctx context.Context, again Again) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// AskAgain returns the decision of the function of WithAgain; nil, which permits the
// attempt, without one.
func AskAgain(ctx context.Context, used Usage, why error) error {
	if again, ok := ctx.Value(againKey{}).(Again); ok {
		return again(ctx, used, why)
	}
	return nil
}

type restartKey struct{}

// WithRestart returns a context in which a provider may call the service again although
// pieces of a broken answer were delivered. It sends Delta.Restart before the new ones.
func WithRestart(ctx context.Context) context.Context {
	return context.WithValue(ctx, restartKey{}, true)
}

// MayRestart reports whether ctx is of WithRestart.
func MayRestart(ctx context.Context) bool {
	may, _ := ctx.Value(restartKey{}).(bool)
	return may
}

// KeySource returns the key of a model service. Providers call it for every call, so
// that a key can change while the computer runs. Keys are never logged and never part of
// an error.
type KeySource func(ctx context.Context) (string, error)

// Get returns the key for a call of a provider. Code unavailable: there is no key. Other
// errors are the source's own.
func (s KeySource) Get(ctx context.Context, provider string) (string, error) {
	key, err := s(ctx)
	if err == nil && key == "" {
		err = choir.Refuse(provider+".stream", choir.ReasonNoModelKey, choir.TextOf("service", provider))
	}
	return key, err
}

// Resumer is implemented by providers whose answers depend on earlier calls. Resume is
// called in order for each recorded exchange of a run, before the first new call of that
// run.
type Resumer interface {
	Resume(info CallInfo, req Request)
}
