package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/names"
)

// Route is where a model alias leads.
type Route struct {
	Provider model.Provider
	Model    string // the provider's name of the model
	Free     bool   // it costs nothing: a recording, or a model of one's own
}

// Routing is where model calls lead and what they cost.
type Routing struct {
	// Routes by alias. Programs in the sandbox get tool, or else associate, when
	// they ask for a model that is no alias. None means that no model is connected.
	Routes map[string]Route
	// Prices by model name, before the built-in table.
	Prices map[string]Price
}

// Fixed is a Routing that stays as it is.
func Fixed(routes map[string]Route, prices map[string]Price) func() Routing {
	r := Routing{Routes: routes, Prices: prices}
	return func() Routing { return r }
}

// routed is a request as its route's provider is asked.
func (r Route) routed(req model.Request) model.Request {
	req.Model = r.Model
	return req
}

// The aliases.
const (
	AliasDirector  = "director"
	AliasAssociate = "associate"
	AliasTool      = "tool" // programs in the sandbox
)

// CallerOwner is who tries a model before it is connected.
const CallerOwner = "owner"

// routesOf returns the routes in force for a run.
func (c *Config) routesOf(ctx context.Context, run choir.ID, all Routing) (map[string]Route, error) {
	if c.RunRoutes != nil && run != "" {
		if own, err := c.RunRoutes(ctx, run); own != nil || err != nil {
			return own, err
		}
	}
	return all.Routes, nil
}

// route finds where a call leads.
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
		return Route{}, choir.E("modelgw.route", choir.CodeUnavailable, "no model is connected").
			WithRemedy("connect one under " + names.ModelsPlace + ", or name it under [models] in choir.toml; choir demo needs none")
	}
	return Route{}, choir.E("modelgw.route", choir.CodeUnavailable, "no model is connected for %q", name).
		WithRemedy("connect one under " + names.ModelsPlace + ", or name it under [models] in choir.toml")
}
