package bench

import (
	"math"
	"slices"
)

// samples are the raw values of one measurement, in its unit.
type samples []float64

// percentile is the smallest value that p percent of the samples do not exceed
// (the nearest-rank method); 0 without samples.
func (s samples) percentile(p float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	at := int(math.Ceil(p/100*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// median is the middle one, or the mean of the two in the middle.
func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// numbers fills in what follows from the samples. For a rate the bad end is the
// low one.
func (r *Row) numbers(ours, peer samples, rate bool) {
	r.N, r.Median = len(ours)+r.Failures, ours.median()
	r.P95, r.P99 = ours.percentile(95), ours.percentile(99)
	if rate {
		r.P95, r.P99 = ours.percentile(5), ours.percentile(1)
	}
	if median := peer.median(); median > 0 {
		ratio := r.Median / median
		r.PeerMedian, r.Ratio = &median, &ratio
	}
}
