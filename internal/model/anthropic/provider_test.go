package anthropic_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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

// TestAnEndpointWithoutAKeyIsSentNone calls a server of one's own and looks at its headers, once
// without a key and once with one, which is the control.
func TestAnEndpointWithoutAKeyIsSentNone(t *testing.T) {
	for name, source := range map[string]model.KeySource{"": nil, modeltest.Key: key} {
		var got []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusBadRequest)
		}))
		_, err := anthropic.New(anthropic.Config{Key: source, BaseURL: server.URL}).Stream(t.Context(), model.Request{Model: "own"}, func(model.Delta) {})
		server.Close()
		if err == nil || len(got) == 0 || got[0] != name {
			t.Errorf("the server was sent the keys %q, want %q; %v", got, name, err)
		}
	}
}
