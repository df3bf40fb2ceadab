package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/demo"
	"choiros/internal/model"
	"choiros/internal/model/replay"
)

// benchModel measures the model gateway, and how much of a run a provider's cache can serve.
func benchModel(ctx context.Context, l *lab, emit func(Row)) error {
	if err := benchFirstToken(ctx, l, emit); err != nil {
		return err
	}
	return benchPromptCache(emit)
}

// benchPromptCache measures the part of the input of a recorded run that the provider could
// serve from its prompt cache: what is the same, from the first byte on, as in an earlier
// request of the same caller. Beside it stands the same conversation whose prompt begins
// with what changes at each call, such as the time, as a harness without a stable prefix
// sends it. Both are counted in bytes, and a provider's cache is taken to keep every
// request.
func benchPromptCache(emit func(Row)) error {
	rec, err := replay.Load(bytes.NewReader(demo.Recording()))
	if err != nil {
		return err
	}
	for _, caller := range []string{"director", "associate"} {
		requests := rec.Requests(caller)
		ours, err := cacheHits(requests)
		if err != nil {
			return err
		}
		for i := range requests {
			requests[i].System = fmt.Sprintf("Call %d. %s", i, requests[i].System)
		}
		peer, err := cacheHits(requests)
		if err != nil {
			return err
		}
		row := Row{Case: "prompt cache hits, " + caller, Unit: "%", Peer: "a prompt that begins with the time"}
		row.numbers(samples{ours}, samples{peer}, true)
		emit(row)
	}
	return nil
}

// cacheHits returns the percentage of the bytes of all requests that are a prefix of an
// earlier one, in the order in which providers read a request: tools, system, messages.
func cacheHits(requests []model.Request) (float64, error) {
	var earlier [][]byte
	var all, hit int
	for _, r := range requests {
		text, err := promptOf(r)
		if err != nil {
			return 0, err
		}
		longest := 0
		for _, e := range earlier {
			longest = max(longest, commonPrefix(e, text))
		}
		earlier = append(earlier, text)
		all += len(text)
		hit += longest
	}
	if all == 0 {
		return 0, choir.E("bench", choir.CodeNotFound, "the recording has no requests")
	}
	return 100 * float64(hit) / float64(all), nil
}

// promptOf returns a request as the model reads it.
func promptOf(r model.Request) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, part := range []any{r.Tools, r.System} {
		if err := e.Encode(part); err != nil {
			return nil, choir.Wrap("bench", choir.CodeInvalid, err, "encode a request")
		}
	}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if err := e.Encode(b); err != nil {
				return nil, choir.Wrap("bench", choir.CodeInvalid, err, "encode a request")
			}
		}
	}
	return out.Bytes(), nil
}

// commonPrefix returns how many bytes two texts begin with in common.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
