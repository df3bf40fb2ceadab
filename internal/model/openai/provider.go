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
type Provider struct{ connection }

// New returns a provider.
func New(cfg Config) *Provider { return &Provider{connect("chat", cfg)} }

// Name implements model.Provider.
func (p *Provider) Name() string { return "openai" }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	return p.callService(ctx, p.Name(), req, on, p.stream)
}

// stream calls the model once and assembles the answer. The error is an
// *attempt.Failure.
func (p *Provider) stream(ctx context.Context, ask dialect.Ask, on func(model.Delta), opts []option.RequestOption) (model.Response, error) {
	params := p.params(ask)
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
