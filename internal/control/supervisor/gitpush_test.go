package supervisor_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
)

// awaitPush waits until the newest checkpoint of a project is pushed, or its push has failed.
func awaitPush(t *testing.T, p *controltest.Plane, state string) api.Repo {
	t.Helper()
	parts, c := partsOfOnly(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 2*controltest.Patience)
	defer cancel()
	for {
		head, _ := c.Store().Head()
		list, err := parts.Repos.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && list[0].Push != nil && list[0].Push.State == state {
			return list[0]
		}
		if err := c.Store().WaitPast(ctx, head); err != nil {
			t.Fatalf("the push is %+v: %v", list, err)
		}
	}
}

// TestCheckpointsArePushed holds that a checkpoint is on the host once it is made, and one whose
// push a kill cut off after the next start, once.
func TestCheckpointsArePushed(t *testing.T) {
	f := newForge(t, "mine.git")
	data := newData(t)
	p := controltest.StartWith(t, f.config(t, data, "{origin}"))
	bind(t, p, "git.test", "/mine.git")
	parts, c := partsOfOnly(t, p)
	if _, err := parts.Repos.Clone(t.Context(), choir.RoleCLI, "mine", "https://git.test/mine.git", "forge"); err != nil {
		t.Fatal(err)
	}
	_, r := executeTask(t, p, nil, "echo one >> workspace/mine/greeting")
	if r.Status != choir.StatusOK {
		t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
	}
	pushed := awaitPush(t, p, "pushed")
	branch := "choir/" + string(c.ID())
	if at := f.git(t, "git -C mine.git rev-parse "+branch); at != pushed.Push.Commit || f.git(t, "git -C mine.git log --format=%s main") != "first" {
		t.Errorf("the host has %s on %s, and %+v was pushed", at, branch, pushed.Push)
	}
	if n := f.pushes.Load(); n != 1 {
		t.Errorf("%d pushes", n)
	}
	noLeak(t, p, data)
}

// TestAPushThatFailsIsTriedAgain has the host refuse pushes, holds that the owner is told why and
// that work goes on meanwhile, and that the host has the newest commit once it takes pushes again.
func TestAPushThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := newForge(t, "mine.git")
	f.closed.Store(true)
	data := newData(t)
	p := controltest.StartWith(t, f.config(t, data, "{origin}"))
	bind(t, p, "git.test", "/mine.git")
	parts, c := partsOfOnly(t, p)
	if _, err := parts.Repos.Clone(t.Context(), choir.RoleCLI, "mine", "https://git.test/mine.git", "forge"); err != nil {
		t.Fatal(err)
	}
	var last choir.AssociateResult
	for _, line := range []string{"echo one >> workspace/mine/greeting", "echo two >> workspace/mine/greeting"} {
		if _, last = executeTask(t, p, nil, line); last.Status != choir.StatusOK {
			t.Fatalf("%s %s: %+v", last.Status, last.Summary, last.CommandsRun)
		}
		if r := awaitPush(t, p, "failing"); r.Push.Attempts == 0 || !strings.Contains(r.Push.Said, "503") || r.Push.Commit != "" {
			t.Errorf("while the host refuses, the push is %+v", r.Push)
		}
	}
	f.closed.Store(false)
	r := awaitPush(t, p, "pushed")
	if at := f.git(t, "git -C mine.git show choir/"+string(c.ID())+":greeting"); r.Push.Attempts != 0 || at != "hello\none\ntwo" {
		t.Errorf("the host has %q, and the push is %+v", at, r.Push)
	}
	noLeak(t, p, data)
}

// TestAComputerThatPushesIsNotFrozen holds a push at its host, in a choir that freezes computers as
// soon as they are idle: git must not stand still until somebody uses the computer.
func TestAComputerThatPushesIsNotFrozen(t *testing.T) {
	f := newForge(t, "mine.git")
	f.hold, f.held = make(chan struct{}), make(chan struct{}, 8)
	cfg := f.config(t, newData(t), "{origin}")
	cfg.File.Computers.FreezeAfter, cfg.File.Computers.HibernateAfter = "1ms", "0"
	p := controltest.StartWith(t, cfg)
	t.Cleanup(f.letGo)
	bind(t, p, "git.test", "/mine.git")
	parts, c := partsOfOnly(t, p)
	_, release, err := p.Use(t.Context(), c.ID()) // as each request does
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Repos.Clone(t.Context(), choir.RoleCLI, "mine", "https://git.test/mine.git", "forge"); err != nil {
		t.Fatal(err)
	}
	executeTask(t, p, nil, "echo one >> workspace/mine/greeting")
	<-f.held
	release()
	for range 20 {
		p.Sweep(t.Context())
	}
	f.letGo()
	awaitPush(t, p, "pushed")
}

// child is the variable by which a test tells itself, in a process of its own, the data folder
// and the server of the control plane that it is to be.
const child = "CHOIR_PLANE_CHILD"

// TestAPushThatAKillCutsOffIsMadeOnce kills a control plane in the middle of a push, and holds
// that the next one pushes the checkpoint, and says so once.
func TestAPushThatAKillCutsOffIsMadeOnce(t *testing.T) {
	if said := os.Getenv(child); said != "" {
		beKilled(t, said)
	}
	f := newForge(t, "mine.git")
	f.hold, f.held = make(chan struct{}), make(chan struct{}, 8)
	data := newData(t)
	ca := filepath.Join(f.root, "ca.pem")
	if err := os.WriteFile(ca, f.ca, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAPushThatAKillCutsOffIsMadeOnce$")
	cmd.Env = append(os.Environ(), child+"="+strings.Join([]string{data, f.tls.Listener.Addr().String(), ca}, " "))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	select {
	case <-f.held:
	case err := <-gone:
		t.Fatalf("the control plane ended: %v\n%s", err, said.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-gone
	f.letGo()
	p := controltest.StartWith(t, f.config(t, data, "{origin}"))
	pushed := awaitPush(t, p, "pushed")
	_, c := partsOfOnly(t, p)
	if at := f.git(t, "git -C mine.git rev-parse choir/"+string(c.ID())); at != pushed.Push.Commit {
		t.Errorf("the host has %s, and %+v was pushed", at, pushed.Push)
	}
	if n, err := c.Store().Counts(t.Context()); err != nil || n[choir.TypeRepoPushed] != 1 {
		t.Errorf("%d events say that it was pushed, %v", n[choir.TypeRepoPushed], err)
	}
	noLeak(t, p, data)
}

// beKilled is the control plane that is killed: it clones, makes a checkpoint and waits.
func beKilled(t *testing.T, said string) {
	t.Helper()
	words := strings.Fields(said)
	pem, err := os.ReadFile(words[2])
	if err != nil {
		t.Fatal(err)
	}
	f := &forge{internet: &internet{}, roots: x509.NewCertPool(), to: words[1]}
	f.roots.AppendCertsFromPEM(pem)
	p := controltest.StartWith(t, f.config(t, words[0], "{origin}"))
	bind(t, p, "git.test", "/mine.git")
	parts, _ := partsOfOnly(t, p)
	if _, err := parts.Repos.Clone(t.Context(), choir.RoleCLI, "mine", "https://git.test/mine.git", "forge"); err != nil {
		t.Fatal(err)
	}
	executeTask(t, p, nil, "echo one >> workspace/mine/greeting")
	select {} // until it is killed
}
