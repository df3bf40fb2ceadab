package sandboxtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// lifecycle checks create, recover and destroy, and that nothing is left behind.
func (s suite) lifecycle(t *testing.T) {
	t.Run("destroy leaves nothing", s.part(func(t *testing.T) {
		b := s.create(t, choir.RoleAssociate, nil)
		b.startSleeper(t)
		destroy(t, b)
		destroy(t, b) // idempotent
		ended(t, b)
		nothingLeft(t, b.spec)
		// Not found would be the answer about a file in it.
		if _, err := b.client.Stat(timeout(t), "."); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("a request behind the end: %v", err)
		}
		_, err := s.driver.Recover(timeout(t), b.Handle())
		wantVerdict(t, sandbox.Gone, err)
	}))
	t.Run("the end of PID 1 is the end", s.part(func(t *testing.T) {
		b := s.create(t, choir.RoleAssociate, nil)
		b.startSleeper(t)
		// Init accepts SIGTERM from inside: it harms only this sandbox.
		b.client.Run(timeout(t), guest.ExecSpec{Argv: []string{"/bin/sh", "-c", "kill -TERM 1; sleep 60"}}, nil, 1<<10)
		ended(t, b)
		nothingLeft(t, b.spec)
	}))
	t.Run("a failed create leaves nothing", s.part(func(t *testing.T) {
		spec := SpecIn(t, DataDir(t), brokenGuest(t), choir.RoleAssociate)
		if b, err := s.driver.Create(timeout(t), spec); err == nil {
			destroy(t, b)
			t.Error("a sandbox without a working choir-init was made")
		} else if choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("the code is %s: %v", choir.CodeOf(err), err)
		}
		nothingLeft(t, spec)
	}))
	t.Run("links of an earlier start lead nowhere", s.part(s.linksAreNotFollowed))
	t.Run("a handle survives JSON", s.part(s.handleSurvives))
	t.Run("refused handles", s.part(func(t *testing.T) {
		for _, h := range []sandbox.Handle{
			{}, {Driver: s.driver.Name(), Version: 1}, {Driver: "other", Version: 1, State: json.RawMessage(`{}`)},
			{Driver: s.driver.Name(), Version: 1, State: json.RawMessage(`{"unknown":1}`)},
		} {
			_, err := s.driver.Recover(timeout(t), h)
			wantVerdict(t, sandbox.NotMine, err)
		}
	}))
	t.Run("twenty at once", s.part(s.manyAtOnce))
}

// brokenGuest returns a folder of guest binaries whose choir-init exits at once.
func brokenGuest(t *testing.T) string {
	dir := DataDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "choir-init"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startSleeper starts a daemon in the sandbox that outlives its command; without real
// processes, a command that waits.
func (b inside) startSleeper(t *testing.T) {
	if b.functions {
		b.waiting(t)
		return
	}
	b.run(t, "/bin/sh", "-c", "setsid "+sandbox.GuestInside+"/"+probeName+" sleep >/dev/null 2>&1 </dev/null &")
}

func ended(t *testing.T, b sandbox.Sandbox) {
	t.Helper()
	select {
	case <-b.Done():
	case <-timeout(t).Done():
		t.Fatal("the sandbox did not end")
	}
}

func (s suite) handleSurvives(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	raw, err := json.Marshal(b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	var h sandbox.Handle
	if err := json.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	found, err := s.driver.Recover(timeout(t), h)
	if err != nil {
		t.Fatal(err)
	}
	again := s.inside(t, found, b.spec)
	again.whoami(t)
	if level := found.Level(); level.Driver != s.driver.Name() || level.Name == "" || level.Limits == "" {
		t.Errorf("the level is %+v", level)
	}
	if again, err := json.Marshal(found.Handle()); err != nil || string(again) != string(raw) {
		t.Errorf("the handle was %s and is %s, %v", raw, again, err)
	}
	destroy(t, found)
	ended(t, b)
}

// whoami checks that a command runs, and as the user of everything inside.
func (b inside) whoami(t *testing.T) {
	t.Helper()
	argv := []string{"/usr/bin/id", "-u"}
	if b.functions {
		argv = []string{sandbox.GuestInside + "/" + probeName, probed.Say, "1000\n", "", "0"}
	}
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: argv}, nil, 1<<10)
	if err != nil || strings.TrimSpace(string(out.Stdout)) != "1000" {
		t.Errorf("%s %s %v", out.Stdout, out.Stderr, err)
	}
}

func (s suite) manyAtOnce(t *testing.T) {
	const many = 20
	specs := make([]sandbox.Spec, many)
	for i := range specs {
		specs[i] = s.spec(t, choir.RoleAssociate)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for _, spec := range specs {
		wg.Go(func() {
			b, err := s.driver.Create(timeout(t), spec)
			if err != nil {
				t.Error(err)
				return
			}
			defer destroy(t, b)
			s.inside(t, b, spec).whoami(t)
		})
	}
	wg.Wait()
	t.Logf("%d sandboxes made, used and destroyed in %v", many, time.Since(began))
	nothingLeft(t, specs...)
}
