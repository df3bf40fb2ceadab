package supervisor

import (
	"path/filepath"
	"strings"

	"choiros/internal/control/api"
)

// Settings says what the owner set outside of a computer.
func (s *System) Settings() api.Settings { return settingsOf(s.cfg) }

func settingsOf(cfg Config) api.Settings {
	out := api.Settings{File: cfg.From, Found: cfg.From != "", Models: cfg.Models, Providers: []api.ModelProvider{}}
	if !out.Found {
		out.File = filepath.Join(cfg.Data, "choir.toml")
	}
	for _, p := range cfg.File.Models.Providers {
		view := api.ModelProvider{Name: p.Name, Kind: p.Kind, Address: p.BaseURL, Region: p.Region}
		if cfg.Key != nil {
			view.Key = cfg.Key(p)
		}
		out.Providers = append(out.Providers, view)
	}
	for _, setting := range cfg.File.List(cfg.From) {
		if strings.HasPrefix(setting.Key, "limits.") {
			out.Limits = append(out.Limits, setting)
		}
	}
	return out
}
