package openai

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
)

// connection is the part that both APIs of a service share.
type connection struct {
	cfg     Config
	http    *http.Client
	service *dialect.Service
}

// connect returns a connection for an API, named as in model.Thought.
func connect(api string, cfg Config) connection {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	return connection{cfg: cfg, http: attempt.Client(cfg.HTTP, mediaType), service: dialect.New(api, cfg.BaseURL)}
}

// streamFunc makes one call and assembles the answer. The error is an *attempt.Failure.
type streamFunc func(ctx context.Context, ask dialect.Ask, on func(model.Delta), opts []option.RequestOption) (model.Response, error)

// callService calls the service by stream, with the key of the provider with a name, which
// no error has in it.
func (c connection) callService(ctx context.Context, name string, req model.Request, on func(model.Delta), stream streamFunc) (model.Response, error) {
	opts, key, err := c.options(ctx, name)
	if err != nil {
		return model.Response{}, err
	}
	return c.service.Do(ctx, c.cfg.Retry, req, on, func(ctx context.Context, ask dialect.Ask, on func(model.Delta)) (model.Response, error) {
		resp, err := stream(ctx, ask, on, opts)
		return resp, attempt.Redacted(err, key)
	})
}

// options returns the options of a call, and the key in them; "" for an endpoint that
// needs none.
func (c connection) options(ctx context.Context, name string) (opts []option.RequestOption, key string, err error) {
	opts = []option.RequestOption{option.WithBaseURL(c.cfg.BaseURL), option.WithHTTPClient(c.http), option.WithMaxRetries(0)}
	if c.cfg.Key == nil {
		return opts, "", nil
	}
	key, err = c.cfg.Key.Get(ctx, name)
	return append(opts, option.WithAPIKey(key)), key, err
}
