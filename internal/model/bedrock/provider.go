// Package bedrock calls Anthropic's models on Amazon Bedrock.
package bedrock

import (
	"context"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
	"choiros/internal/model/messages"
)

// streamType is the media type of Bedrock's streams.
const streamType = "application/vnd.amazon.eventstream"

// Config is the configuration of the provider.
type Config struct {
	Region string
	// Key returns a Bedrock API key, or credentials of an AWS account as ACCESS:SECRET
	// or ACCESS:SECRET:SESSION. The SDK prefers AWS_BEARER_TOKEN_BEDROCK of the control
	// plane's environment.
	Key     model.KeySource
	BaseURL string       // default: Bedrock's endpoint in the region
	HTTP    *http.Client // default: one of its own
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
	return &Provider{cfg: cfg, http: attempt.Client(cfg.HTTP, streamType), service: dialect.NewClaude()}
}

// Name implements model.Provider.
func (p *Provider) Name() string { return "bedrock" }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	key, err := p.cfg.Key.Get(ctx, p.Name())
	if err != nil {
		return model.Response{}, err
	}
	opts := []option.RequestOption{bedrock.WithConfig(p.account(key)), option.WithHTTPClient(p.http)}
	if p.cfg.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(p.cfg.BaseURL))
	}
	secrets := append(strings.Split(key, ":"), key)
	return p.service.Do(ctx, p.cfg.Retry, req, on, func(ctx context.Context, ask dialect.Ask, on func(model.Delta)) (model.Response, error) {
		resp, err := messages.Stream(ctx, p.service.Thought(), ask, on, opts...)
		return resp, attempt.Redacted(err, secrets...)
	})
}

// account returns the AWS configuration for a key: signed requests for account
// credentials, else a bearer token.
func (p *Provider) account(key string) aws.Config {
	cfg := aws.Config{Region: p.cfg.Region}
	access, secret, signed := strings.Cut(key, ":")
	if !signed {
		cfg.BearerAuthTokenProvider = bedrock.NewStaticBearerTokenProvider(key)
		return cfg
	}
	secret, session, _ := strings.Cut(secret, ":")
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: access, SecretAccessKey: secret, SessionToken: session}, nil
	})
	return cfg
}
