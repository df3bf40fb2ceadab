package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/connections"
	"choiros/internal/control/modelgw"
	keyfiles "choiros/internal/keyring/files"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	policy "choiros/internal/model/attempt"
	"choiros/internal/model/bedrock"
	"choiros/internal/model/openai"
	"choiros/internal/model/replay"
)

// keys returns the keyring for keys that the owner enters on the shell's page.
func (a *app) keys() *keyfiles.Keyring { return keyfiles.New(filepath.Join(a.data, "keys", "models")) }

// readKeys returns the keyring from which keys are read: that of modelsData, if given.
func (a *app) readKeys() *keyfiles.Keyring {
	return keyfiles.New(filepath.Join(cmp.Or(a.modelsData, a.data), "keys", "models"))
}

// connections returns the models in force, from m (choir.toml) and the shell's page.
func (a *app) connections(m config.Models) (*connections.Connections, error) {
	c := connections.Config{
		Data: a.data, File: m, Keys: a.keys(), Key: a.keyState, Source: a.keySource, Now: now,
		Provider: a.recorded,
		Tester: func(p config.Provider, key model.KeySource) (model.Provider, error) {
			return a.provider(p, key, policy.Policy{Tries: 1})
		},
	}
	if a.playing != nil {
		c.File, c.Provider = playedModels(a.playing), func(config.Provider, model.KeySource) (model.Provider, error) { return replay.New(a.playing), nil }
	}
	if a.record != "" {
		c.Locked = choir.ReasonRecordLocks
	}
	return connections.Open(c)
}

// playedModels returns the models of a recording as a configuration has them.
func playedModels(rec *replay.Recording) config.Models {
	const name = "recorded"
	return config.Models{
		Director:  name + "/" + cmp.Or(rec.Model(modelgw.AliasDirector), "none"),
		Associate: name + "/" + cmp.Or(rec.Model(modelgw.AliasAssociate), "none"),
		Providers: []config.Provider{{Name: name, Kind: "anthropic", Free: true}},
	}
}

// recorded returns a provider, which records its exchanges if --record is given. Code invalid: a
// second provider would be recorded.
func (a *app) recorded(p config.Provider, key model.KeySource) (model.Provider, error) {
	made, err := a.provider(p, key, policy.Policy{})
	if err != nil || a.record == "" {
		return made, err
	}
	if a.recording != nil {
		return nil, choir.Refuse("choir.up", choir.ReasonRecordTwoProviders)
	}
	f, err := os.OpenFile(a.record, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, choir.Refuse("choir.up", choir.ReasonRecordingNotWritten, choir.TextOf("why", err))
	}
	r := replay.Record(made, f)
	a.recording = func() error { return errors.Join(r.Close(), f.Close()) }
	return r, nil
}

// provider returns the client of a model service by its kind. A service from the shell's page may
// only be at allowed addresses.
func (a *app) provider(p config.Provider, key model.KeySource, retry policy.Policy) (model.Provider, error) {
	client := policy.NewClient(nil)
	if p.OnPage {
		client = policy.NewClient(onlyAllowed)
	}
	switch p.Kind {
	case "anthropic":
		return anthropic.New(anthropic.Config{BaseURL: p.BaseURL, Key: key, HTTP: client, Retry: retry}), nil
	case "bedrock":
		return bedrock.New(bedrock.Config{Region: p.Region, BaseURL: p.BaseURL, Key: key, HTTP: client, Retry: retry}), nil
	case "openai-responses":
		return openai.NewResponses(openai.Config{BaseURL: p.BaseURL, Key: key, HTTP: client, Retry: retry}), nil
	default:
		return openai.New(openai.Config{BaseURL: p.BaseURL, Key: key, HTTP: client, Retry: retry}), nil
	}
}

// onlyAllowed returns an error with code refused unless a model service may be at address, whatever name
// resolved to it. It is called by the dialer before each connection.
func onlyAllowed(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); err != nil || !connections.Allowed(ip) {
		return choir.Refuse("models.connect", choir.ReasonModelAddressRefused, choir.TextOf("address", host))
	}
	return nil
}

// keySource returns the function that reads a provider's key at each use, so that the key can be
// changed while choir runs; nil if the service needs none.
func (a *app) keySource(p config.Provider) model.KeySource {
	switch {
	case p.Kept:
		return func(ctx context.Context) (string, error) { return a.readKeys().Read(ctx, p.Name) }
	case p.KeyFile != "":
		return func(context.Context) (string, error) { return keyfiles.ReadFile(p.KeyFile) }
	case p.KeyEnv != "":
		return func(context.Context) (string, error) {
			if key := a.env(p.KeyEnv); key != "" {
				return key, nil
			}
			return "", choir.Refuse("models.key", choir.ReasonKeyEnvUnset, choir.TextOf("variable", p.KeyEnv), choir.TextOf("name", p.Name))
		}
	}
	return nil
}
