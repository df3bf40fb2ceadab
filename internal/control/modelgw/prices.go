package modelgw

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Price is a model's price in US dollars per million tokens. Input is for tokens that
// were neither read from nor written to the provider's cache.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// prices are the providers' list prices by model name. Anthropic's cache costs a tenth
// of the input price to read, and a quarter more than it to write.
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

// version matches the suffix of a provider's model name: a date, "latest", or Bedrock's
// version.
var version = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)?(-v\d+(:\d+)?)?$`)

// bedrock matches the prefix of Anthropic's model names at Bedrock.
var bedrock = regexp.MustCompile(`^([a-z-]+\.)?anthropic\.`)

// priceOf returns the price of a model by its name, with or without a version suffix.
// own takes precedence over the built-in table; false if neither has it.
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

// PriceOf returns the price of a route's model: zero for a free route, else the
// configured price in own, else the list price; false if there is none.
func PriceOf(own map[string]Price, r Route) (Price, bool) {
	if r.Free {
		return Price{}, true
	}
	return priceOf(own, r.Model)
}

// NoPrice returns the error of code unavailable for a model without a known price. Its
// remedy shows the configuration that sets the price.
func NoPrice(name string) *choir.Error {
	return choir.Refuse("modelgw.price", choir.ReasonModelPriceUnknown, choir.TextOf("name", name))
}

// priceOnce returns the price today of a recorded call that carries none: zero for a
// free route, a recording, or an unknown model.
func (r Routing) priceOnce(provider, name string) Price {
	for _, route := range r.Routes {
		if route.Free && route.Model == name && route.Provider.Name() == provider {
			return Price{}
		}
	}
	if provider == replayed {
		return Price{}
	}
	p, _ := priceOf(r.Prices, name)
	return p
}

// Listed is a model of the built-in price table.
type Listed struct {
	Model string
	Price
}

// ListPrices returns the built-in price table, sorted by model name.
func ListPrices() []Listed {
	var out []Listed
	for _, name := range slices.Sorted(maps.Keys(prices)) {
		out = append(out, Listed{name, prices[name]})
	}
	return out
}

// replayed is the name of the provider that plays recordings, which cost nothing.
const replayed = "replay"
