// Package attempt calls a model service with a limited number of retries and back-off,
// and classifies its failures as errors without keys.
package attempt

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Policy limits the attempts of one call. Zero fields have their defaults.
type Policy struct {
	Tries   int           // attempts in all; default 5
	First   time.Duration // first pause, then growing by half with jitter; default 500 ms
	Longest time.Duration // longest pause of the back-off; default 20 s
	MaxWait time.Duration // longest Retry-After that is waited for; default 60 s
	Idle    time.Duration // longest silence of the provider; default 180 s
}

func (p Policy) withDefaults() Policy {
	set := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	if p.Tries == 0 {
		p.Tries = 5
	}
	set(&p.First, 500*time.Millisecond)
	set(&p.Longest, 20*time.Second)
	set(&p.MaxWait, 60*time.Second)
	set(&p.Idle, 180*time.Second)
	return p
}

// Failure is the error of an attempt. Retry reports whether another attempt may succeed;
// After is the wait that the provider asked for, 0 if none.
type Failure struct {
	Err   *choir.Error
	Retry bool
	After time.Duration
	// Status is the HTTP status that the service answered, 0 if it answered none, and
	// Param the parameter that its error names in a field of its own.
	Status int
	Param  string
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error for the caller of the model.
func (f *Failure) Unwrap() error { return f.Err }

// Try makes one attempt. It calls on for every piece that arrives; its errors are of
// type *Failure.
type Try func(ctx context.Context, on func(model.Delta)) (model.Response, error)

// Do makes attempts until one succeeds, one fails permanently, or the policy's limit is
// reached. Nothing is retried after a piece was delivered, or once where the caller may
// hear an answer begin anew (model.MayRestart). No data for the policy's Idle
// ends an attempt with code timeout, provided that the attempt uses an HTTP client of
// Client. The usage includes broken attempts, and is returned with the error if all
// broke. After a broken attempt model.AskAgain may refuse the next.
func Do(ctx context.Context, p Policy, on func(model.Delta), try Try) (model.Response, error) {
	p = p.withDefaults()
	if on == nil {
		on = func(model.Delta) {}
	}
	delivered, restarted := false, false
	deliver := func(d model.Delta) {
		delivered = true
		on(d)
	}
	var broken model.Usage
	var broke error // why the attempt before broke; nil when it cost nothing
	once := func() (model.Response, error) {
		if broke != nil {
			if err := model.AskAgain(ctx, broken, final(ctx, broke)); err != nil {
				return model.Response{}, backoff.Permanent(err)
			}
		}
		if delivered {
			on(model.Delta{Restart: true})
			delivered, restarted = false, true
		}
		resp, began, err := watched(ctx, p.Idle, deliver, try)
		broke = nil
		if err != nil && began {
			broke = err
			broken.AddBroken(resp.Usage)
		}
		return resp, p.judge(ctx, err, delivered && (restarted || !model.MayRestart(ctx)))
	}
	curve := backoff.NewExponentialBackOff()
	curve.InitialInterval, curve.MaxInterval = p.First, p.Longest
	tell := func(why error, pause time.Duration) { model.TellWaiting(ctx, final(ctx, why), pause) }
	resp, err := backoff.Retry(ctx, once, backoff.WithBackOff(curve), backoff.WithMaxTries(uint(p.Tries)), backoff.WithMaxElapsedTime(0), backoff.WithNotify(tell))
	if err != nil {
		return model.Response{Usage: broken}, final(ctx, err)
	}
	if broken.Broken {
		resp.Usage.AddBroken(broken)
	}
	return resp, nil
}

// judge converts the error of an attempt for the back-off library: permanent, retry
// after a given wait, or retry. delivered reports whether a piece was passed on, which
// makes it permanent.
func (p Policy) judge(ctx context.Context, err error, delivered bool) error {
	if err == nil {
		return nil
	}
	var f *Failure
	if !errors.As(err, &f) || !f.Retry || delivered || ctx.Err() != nil || f.After > p.MaxWait {
		return backoff.Permanent(err)
	}
	if f.After > 0 {
		return &waitFor{RetryAfterError: &backoff.RetryAfterError{Duration: f.After}, failure: f}
	}
	return err
}

// waitFor is a failure for which the provider asked to wait before the next attempt.
type waitFor struct {
	*backoff.RetryAfterError
	failure *Failure
}

func (w *waitFor) Unwrap() []error { return []error{w.RetryAfterError, w.failure} }

// final returns the error for the caller of the model: code cancelled_by_you or timeout
// if ctx ended, else the error of the last attempt.
func final(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		why := choir.ReasonModelCallStopped
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			why = choir.ReasonModelCallLong
		}
		return choir.Refuse("model.stream", why)
	}
	var f *Failure
	if errors.As(err, &f) {
		if f.Status == 0 {
			return f.Err
		}
		return &model.ServiceError{Err: f.Err, Status: f.Status, After: f.After}
	}
	var e *choir.Error
	if errors.As(err, &e) {
		return e
	}
	return quoting(clip(err.Error()), choir.ReasonModelCallFailed)
}
