package api_test

import (
	"net/http"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
)

// connecting is refused after a dozen changes within a minute, whatever each of
// them was.
func connecting(t *testing.T, p *controltest.Plane) {
	const secret = "sk-ant-0123456789"
	body := api.ConnectRequest{Name: "local", Kind: "openai", Address: "ftp://models.example", Key: secret, Model: "m"}
	var last *http.Response
	for n := range 13 {
		res, raw := p.Do(req{Method: "POST", Path: "/api/settings/models", Body: body})
		got := p.Problem(res, raw)
		want := choir.CodeInvalid
		if n == 12 {
			want = choir.CodeRateLimited
		}
		if got.Code != want || strings.Contains(string(raw), secret) {
			t.Errorf("change %d: %s", n, raw)
		}
		last = res
	}
	if last.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	res, raw := p.Do(req{Method: "DELETE", Path: "/api/settings/models/local"})
	if got := p.Problem(res, raw); got.Code != choir.CodeRateLimited {
		t.Errorf("a removal: %s", raw)
	}
}
