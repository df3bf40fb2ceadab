package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestPercentiles(t *testing.T) {
	var hundred samples
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for _, c := range []struct {
		name             string
		s                samples
		median, p95, p99 float64
	}{
		{"none", nil, 0, 0, 0},
		{"one", samples{7}, 7, 7, 7},
		{"two", samples{9, 1}, 5, 9, 9},
		{"three", samples{3, 1, 2}, 2, 3, 3},
		{"hundred", hundred, 50.5, 95, 99},
	} {
		if m, a, b := c.s.median(), c.s.percentile(95), c.s.percentile(99); m != c.median || a != c.p95 || b != c.p99 {
			t.Errorf("%s: %v %v %v", c.name, m, a, b)
		}
	}
	if hundred[0] != 100 {
		t.Error("the samples were sorted in place")
	}
}

func TestARateLooksAtItsSlowEnd(t *testing.T) {
	var r Row
	r.numbers(samples{10, 20, 30, 40}, samples{5, 5}, true)
	if r.Median != 25 || r.P95 != 10 || r.P99 != 10 || *r.Ratio != 5 || *r.PeerMedian != 5 || r.N != 4 {
		t.Errorf("%+v", r)
	}
}

// TestTurns takes samples in turn, each first every other time, and leaves the
// warm-up out.
func TestTurns(t *testing.T) {
	var order []string
	take := func(name string, v float64) sample {
		return func(context.Context) (float64, error) {
			order = append(order, name)
			return v, nil
		}
	}
	r, err := turns{n: 2, warmup: 1, ours: take("ours", 2), peer: take("peer", 4)}.measure(t.Context(), Row{})
	if err != nil || r.N != 2 || r.Warmup != 1 || *r.Ratio != 0.5 {
		t.Errorf("%+v, %v", r, err)
	}
	if want := []string{"peer", "ours", "ours", "peer", "peer", "ours"}; !slices.Equal(order, want) {
		t.Errorf("order %v", order)
	}
}

func TestFailuresAreCounted(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	everyOther := func(context.Context) (float64, error) {
		calls++
		if calls%2 == 0 {
			return 0, broken
		}
		return 1, nil
	}
	always := func(context.Context) (float64, error) { return 0, broken }
	r, err := turns{n: 4, ours: everyOther, peer: always}.measure(t.Context(), Row{})
	if err != nil || r.N != 4 || r.Failures != 2 || r.Failed == "" || r.Ratio != nil || r.Skipped == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := (turns{n: 2, ours: always}).measure(t.Context(), Row{}); !errors.Is(err, broken) {
		t.Errorf("all failed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (turns{n: 1, ours: everyOther}).measure(ctx, Row{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped measurement: %v", err)
	}
}
