package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Route is where a model alias leads.
type Route struct {
	Provider model.Provider
	Model    string // the provider's name of the model
	Free     bool   // it costs nothing: a recording, or a model of one's own
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

// routesOf are the routes in force for a run.
func (c *Config) routesOf(ctx context.Context, run choir.ID) (map[string]Route, error) {
	if c.RunRoutes != nil && run != "" {
		if own, err := c.RunRoutes(ctx, run); own != nil || err != nil {
			return own, err
		}
	}
	return c.Routes, nil
}

// route finds where a call leads.
func (c *Config) route(ctx context.Context, name string, info model.CallInfo) (Route, error) {
	routes, err := c.routesOf(ctx, info.Run)
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
		return Route{}, choir.E("modelgw.route", choir.CodeUnavailable, "no model is configured").
			WithRemedy("name a provider and its key under [models] in choir.toml, or try choir demo, which needs none")
	}
	return Route{}, choir.E("modelgw.route", choir.CodeUnavailable, "no model is configured for %q", name).
		WithRemedy("name one under [models] in choir.toml")
}
