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

// Settings says what the owner set outside of a computer.
func (s *System) Settings() api.Settings { return settingsOf(s.cfg) }

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

// Connect tests a model service, keeps its key and puts it in force. What the
// test costs is in the log of one computer.
func (s *System) Connect(ctx context.Context, r api.ConnectRequest) (api.Connected, error) {
	c, err := s.computerOf(r.Computer)
	if err != nil {
		return api.Connected{}, err
	}
	out, err := s.cfg.Connections.Connect(ctx, r, func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error) {
		return s.gateway(c).Try(ctx, route, prices)
	})
	out.Settings = s.Settings()
	return out, err
}

// UnusableModels tries the keys and the addresses of the models in force and lists
// what cannot be used. It takes at most connections.ReachTimeout.
func (s *System) UnusableModels(ctx context.Context) []sandbox.Check {
	return slices.DeleteFunc(s.cfg.Connections.Check(ctx), func(c sandbox.Check) bool { return c.OK || ctx.Err() != nil })
}

// computerOf finds a computer; the first one when none is named.
func (s *System) computerOf(id choir.ID) (*computer.Computer, error) {
	if id != "" {
		return s.Computer(id)
	}
	all := s.Computers()
	if len(all) == 0 {
		return nil, choir.E("models.connect", choir.CodeUnavailable, "no computer could be opened")
	}
	return all[0], nil
}

// Disconnect removes a model service that Connect connected, and its key.
func (s *System) Disconnect(ctx context.Context, name string) (api.Settings, error) {
	err := s.cfg.Connections.Disconnect(ctx, name)
	return s.Settings(), err
}
