package bench

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// sample takes one measurement and gives its value in the row's unit.
type sample func(ctx context.Context) (float64, error)

// turns measures something and its peer sample by sample, each going first
// every other time, so that both see the same machine. With several peers see measureBeside.
type turns struct {
	n, warmup  int
	ours, peer sample
	rate       bool // more is better
}

// measure fills the row in. A sample of ours that fails is counted; when all
// fail, or the context ends, that is an error. A peer that fails is left out and
// the row says why.
func (t turns) measure(ctx context.Context, r Row) (Row, error) {
	rows, err := t.measureBeside(ctx, against{r, t.peer})
	return rows[0], err
}

// against is a row and the peer that it compares with.
type against struct {
	row  Row
	peer sample // nil for none
}

// measureBeside is measure with several peers, which all see the same samples of ours. It
// returns a row for each peer.
func (t turns) measureBeside(ctx context.Context, others ...against) ([]Row, error) {
	rows := make([]Row, len(others))
	for k := range others {
		rows[k] = others[k].row
	}
	var ours samples
	var failed error
	failures := 0
	peers := make([]samples, len(others))
	for i := -t.warmup; i < t.n; i++ {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		take := func() {
			v, err := t.ours(ctx)
			switch {
			case i < 0:
			case err != nil:
				failures++
				failed = err
			default:
				ours = append(ours, v)
			}
		}
		compare := func() {
			for k := range others {
				if others[k].peer == nil || rows[k].Skipped != "" {
					continue
				}
				v, err := others[k].peer(ctx)
				if err != nil {
					rows[k].Skipped, peers[k] = "the peer failed: "+err.Error(), nil
				} else if i >= 0 {
					peers[k] = append(peers[k], v)
				}
			}
		}
		if i%2 == 0 {
			take()
			compare()
		} else {
			compare()
			take()
		}
	}
	if len(ours) == 0 && failed != nil {
		return rows, choir.Wrap("bench", "", failed, "all samples of %s failed", rows[0].Case)
	}
	for k := range rows {
		rows[k].Warmup = t.warmup
		if rows[k].Failures += failures; failed != nil {
			rows[k].Failed = failed.Error()
		}
		rows[k].numbers(ours, peers[k], t.rate)
	}
	return rows, nil
}

// millis and micros are durations as rows have them.
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
