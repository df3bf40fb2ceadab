package attempt

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 28, 0, 0, time.UTC)
	for _, c := range []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		if got := retryAfter(http.Header{c.key: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.key, c.value, got, c.want)
		}
	}
}

func TestRedactTakesOutEveryFormBeforeItClips(t *testing.T) {
	const key = "sk-a/b+c=0123456789"
	f := Status(400, nil, "", strings.Repeat("x", maxReason-30)+key+" sk-a%2Fb%2Bc%3D0123456789").Redact(key)
	if strings.Contains(f.Error(), "sk-a") {
		t.Errorf("the key is still there: %s", f.Error())
	}
	if len(f.Err.Msg) > maxReason+3 {
		t.Errorf("the reason has %d bytes", len(f.Err.Msg))
	}
}

func TestNothingIsTriedAgainOnceSomethingWasDelivered(t *testing.T) {
	tries := 0
	_, err := Do(t.Context(), Policy{First: time.Millisecond}, nil, func(_ context.Context, on func(model.Delta)) (model.Response, error) {
		tries++
		on(model.Delta{Text: "x"})
		return model.Response{}, Cut()
	})
	if choir.CodeOf(err) != choir.CodeProvider || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}
