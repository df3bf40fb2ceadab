// Package bedrock calls Anthropic's models on Amazon Bedrock.
package bedrock

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/messages"
)

// streamType is how Bedrock sends a stream.
const streamType = "application/vnd.amazon.eventstream"

// Credentials sign requests. Session is empty for long-lived ones.
type Credentials struct {
	AccessKey, Secret, Session string
}

// Config of the provider.
type Config struct {
	Region string
	// Credentials are asked for at every call, as a model.KeySource is. The SDK
	// prefers AWS_BEARER_TOKEN_BEDROCK of the control plane's environment.
	Credentials func(ctx context.Context) (Credentials, error)
	BaseURL     string       // default: Bedrock's endpoint in the region
	HTTP        *http.Client // default: one of its own
	Retry       attempt.Policy
}

// Provider implements model.Provider.
type Provider struct {
	cfg  Config
	http *http.Client
}

// New makes a provider.
func New(cfg Config) *Provider {
	return &Provider{cfg: cfg, http: attempt.Client(cfg.HTTP, streamType)}
}

// Name implements model.Provider.
func (p *Provider) Name() string { return "bedrock" }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	c, err := p.cfg.Credentials(ctx)
	if err != nil || c.AccessKey == "" || c.Secret == "" {
		return model.Response{}, choir.E("bedrock.stream", choir.CodeUnavailable, "there are no credentials for the provider bedrock").
			WithRemedy("set its access key and secret in the configuration")
	}
	opts := []option.RequestOption{
		bedrock.WithConfig(aws.Config{Region: p.cfg.Region, Credentials: signing(c)}),
		option.WithHTTPClient(p.http),
	}
	if p.cfg.BaseURL != "" {
		opts = append(opts, option.WithBaseURL(p.cfg.BaseURL))
	}
	return attempt.Do(ctx, p.cfg.Retry, on, func(ctx context.Context, on func(model.Delta)) (model.Response, error) {
		resp, err := messages.Stream(ctx, req, on, opts...)
		return resp, attempt.Redacted(err, c.Secret, c.Session, c.AccessKey)
	})
}

func signing(c Credentials) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: c.AccessKey, SecretAccessKey: c.Secret, SessionToken: c.Session}, nil
	})
}
