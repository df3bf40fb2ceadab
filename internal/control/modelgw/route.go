package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Route is the provider and model that a model alias stands for.
type Route struct {
	Provider model.Provider
	Model    string // the provider's name of the model
	Free     bool   // it costs nothing: a recording, or a model of one's own
	// Effort and Temperature are set in requests that have none of their own.
	Effort      string
	Temperature *float64
	// Fallbacks are called in order where the route before cannot be reached, is
	// overloaded or fails. They have no fallbacks of their own.
	Fallbacks []Route
}

// Routing is the set of model aliases in force, and the prices of models.
type Routing struct {
	// Routes are the routes by alias. Programs in the sandbox that name a model which is
	// no alias get the alias tool, or else associate. Empty means that no model is
	// connected.
	Routes map[string]Route
	// Prices are the owner's prices by model name. They precede the built-in table.
	Prices map[string]Price
}

// Fixed returns a function for Config.Routing that always returns the same routes and
// prices.
func Fixed(routes map[string]Route, prices map[string]Price) func() Routing {
	r := Routing{Routes: routes, Prices: prices}
	return func() Routing { return r }
}

// routed returns req with the provider's name of the model, and the settings of the
// route.
func (r Route) routed(req model.Request) model.Request {
	req.Model = r.Model
	if req.Effort == "" {
		req.Effort = r.Effort
	}
	if req.Temperature == nil {
		req.Temperature = r.Temperature
	}
	return req
}

// The aliases.
const (
	AliasDirector  = "director"
	AliasAssociate = "associate"
	AliasTool      = "tool" // programs in the sandbox
)

// CallerOwner is the caller recorded for a test of a model before it is connected.
const CallerOwner = "owner"

// routesOf returns the routes in force for a run: its own if it has some, else those of
// all.
func (c *Config) routesOf(ctx context.Context, run choir.ID, all Routing) (map[string]Route, error) {
	if c.RunRoutes != nil && run != "" {
		if own, err := c.RunRoutes(ctx, run); own != nil || err != nil {
			return own, err
		}
	}
	return all.Routes, nil
}

// route returns the route of the model called name. Calls by programs fall back to the
// aliases tool and associate. Code unavailable: no model is connected under any of them.
func (c *Config) route(ctx context.Context, name string, info model.CallInfo, all Routing) (Route, error) {
	routes, err := c.routesOf(ctx, info.Run, all)
	if err != nil {
		return Route{}, err
	}
	aliases := []string{name}
	if info.Caller == AliasTool {
		aliases = append(aliases, AliasTool, AliasAssociate)
	}
	for _, a := range aliases {
		if r, ok := routes[a]; ok {
			return r, nil
		}
	}
	if len(routes) == 0 {
		return Route{}, choir.Refuse("modelgw.route", choir.ReasonNoModel)
	}
	return Route{}, choir.Refuse("modelgw.route", choir.ReasonNoModelFor, choir.TextOf("name", name))
}
