package modelgw

import (
	"choiros/internal/choir"
	"choiros/internal/model"
)

// bytesPerToken is how many bytes of a request or of an answer are taken for one
// token where the provider has not counted. English and code have about four,
// Chinese three, so that an estimate is rather too high; text that was made to be
// costly can have one.
const bytesPerToken = 3

func tokensIn(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

// terms are what a call may need at most, and at which price.
type terms struct {
	input, output int64 // tokens
	price         Price
}

// most is what a call may spend at most.
func (t *terms) most() Used {
	return Used{1, t.input + t.output, (float64(t.input)*t.price.dearest() + float64(t.output)*t.price.Output) / 1e6}
}

// dearest is the highest price of an input token.
func (p Price) dearest() float64 { return max(p.Input, p.CacheWrite) }

// cost is the price of a usage in US dollars.
func (p Price) cost(u model.Usage) float64 {
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(fresh)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}

// bill puts together what a call used, from what the provider counted and what
// was heard of the answer, and says whether that is an estimate. A recorded
// answer costs nothing.
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

func usedBy(u model.Usage) Used { return Used{1, u.Input + u.Output, u.CostUSD} }

// sizeOf counts the bytes of a piece of an answer.
func sizeOf(d model.Delta) int { return len(d.Text) + len(d.Tool) + len(d.Input) }

// enterUsage writes a usage into the end of a call.
func enterUsage(end *choir.ModelReturned, u model.Usage, estimated bool) {
	end.InputTokens, end.OutputTokens, end.CachedTokens = u.Input, u.Output, u.CacheRead
	end.CostUSD, end.Estimated = u.CostUSD, estimated
}
