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

func credentials(context.Context) (bedrock.Credentials, error) {
	return bedrock.Credentials{AccessKey: "AKIATEST", Secret: modeltest.Key, Session: modeltest.Key + "-session"}, nil
}

func TestProvider(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		Wire: wiretest.Bedrock,
		New: func(t *testing.T, url string, retry attempt.Policy) model.Provider {
			return bedrock.New(bedrock.Config{Region: "eu-central-1", Credentials: credentials, BaseURL: url, Retry: retry})
		},
	})
}
