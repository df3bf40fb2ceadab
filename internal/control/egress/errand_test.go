package egress

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"choiros/internal/choir"
)

// TestWhatAGatewayRefusesIsRecorded with the host that was wanted, and asks the owner for nothing.
func TestWhatAGatewayRefusesIsRecorded(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test"}))
	g.asks = true
	wanted := Target{Host: "good.test", Port: 443, Path: "/me/p.git/info/refs", Method: http.MethodGet}
	for _, c := range []struct {
		name   string
		target Target
		err    error
		want   Refusal
	}{
		{"no repository", wanted, choir.Refuse("git", choir.ReasonGitNotNamed, choir.TextOf("address", "good.test/me/p.git")), Refusal{Host: "good.test", Port: 443, Why: choir.EgressGate, Mode: choir.EgressAllowlist}},
		{"no key", wanted, choir.Refuse("vault", choir.ReasonVaultNoneFor, choir.TextOf("address", "good.test:443/me")), Refusal{Host: "good.test", Port: 443, Why: choir.EgressGate, Mode: choir.EgressAllowlist}},
		{"unclear", Target{}, choir.Refuse("git", choir.ReasonGitNotARequest), Refusal{Host: "git.choir.internal", Why: choir.EgressGate, Mode: choir.EgressAllowlist}},
		{"the gateway failed", wanted, errors.New("the vault cannot be read"), Refusal{}},
	} {
		g.refused = nil
		var told error
		r := httptest.NewRequest(http.MethodGet, "http://git.choir.internal/good.test/me/p.git/info/refs", http.NoBody)
		g.ServeErrand(httptest.NewRecorder(), r, func(_ http.ResponseWriter, err error) { told = err }, func(context.Context, Work) (Errand, error) { return Errand{Target: c.target}, c.err })
		if told == nil || told.Error() != c.err.Error() {
			t.Errorf("%s: the program is told %v", c.name, told)
		}
		if got := g.lastRefusal(); got != c.want {
			t.Errorf("%s: recorded %+v, want %+v", c.name, got, c.want)
		}
	}
	if g.touched() {
		t.Error("something was dialled")
	}
}
