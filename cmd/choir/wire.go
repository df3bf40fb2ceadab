package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/supervisor"
	"choiros/internal/demo"
	"choiros/internal/desktop"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/bedrock"
	"choiros/internal/model/openai"
	"choiros/internal/model/replay"
	"choiros/internal/webui"
)

// loadConfig reads the configuration the flags ask for.
func (a *app) loadConfig() (config.Config, string, error) {
	return config.Load(a.config, filepath.Join(a.data, "choir.toml"), "/etc/choir/config.toml")
}

// host is what no toolchain may show.
func (a *app) host() (config.Host, error) {
	homes, err := config.HomesOf("/etc/passwd")
	if home := a.env("HOME"); home != "" {
		homes = append(homes, home)
	}
	return config.Host{Data: a.data, Homes: homes}, err
}

// systemConfig wires the control plane from the configuration.
func (a *app) systemConfig() (supervisor.Config, error) {
	file, from, err := a.loadConfig()
	if err != nil {
		return supervisor.Config{}, err
	}
	host, err := a.host()
	if err != nil {
		return supervisor.Config{}, err
	}
	if err := file.CheckToolchains(host); err != nil {
		return supervisor.Config{}, choir.Under(filepath.Base(from), err)
	}
	routes, state, err := a.routes(file.Models)
	if err != nil {
		return supervisor.Config{}, err
	}
	tar, err := demo.Tar()
	if err != nil {
		return supervisor.Config{}, err
	}
	return supervisor.Config{
		Data: a.data, File: file, From: from,
		OpenBlobs: openBlobs, Routes: routes, Models: state, Key: a.keyState,
		Desktop: a.desktop(),
		Demo: supervisor.DemoConfig{
			Name: demo.Name, Prompt: demo.Prompt, Notice: demo.Notice, At: demo.Stamp(), Recording: demo.Recording(), Repo: tar, Play: play,
		},
		Version: version, Boot: boot(), Now: now, Random: rand.Reader,
		Log: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, nil
}

// desktop is what this build carries of the desktop beside its bundle.
func (a *app) desktop() supervisor.DesktopConfig {
	c := supervisor.DesktopConfig{Source: webui.DesktopSource()}
	if digest, open := webui.DesktopModules(); digest != "" {
		c.Modules = desktop.NewModules(filepath.Join(a.data, "sandbox"), digest[:16], open)
	}
	return c
}

// boot names the time since the machine was started; empty where the kernel does
// not say.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// routes connects the configured models to the aliases the guests use.
func (a *app) routes(m config.Models) (map[string]modelgw.Route, api.ModelState, error) {
	state := api.ModelState{Director: m.Director, Associate: m.Associate}
	routes := map[string]modelgw.Route{}
	made := map[string]model.Provider{}
	for alias, name := range map[string]string{modelgw.AliasDirector: m.Director, modelgw.AliasAssociate: m.Associate} {
		provider, modelName, ok := strings.Cut(name, "/")
		if !ok {
			continue
		}
		for _, p := range m.Providers {
			if p.Name != provider {
				continue
			}
			if made[provider] == nil {
				var err error
				if made[provider], err = a.recorded(p); err != nil {
					return nil, state, err
				}
			}
			routes[alias] = modelgw.Route{Provider: made[provider], Model: modelName, Free: p.Free}
		}
	}
	state.Connected = len(routes) == 2
	state.Message = "No model is connected: add [models] and a [[models.provider]] to " + filepath.Join(a.data, "choir.toml") + "; the recorded demo works without one."
	if state.Connected {
		state.Message = fmt.Sprintf("The Director uses %s, the Associate %s.", m.Director, m.Associate)
	}
	for _, name := range supervisor.Priceless(routes, m) {
		state.Message += " " + sentence(modelgw.NoPrice(name))
	}
	return routes, state, nil
}

// sentence says an error and its remedy to a person.
func sentence(e *choir.Error) string {
	return strings.ToUpper(e.Msg[:1]) + e.Msg[1:] + ": " + e.Remedy + "."
}

// recorded makes a provider; with --record, one that writes down its exchanges.
func (a *app) recorded(p config.Provider) (model.Provider, error) {
	made, err := a.provider(p)
	if err != nil || a.record == "" {
		return made, err
	}
	if a.recording != nil {
		return nil, choir.E("choir.up", choir.CodeInvalid, "--record records one provider, and the Director and the Associate use two")
	}
	f, err := os.OpenFile(a.record, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, choir.E("choir.up", choir.CodeInvalid, "cannot write the recording: %v", err)
	}
	r := replay.Record(made, f)
	a.recording = func() error { return errors.Join(r.Close(), f.Close()) }
	return r, nil
}

func (a *app) provider(p config.Provider) (model.Provider, error) {
	key := a.keySource(p)
	switch p.Kind {
	case "anthropic":
		return anthropic.New(anthropic.Config{BaseURL: p.BaseURL, Key: key}), nil
	case "bedrock":
		return bedrock.New(bedrock.Config{Region: p.Region, BaseURL: p.BaseURL, Key: key}), nil
	default:
		return openai.New(openai.Config{BaseURL: p.BaseURL, Key: key}), nil
	}
}

// keySource reads a key when it is needed, so that it can be changed while choir
// runs and never lies in a configuration; nil for a service that needs none.
func (a *app) keySource(p config.Provider) model.KeySource {
	if p.KeyFile == "" && p.KeyEnv == "" {
		return nil
	}
	return func(context.Context) (string, error) {
		switch {
		case p.KeyFile != "":
			info, err := os.Stat(p.KeyFile)
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				return "", choir.E("models.key", choir.CodeRefused, "others can read the key file of provider %s", p.Name).WithRemedy("chmod 600 %s", p.KeyFile)
			}
			raw, err := os.ReadFile(p.KeyFile)
			return strings.TrimSpace(string(raw)), choir.Wrap("models.key", choir.CodeUnavailable, err, "read the key of provider %s", p.Name)
		case p.KeyEnv != "":
			if key := a.env(p.KeyEnv); key != "" {
				return key, nil
			}
			return "", choir.E("models.key", choir.CodeUnavailable, "%s, which holds the key of provider %s, is not set for choir up", p.KeyEnv, p.Name)
		}
		return "", nil
	}
}

func openBlobs(dir string) (blob.Store, error) { return fs.Open(dir) }

// play puts a recording in the place of both models.
func play(recording []byte) (map[string]modelgw.Route, error) {
	rec, err := replay.Load(bytes.NewReader(recording))
	if err != nil {
		return nil, err
	}
	player := replay.New(rec)
	routes := map[string]modelgw.Route{}
	for _, alias := range []string{modelgw.AliasDirector, modelgw.AliasAssociate} {
		routes[alias] = modelgw.Route{Provider: player, Model: rec.Model(alias), Free: true}
	}
	return routes, nil
}
