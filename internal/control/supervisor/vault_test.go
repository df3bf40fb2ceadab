package supervisor_test

import (
	"context"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/controltest"
)

// TestAKeyThatIsTakenAwayCutsWhatIsUnderWayWithIt has a task ask a host that does not answer, with a
// key that is then set anew, and with one that is removed: the task goes on, without an answer.
func TestAKeyThatIsTakenAwayCutsWhatIsUnderWayWithIt(t *testing.T) {
	f := newForge(t)
	f.held = make(chan struct{}, 8)
	p := controltest.StartWith(t, f.config(t, newData(t), ""))
	parts, c := partsOfOnly(t, p)
	b := choir.VaultBinding{Use: choir.VaultForHeader, Host: "git.test", Port: 443, Paths: []string{"/api"}, Computer: c.ID(), Header: "Authorization", Prefix: "Bearer "}
	set := func() error {
		_, err := parts.Vault.Set(t.Context(), choir.RoleCLI, "api", token, b)
		return err
	}
	for name, takeAway := range map[string]func() error{
		"set anew": set,
		"removed":  func() error { return parts.Vault.Remove(t.Context(), choir.RoleCLI, "api") },
	} {
		if err := set(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
		took := make(chan error, 1)
		go func() {
			select {
			case <-f.held:
				took <- takeAway()
			case <-ctx.Done():
				took <- ctx.Err()
			}
		}()
		began := time.Now()
		task, r := executeTask(t, p, nil, "curl -sS --max-time 100 -w ' %{http_code}' http://key.choir.internal/git.test/api/slow")
		cancel()
		if err := <-took; err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		passed := egressEvents[choir.EgressPassed](t, p, task)
		if len(r.CommandsRun) != 1 || time.Since(began) > controltest.Patience || len(passed) != 1 || passed[0].Cut != "credential" || passed[0].Credential != "api" {
			t.Errorf("%s: %s, %+v, recorded %+v", name, r.Summary, r.CommandsRun, passed)
		}
	}
}
