package eventstore

import "choiros/internal/choir"

// usageTable sums the usage of model calls by run; the key is empty for calls without
// one.
var usageTable = &keyed[Usage]{projection: projection{
	name: "usage", since: 1, key: 1, columns: []column{keyColumn, valueColumn},
	on: reducers{choir.TypeModelReturned: on(modelReturned)},
}}

func modelReturned(usage *cells[Usage], e *choir.Event, p *choir.ModelReturned) error {
	u, _, err := usage.get(e.Run)
	if err != nil {
		return err
	}
	u.add(Usage{
		Calls: 1, InputTokens: p.InputTokens, OutputTokens: p.OutputTokens, CachedTokens: p.CachedTokens,
		CostUSD: p.CostUSD, DurationMS: p.DurationMS,
	})
	if p.Code != "" {
		u.Failed++
	}
	usage.put(e.Run, u)
	return nil
}

func (u *Usage) add(more Usage) {
	u.Calls += more.Calls
	u.Failed += more.Failed
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.CachedTokens += more.CachedTokens
	u.CostUSD += more.CostUSD
	u.DurationMS += more.DurationMS
}
