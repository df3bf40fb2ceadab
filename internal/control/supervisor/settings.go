package supervisor

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/sandbox"
)

// Settings returns the settings of the owner that belong to no computer.
func (s *System) Settings() api.Settings { return settingsOf(s.cfg) }

// settingsOf returns the owner's settings of a configuration.
func settingsOf(cfg Config) api.Settings {
	out := api.Settings{
		File: cfg.From, Found: cfg.From != "", Models: cfg.Connections.Models(), Providers: cfg.Connections.Providers(), Known: []api.KnownModel{},
	}
	if !out.Found {
		out.File = filepath.Join(cfg.Data, "choir.toml")
	}
	for _, l := range modelgw.ListPrices() {
		out.Known = append(out.Known, api.KnownModel{Model: l.Model, Input: l.Input, Output: l.Output})
	}
	for _, setting := range cfg.File.List(cfg.From) {
		if strings.HasPrefix(setting.Key, "limits.") {
			out.Limits = append(out.Limits, setting)
		}
	}
	return out
}

// Connect tests a model service, stores its key and puts it in force. The cost of the
// test is recorded in the log of one computer.
func (s *System) Connect(ctx context.Context, r api.ConnectRequest) (api.Connected, error) {
	c, release, err := s.useAny(ctx, r.Computer)
	if err != nil {
		return api.Connected{}, err
	}
	defer release()
	out, err := s.cfg.Connections.Connect(ctx, r, func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error) {
		return s.outlet(c).Try(ctx, route, prices)
	})
	out.Settings = s.Settings()
	return out, err
}

// UnusableModels tests the keys and addresses of the models in force and returns the
// failed checks. It takes at most connections.ReachTimeout.
func (s *System) UnusableModels(ctx context.Context) []sandbox.Check {
	return slices.DeleteFunc(s.cfg.Connections.Check(ctx), func(c sandbox.Check) bool { return c.OK || ctx.Err() != nil })
}

// useAny uses a computer; for an empty id the first open one, or else the first that can be
// opened.
func (s *System) useAny(ctx context.Context, id choir.ID) (c *computer.Computer, release func(), err error) {
	if all := s.Computers(); id == "" && len(all) > 0 {
		id = all[0].ID()
	}
	if id != "" {
		return s.Use(ctx, id)
	}
	for _, e := range s.entries() {
		if c, release, err = s.Use(ctx, e.ID); err == nil {
			break
		}
	}
	return c, release, err
}

// Disconnect removes a model service that was connected with Connect, and its key.
func (s *System) Disconnect(ctx context.Context, name string) (api.Settings, error) {
	err := s.cfg.Connections.Disconnect(ctx, name)
	return s.Settings(), err
}
