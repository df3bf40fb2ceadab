package bench

import (
	"fmt"
	"math"
	"strings"
)

// Row is one case of one benchmark. Median, P95 and P99 are in Unit; the
// percentiles look at the bad end, which for a rate is the low one.
type Row struct {
	Bench      string   `json:"bench"`
	Case       string   `json:"case"`
	Unit       string   `json:"unit"`
	N          int      `json:"n"`
	Warmup     int      `json:"warmup"` // samples before the first that counts
	Median     float64  `json:"median"`
	P95        float64  `json:"p95"`
	P99        float64  `json:"p99"`
	Failures   int      `json:"failures"`
	Failed     string   `json:"-"` // why the last of them failed, or empty; what is printed for people says it
	Peer       string   `json:"peer"`
	PeerMedian *float64 `json:"peer_median"`
	// Ratio is Median by PeerMedian; null without a peer.
	Ratio *float64 `json:"ratio"`
	// Target is the limit that TargetOp, such as "ratio <=", compares a number of this
	// row with; null when ANCHORS has none for the case.
	Target   *float64 `json:"target"`
	TargetOp string   `json:"target_op"`
	// Met is null when there is no target, or when what the target is about
	// could not be measured. A row with a failure meets no target.
	Met     *bool  `json:"met"`
	Skipped string `json:"skipped"` // why something was not measured, or empty
	// Durable says that what was measured survives a power cut, Isolated that it
	// ran in a sandbox.
	Durable  bool     `json:"durable"`
	Isolated bool     `json:"isolated"`
	Host     Host     `json:"host"`
	Versions Versions `json:"versions"`
}

// judge fills in the target of the case and whether the row's numbers meet it.
func (r *Row) judge() {
	t, ok := findTarget(r.Bench, r.Case)
	if !ok {
		return
	}
	r.Target, r.TargetOp = &t.Value, string(t.Of)+" "+t.Op
	value, measured := r.number(t.Of)
	if !measured {
		return
	}
	met := t.holds(value) && r.Failures == 0
	r.Met = &met
}

// number returns the figure that a target limits; measured is false without samples,
// and for a comparison without a peer.
func (r *Row) number(of Quantity) (value float64, measured bool) {
	switch {
	case r.N == 0:
		return 0, false
	case of == Failures:
		return float64(r.Failures), true
	case of == Median:
		return r.Median, true
	case of == P99:
		return r.P99, true
	case of == Over && r.PeerMedian != nil:
		return r.Median - *r.PeerMedian, true
	case of == Over || r.Ratio == nil:
		return 0, false
	}
	return *r.Ratio, true
}

// text is the row for people.
func (r *Row) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-28s ", r.Case)
	switch {
	case r.Unit == refusedUnit && r.N > 0:
		fmt.Fprintf(&b, "%d tried, %.0f refused, %d bypassed", r.N, r.Median, r.Failures)
		if r.Failures > 0 {
			b.WriteString(": " + r.Failed)
		}
	case r.N > 0:
		fmt.Fprintf(&b, "%s %s  (p95 %s, p99 %s, n %d", short(r.Median), r.Unit, short(r.P95), short(r.P99), r.N)
		if r.Failures > 0 {
			fmt.Fprintf(&b, ", %d failed: %s", r.Failures, r.Failed)
		}
		b.WriteString(")")
	}
	if r.Ratio != nil {
		fmt.Fprintf(&b, "  %.2fx of %s (%s)", *r.Ratio, r.Peer, short(*r.PeerMedian))
	} else if r.Peer != "" {
		fmt.Fprintf(&b, "  peer: %s", r.Peer)
	}
	if r.Target != nil {
		fmt.Fprintf(&b, "  target %s %s: %s", r.TargetOp, short(*r.Target), verdict(r.Met))
	}
	if r.Skipped != "" {
		fmt.Fprintf(&b, "  [%s]", r.Skipped)
	}
	b.WriteByte('\n')
	return b.String()
}

func verdict(met *bool) string {
	switch {
	case met == nil:
		return "not measured"
	case *met:
		return "met"
	}
	return "MISSED"
}

// short writes a number with three digits that matter.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == math.Trunc(a):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
