// Package anthropic calls the Anthropic Messages API.
package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/anthropics/anthropic-sdk-go/option"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
	"choiros/internal/model/messages"
)

// DefaultBaseURL is the base URL of Anthropic's API.
const DefaultBaseURL = "https://api.anthropic.com"

// Config is the configuration of the provider.
type Config struct {
	Key     model.KeySource // nil for a compatible endpoint that needs none
	BaseURL string          // default DefaultBaseURL; other services speak the same format
	HTTP    *http.Client    // default: one of its own
	Retry   attempt.Policy
}

// Provider implements model.Provider.
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
	service := dialect.New("messages", cfg.BaseURL)
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Hostname() == "api.anthropic.com" {
		service = dialect.NewClaude()
	}
	return &Provider{cfg: cfg, http: attempt.Client(cfg.HTTP, messages.MediaType), service: service}
}

// Name implements model.Provider.
func (p *Provider) Name() string { return "anthropic" }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	opts := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithBaseURL(p.cfg.BaseURL), option.WithHTTPClient(p.http)}
	var key string
	if p.cfg.Key != nil {
		var err error
		if key, err = p.cfg.Key.Get(ctx, p.Name()); err != nil {
			return model.Response{}, err
		}
		opts = append(opts, option.WithAPIKey(key))
	}
	return p.service.Do(ctx, p.cfg.Retry, req, on, func(ctx context.Context, ask dialect.Ask, on func(model.Delta)) (model.Response, error) {
		resp, err := messages.Stream(ctx, p.service.Thought(), ask, on, opts...)
		return resp, attempt.Redacted(err, key)
	})
}
