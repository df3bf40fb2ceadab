package supervisor

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/control/connections"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/sandbox"
)

// Settings returns the settings of the owner that belong to no computer.
func (s *System) Settings() api.Settings {
	out := settingsOf(s.cfg)
	out.EgressInFile = s.policy.config().GivesEgressMode()
	s.computers.mu.Lock()
	out.Phrase = s.folder.owner.Phrase
	s.computers.mu.Unlock()
	return out
}

// maxPhrase is the maximum length of the owner's phrase, in characters.
const maxPhrase = 60

// ChoosePhrase durably sets the phrase by which the owner recognizes the shell's pages; an
// empty one removes it. Code invalid: it is too long, or has outer spaces or characters that
// cannot be seen.
func (s *System) ChoosePhrase(_ context.Context, phrase string) (api.Settings, error) {
	isHidden := func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }
	if utf8.RuneCountInString(phrase) > maxPhrase || !utf8.ValidString(phrase) || strings.TrimSpace(phrase) != phrase || strings.ContainsFunc(phrase, isHidden) {
		return api.Settings{}, choir.Refuse("settings.phrase", choir.ReasonPhraseLength, choir.CountOf("most", maxPhrase)).At("phrase")
	}
	s.computers.entering.Lock()
	defer s.computers.entering.Unlock()
	s.computers.mu.Lock()
	next := s.folder.owner
	s.computers.mu.Unlock()
	next.Phrase = phrase
	if err := s.folder.writeOwner(next); err != nil {
		return api.Settings{}, err
	}
	s.computers.mu.Lock()
	s.folder.owner.Phrase = phrase
	s.computers.mu.Unlock()
	return s.Settings(), nil
}

// settingsOf returns the owner's settings of a configuration.
func settingsOf(cfg Config) api.Settings {
	out := api.Settings{
		File: cfg.From, Found: cfg.From != "", Models: cfg.Connections.Models(), Roles: append([]api.ModelRole{}, cfg.Connections.Roles()...), Providers: cfg.Connections.Providers(), Known: []api.KnownModel{},
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
		return s.gateways.outlet(c).Try(ctx, route, prices)
	})
	out.Settings = s.Settings()
	return out, err
}

// testTimeout is the maximum time for the answers to TestModels.
const testTimeout = time.Minute

// TestModels asks each model in force, or one of them, one question at the same time,
// and returns what works. Code not_found: no such model is in force.
func (s *System) TestModels(ctx context.Context, r api.TestModelsRequest) (api.TestedModels, error) {
	out := api.TestedModels{Models: []api.TestedModel{}}
	used := slices.DeleteFunc(slices.Clone(s.cfg.Connections.Used()), func(u connections.Used) bool { return r.Model != "" && u.Named != r.Model })
	switch {
	case len(used) == 0 && r.Model != "":
		return out, choir.Refuse("models.test", choir.ReasonNoSuchModel, choir.TextOf("name", r.Model))
	case len(used) == 0:
		return out, choir.Refuse("models.test", choir.ReasonNoModel)
	}
	c, release, err := s.useAny(ctx, r.Computer)
	if err != nil {
		return out, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	out.Models = make([]api.TestedModel, len(used))
	outlet := s.gateways.outlet(c)
	var all sync.WaitGroup
	for i, u := range used {
		all.Go(func() { out.Models[i] = testModel(ctx, &s.cfg, outlet, u) })
	}
	all.Wait()
	return out, nil
}

// testModel asks one model one question.
func testModel(ctx context.Context, cfg *Config, out *outlet, u connections.Used) api.TestedModel {
	began := cfg.Now()
	p, err := out.Probe(ctx, u.Route, cfg.Connections.Routing().Prices)
	tested := api.TestedModel{
		Model: u.Named, Roles: u.Roles, Tools: p.Tools, Streaming: p.Streaming, Images: p.Images, Thinking: p.Thinking,
		LeftOut: p.Answer.LeftOut, DurationMS: cfg.Now().Sub(began).Milliseconds(),
		InputTokens: p.Answer.Usage.Input, OutputTokens: p.Answer.Usage.Output, CostUSD: p.Answer.Usage.CostUSD,
	}
	if err != nil {
		f := choir.ProblemOf(err)
		tested.Code, tested.Error, tested.Remedy = f.Code, f.Message, f.Remedy
	}
	return tested
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
