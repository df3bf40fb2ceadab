package bedrock_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/bedrock"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func TestProvider(t *testing.T) {
	for name, key := range map[string]string{
		"signed":  "AKIATEST:" + modeltest.Key + ":" + modeltest.Key + "-session",
		"API key": modeltest.Key,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modeltest.Run(t, modeltest.Harness{
				Wire: wiretest.Bedrock, Of: "messages claude",
				New: func(t *testing.T, url string, retry attempt.Policy) model.Provider {
					return bedrock.New(bedrock.Config{
						Region: "eu-central-1", BaseURL: url, Retry: retry,
						Key: func(context.Context) (string, error) { return key, nil },
					})
				},
			})
		})
	}
}
