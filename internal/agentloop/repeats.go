package agentloop

import (
	"choiros/internal/choir"
	"choiros/internal/model"
)

// repeats finds a model that goes in circles: the same call failing in the same
// way while nothing else succeeds. A success starts the count again, because it
// may have changed what the failing call sees.
type repeats struct {
	max   int
	count map[choir.Digest]int
}

// seen notes a call and reports whether it failed too often.
func (r *repeats) seen(call model.Block, res Result) bool {
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
