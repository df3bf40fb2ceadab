package anthropic_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/wiretest"
)

// body answers every request with the same stream.
type body []byte

func (b body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(b)),
	}, nil
}

// FuzzStream: whatever comes is a whole answer that agrees with its pieces, or
// a typed error.
func FuzzStream(f *testing.F) {
	whole := wiretest.Stream(wiretest.Anthropic, modeltest.Answer())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.ReplaceAll(whole, []byte("\n\n"), []byte("\r\n\r\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := anthropic.New(anthropic.Config{Key: key, BaseURL: "http://test", HTTP: &http.Client{Transport: body(raw)}, Retry: attempt.Policy{Tries: 1}})
		said := 0
		resp, err := p.Stream(t.Context(), modeltest.Request(), func(d model.Delta) { said += len(d.Text) })
		if err != nil {
			var e *choir.Error
			if !errors.As(err, &e) || e.Code == choir.CodeInternal {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		for _, b := range resp.Content {
			said -= len(b.Text)
			if b.Kind == model.ToolCall && (len(b.Input) == 0 || b.Input[0] != '{') {
				t.Fatalf("a tool call without an object: %+v", b)
			}
		}
		if said != 0 {
			t.Fatalf("%d bytes more were streamed than answered", said)
		}
	})
}
