package supervisor_test

import (
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
)

// TestACredentialHoldsWhateverClockDatesEvents: the bus looked at one clock when
// it dated a credential and at another when it was shown one, so that a choir
// whose clock was behind refused itself and ended.
func TestACredentialHoldsWhateverClockDatesEvents(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"behind": -48 * time.Hour, "ahead": 48 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := controltest.Config(t, newData(t))
			cfg.Now = func() time.Time { return time.Now().Round(0).Add(step) }
			sys, err := supervisor.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := sys.Close(); err != nil {
					t.Error(err)
				}
			})
			c := sys.Computers()[0]
			creds, err := sys.Bus().Mint(choir.RoleAssociate, c.User(), c.ID(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			client, err := bus.Dial(t.Context(), bus.DialConfig{Dial: sys.Bus().(*hub.Server).Dial, Credentials: creds, User: c.User(), Computer: c.ID(), Role: choir.RoleAssociate})
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if left := time.Until(creds.Expires.Std()); left > 62*time.Second {
				t.Errorf("a credential for a minute lives %s", left)
			}
		})
	}
}
