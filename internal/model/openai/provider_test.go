package openai_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/openai"
	"choiros/internal/model/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func key(context.Context) (string, error) { return modeltest.Key, nil }

func TestProvider(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		Wire: wiretest.OpenAI, Of: "chat 127.0.0.1",
		New: func(t *testing.T, url string, retry attempt.Policy) model.Provider {
			return openai.New(openai.Config{Key: key, BaseURL: url, Retry: retry})
		},
	})
}

func TestResponses(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		Wire: wiretest.Responses, Of: "responses 127.0.0.1",
		New: func(t *testing.T, url string, retry attempt.Policy) model.Provider {
			return openai.NewResponses(openai.Config{Key: key, BaseURL: url, Retry: retry})
		},
	})
}
