package anthropic_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func key(context.Context) (string, error) { return modeltest.Key, nil }

func TestProvider(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		Wire: wiretest.Anthropic, Of: "messages 127.0.0.1",
		New: func(t *testing.T, url string, retry attempt.Policy) model.Provider {
			return anthropic.New(anthropic.Config{Key: key, BaseURL: url, Retry: retry})
		},
	})
}
