package modelgw

import (
	"choiros/internal/choir"
	"choiros/internal/model"
)

// bytesPerToken is the number of bytes counted as one token of a request or an answer
// for which the provider reported no token count. English and code have about four bytes
// per token and Chinese three, so estimates are rather too high; text made to be
// expensive can have one.
const bytesPerToken = 3

// tokensIn estimates the tokens in a number of bytes, rounded up.
func tokensIn(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

// imageTokens is the number of tokens that count for an image, whatever its bytes: the
// most that providers count for one.
const imageTokens = 5000

// tokensOf estimates the tokens in a request with so many bytes of JSON.
func tokensOf(req *model.Request, size int) int64 {
	images := 0
	for _, m := range req.Messages {
		for _, b := range m.Content {
			for _, i := range b.Images {
				images++
				size -= len(i.Data)
			}
		}
	}
	return tokensIn(max(0, size)) + int64(images)*imageTokens
}

// terms holds the price of one call and the upper bounds of its usage.
type terms struct {
	input, output int64 // tokens
	price         Price
}

// most returns the upper bound of a call's usage.
func (t *terms) most() Used {
	return Used{1, t.input + t.output, (float64(t.input)*t.price.dearest() + float64(t.output)*t.price.Output) / 1e6}
}

// dearest returns the highest price of an input token, in US dollars per million.
func (p Price) dearest() float64 { return max(p.Input, p.CacheWrite) }

// cost returns the price of a usage in US dollars.
func (p Price) cost(u model.Usage) float64 {
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(fresh)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}

// bill returns a call's usage and cost from the provider's count; estimated reports that
// parts are computed from the call's bounds and heard, the bytes of the received answer.
// A recorded answer costs nothing.
func (t *terms) bill(resp model.Response, failed bool, heard int) (u model.Usage, estimated bool) {
	u = resp.Usage
	u.CostUSD, u.PriceKnown = 0, true
	if u.FromRecord {
		return u, false
	}
	u.Input += int64(u.Uncounted) * t.input
	output := min(tokensIn(heard), t.output)
	switch {
	case failed && output > u.Output:
		u.Output = output
		if u.Input == 0 {
			u.Input = t.input
		}
		estimated = true
	case !failed && u.Output == 0 && heard > 0: // the service does not count
		u.Input, u.Output = u.Input+t.input, output
		estimated = true
	}
	u.CostUSD = t.price.cost(u)
	return u, estimated || u.Broken
}

// usedBy returns the usage of one call as an amount.
func usedBy(u model.Usage) Used { return Used{1, u.Input + u.Output, u.CostUSD} }

// sizeOf returns the bytes of a streamed piece of an answer.
func sizeOf(d model.Delta) int {
	size := len(d.Text) + len(d.Tool) + len(d.Input)
	if d.Thinking != nil {
		size += len(d.Thinking.Text)
	}
	return size
}

// enterUsage copies a usage and its cost into the payload of a model.returned event.
func enterUsage(end *choir.ModelReturned, u model.Usage, estimated bool) {
	end.InputTokens, end.OutputTokens, end.CachedTokens = u.Input, u.Output, u.CacheRead
	end.CostUSD, end.Estimated = u.CostUSD, estimated
}
