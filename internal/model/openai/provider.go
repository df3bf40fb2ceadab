// Package openai calls any endpoint that implements OpenAI's chat completions API, such
// as OpenAI itself, Z.ai, Kimi, OpenRouter, Ollama and llama.cpp, or its Responses API.
package openai

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
)

// DefaultBaseURL is the base URL of OpenAI's API.
const DefaultBaseURL = "https://api.openai.com/v1"

// mediaType is the media type of the API's streams.
const mediaType = "text/event-stream"

// Config is the configuration of a provider.
type Config struct {
	Key     model.KeySource // nil for an endpoint that needs none, such as Ollama
	BaseURL string          // default DefaultBaseURL
	HTTP    *http.Client    // default: one of its own
	Retry   attempt.Policy
}

// Provider implements model.Provider over chat completions.
type Provider struct {
	cfg     Config
	http    *http.Client
	service *dialect.Service
}

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	return &Provider{cfg: cfg, http: attempt.Client(cfg.HTTP, mediaType), service: dialect.New("chat", cfg.BaseURL)}
}

// Name implements model.Provider.
func (p *Provider) Name() string { return "openai" }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	opts, key, err := options(ctx, p.cfg, p.http, p.Name())
	if err != nil {
		return model.Response{}, err
	}
	return p.service.Do(ctx, p.cfg.Retry, req, on, func(ctx context.Context, ask dialect.Ask, on func(model.Delta)) (model.Response, error) {
		resp, err := p.stream(ctx, p.params(ask), on, opts)
		return resp, attempt.Redacted(err, key)
	})
}

// options returns the options of a call, and the key in them; "" for an endpoint that
// needs none.
func options(ctx context.Context, cfg Config, client *http.Client, name string) (opts []option.RequestOption, key string, err error) {
	opts = []option.RequestOption{option.WithBaseURL(cfg.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if cfg.Key == nil {
		return opts, "", nil
	}
	key, err = cfg.Key.Get(ctx, name)
	return append(opts, option.WithAPIKey(key)), key, err
}

// stream calls the model once and assembles the answer. The error is an
// *attempt.Failure.
func (p *Provider) stream(ctx context.Context, params openai.ChatCompletionNewParams, on func(model.Delta), opts []option.RequestOption) (model.Response, error) {
	service := openai.NewChatCompletionService(opts...)
	s := service.NewStreaming(ctx, params)
	defer s.Close()
	a := answer{on: on, thought: p.service.Thought(), resp: model.Response{Model: params.Model}}
	for s.Next() {
		if err := a.applyChunk(s.Current()); err != nil {
			return a.usage(), err
		}
	}
	if err := s.Err(); err != nil {
		return a.usage(), failure(ctx, err)
	}
	if a.finishReason == "" || !a.counted && !attempt.Ended(ctx, "[DONE]") {
		return a.usage(), attempt.Cut()
	}
	return a.finish()
}
