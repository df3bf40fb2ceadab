package agentloop

import (
	"choiros/internal/choir"
	"choiros/internal/model"
)

// repeats detects a model that makes no progress: the same call fails in the same way
// while no other succeeds. A success resets the counts, because it may have changed the
// failing call's situation.
type repeats struct {
	max   int
	count map[choir.Digest]int
}

// countFailure records a call's result and reports whether the same call failed max
// times.
func (r *repeats) countFailure(call model.Block, res Result) bool {
	if !res.IsError || r.count == nil {
		r.count = map[choir.Digest]int{}
	}
	if !res.IsError {
		return false
	}
	input, err := choir.Canonicalize(call.Input)
	if err != nil {
		input = call.Input
	}
	key := choir.DigestOf([]byte(call.Tool + "\x00" + string(input) + "\x00" + res.Text))
	r.count[key]++
	return r.count[key] >= r.max
}
