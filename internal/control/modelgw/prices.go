package modelgw

import (
	"regexp"
	"strings"

	"choiros/internal/model"
)

// Price is US dollars per million tokens. Input is for tokens that no cache
// served or took up.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// prices are the providers' list prices. Anthropic's cache costs a tenth to
// read and a quarter more to write.
var prices = map[string]Price{
	"claude-opus-4":     {15, 75, 1.5, 18.75},
	"claude-opus-4-1":   {15, 75, 1.5, 18.75},
	"claude-opus-4-5":   {5, 25, 0.5, 6.25},
	"claude-sonnet-4":   {3, 15, 0.3, 3.75},
	"claude-sonnet-4-5": {3, 15, 0.3, 3.75},
	"claude-haiku-4-5":  {1, 5, 0.1, 1.25},
	"claude-3-5-haiku":  {0.8, 4, 0.08, 1},
	"gpt-4.1":           {2, 8, 0.5, 2},
	"gpt-4.1-mini":      {0.4, 1.6, 0.1, 0.4},
	"gpt-4.1-nano":      {0.1, 0.4, 0.025, 0.1},
	"gpt-4o":            {2.5, 10, 1.25, 2.5},
	"gpt-4o-mini":       {0.15, 0.6, 0.075, 0.15},
	"gpt-5":             {1.25, 10, 0.125, 1.25},
	"gpt-5-mini":        {0.25, 2, 0.025, 0.25},
	"gpt-5-nano":        {0.05, 0.4, 0.005, 0.05},
	"glm-4.5":           {0.6, 2.2, 0.11, 0.6},
	"glm-4.6":           {0.6, 2.2, 0.11, 0.6},
	"kimi-k2":           {0.6, 2.5, 0.15, 0.6},
}

// version is what services put behind a model's name: a date, latest, and
// Bedrock's version.
var version = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)?(-v\d+(:\d+)?)?$`)

// bedrock is what Bedrock puts before it.
var bedrock = regexp.MustCompile(`^([a-z-]+\.)?anthropic\.`)

// priceOf finds the price of a model by its name, with or without a version.
func priceOf(own map[string]Price, name string) (Price, bool) {
	if p, ok := own[name]; ok {
		return p, true
	}
	name = bedrock.ReplaceAllString(strings.ToLower(name), "")
	name = strings.TrimPrefix(name, name[:strings.LastIndex(name, "/")+1]) // OpenRouter's vendor/
	if p, ok := prices[name]; ok {
		return p, true
	}
	p, ok := prices[version.ReplaceAllString(name, "")]
	return p, ok
}

// price puts the cost of an answer into its usage. A recorded answer costs
// nothing; the cost of a model that is in no table is not known.
func (g *Gateway) price(r *model.Response, name string) {
	u := &r.Usage
	u.CostUSD, u.PriceKnown = 0, u.FromRecord
	if u.FromRecord {
		return
	}
	p, ok := priceOf(g.cfg.Prices, name)
	if !ok {
		return
	}
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	u.PriceKnown = true
	u.CostUSD = (float64(fresh)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}
