package bench

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// sample takes one measurement and gives its value in the row's unit.
type sample func(ctx context.Context) (float64, error)

// turns measures something and its peer sample by sample, each going first
// every other time, so that both see the same machine.
type turns struct {
	n, warmup  int
	ours, peer sample
	rate       bool // more is better
}

// measure fills the row in. A sample of ours that fails is counted; when all
// fail, or the context ends, that is an error. A peer that fails is left out and
// the row says why.
func (t turns) measure(ctx context.Context, r Row) (Row, error) {
	var ours, peer samples
	var failed error
	for i := -t.warmup; i < t.n; i++ {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		take := func() {
			v, err := t.ours(ctx)
			switch {
			case i < 0:
			case err != nil:
				r.Failures++
				r.Failed, failed = err.Error(), err
			default:
				ours = append(ours, v)
			}
		}
		against := func() {
			if t.peer == nil || r.Skipped != "" {
				return
			}
			v, err := t.peer(ctx)
			if err != nil {
				r.Skipped, peer = "the peer failed: "+err.Error(), nil
			} else if i >= 0 {
				peer = append(peer, v)
			}
		}
		if i%2 == 0 {
			take()
			against()
		} else {
			against()
			take()
		}
	}
	if len(ours) == 0 && failed != nil {
		return r, choir.Wrap("bench", "", failed, "all samples of %s failed", r.Case)
	}
	r.Warmup = t.warmup
	r.numbers(ours, peer, t.rate)
	return r, nil
}

// millis and micros are durations as rows have them.
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
