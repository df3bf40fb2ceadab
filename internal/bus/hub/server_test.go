package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

func TestABusThatDiedIsStartedAgain(t *testing.T) {
	t.Parallel()
	s, err := hub.Start(t.Context(), hub.Config{Dir: t.TempDir(), WatchEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	l := bustest.NewLog(bustest.NewHome(t))
	answerFrom(t, s, l)
	c := bustest.Dial(t, s, choir.RoleDirector, l.Home)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	s.Kill()
	if err := s.Healthy(); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a dead bus says %v of itself", err)
	}
	go func() { done <- s.Serve(ctx) }()
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Healthy(); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
}

func TestAClosedBusStaysClosed(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t)
	s.Close()
	s.Close()
	if err := s.Restart(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("restart: %v", err)
	}
	if _, err := s.Dial(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("dial: %v", err)
	}
}

func TestAKeyThatCannotBeReadIsNotReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "account.nk")
	if err := os.WriteFile(key, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := hub.Start(t.Context(), hub.Config{Dir: t.TempDir(), Keys: dir})
	if choir.CodeOf(err) != choir.CodeCorrupt {
		t.Fatalf("got %v", err)
	}
	if got, err := os.ReadFile(key); err != nil || string(got) != "not a key" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestMintRefusesWhatIsNobody(t *testing.T) {
	t.Parallel()
	s, h := bustest.Start(t), bustest.NewHome(t)
	for name, c := range map[string]struct {
		role           choir.Role
		user, computer choir.ID
		ttl            time.Duration
	}{
		"no role":        {"root", h.User, h.Computer, time.Hour},
		"no user":        {choir.RoleShell, "", h.Computer, time.Hour},
		"no computer":    {choir.RoleDirector, h.User, "", time.Hour},
		"a wildcard":     {choir.RoleControl, "*", h.Computer, time.Hour},
		"no pool's home": {choir.RolePool, "", "", time.Hour},
		"no time":        {choir.RoleShell, h.User, h.Computer, 0},
	} {
		if _, err := s.Mint(c.role, c.user, c.computer, c.ttl); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
