package guest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
)

// roleDir has a role that is a shell script.
func roleDir(t *testing.T, script string) func(*Config) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "choir-director"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.GuestDir = dir }
}

func spec(credentials string) RoleSpec {
	return RoleSpec{Name: "choir-director", Credentials: json.RawMessage(credentials)}
}

func TestARoleGetsItsCredentialsByInput(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `read one; read two; read three; echo "$one|$two|$three" >&2; env >&2; exit 4`))
	ctx := within(t)
	a, err := in.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := spec(`{"seed": "secret"}`)
	s.Config = json.RawMessage(`{"x":1}`)
	pid, err := in.StartRole(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	info, err := in.Hello(ctx)
	if err != nil || info.RolePID != pid || info.Role != "choir-director" {
		t.Errorf("got %+v, %v", info, err)
	}
	if _, err := in.StartRole(ctx, s); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("a second role gives %v", err)
	}
	if err := in.SendCredentials(ctx, []byte(`{"seed":"new"}`)); err != nil {
		t.Fatal(err)
	}
	n := <-a.Notices()
	if n.Kind != NoticeRoleExited || n.PID != pid || n.Exit == nil || n.Exit.Code != 4 {
		t.Errorf("got %+v", n)
	}
	first, env, _ := strings.Cut(n.Output, "\n")
	if first != `{"seed":"secret"}|{"x":1}|{"seed":"new"}` || strings.Contains(env, "secret") || !strings.Contains(env, "HOME=/home/choir") {
		t.Errorf("the role saw %s", n.Output)
	}
	wantCode(t, in.SendCredentials(ctx, []byte(`{}`)), choir.CodeNotFound)
	if _, err := in.StartRole(ctx, s); err != nil { // again, now that it is gone
		t.Error(err)
	}
}

func TestStopRole(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `trap 'exit 9' TERM; read x; echo up >&2; while :; do sleep 0.01; done`))
	ctx := within(t)
	a, err := in.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := in.StopRole(ctx); err != nil {
		t.Errorf("stopping nothing: %v", err)
	}
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := in.StopRole(ctx); err != nil {
		t.Fatal(err)
	}
	// Ended by the trap, or by the signal when it came before the trap.
	if n := <-a.Notices(); n.Exit.Code != 9 && n.Exit.Signal != "SIGTERM" {
		t.Errorf("got %+v", n.Exit)
	}
}

func TestAStubbornRoleIsKilled(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`))
	ctx := within(t)
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := in.StopRole(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*roleGrace {
		t.Errorf("it took %s", took)
	}
	if info, err := in.Hello(ctx); err != nil || info.RolePID != 0 {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestTheServerTakesItsRoleAlong(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `sleep 1000`))
	pid, err := in.StartRole(within(t), spec(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	in.stop()
	in.served <- <-in.served
	if _, ok := readProcess(pid); ok {
		t.Error("the role lives on")
	}
}

func TestRolesOfOtherNamesAreRefused(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `exit 0`))
	s := spec(`{}`)
	s.Name = "../../bin/sh"
	_, err := in.StartRole(within(t), s)
	wantCode(t, err, choir.CodeInvalid)
	s.Name = "choir-associate" // not there
	_, err = in.StartRole(within(t), s)
	wantCode(t, err, choir.CodeNotFound)
}

// startHook is a Programs that calls a function after each start of a program.
type startHook struct {
	Programs
	started func()
}

// Start implements Programs.
func (h startHook) Start(s Start) (Program, error) {
	p, err := h.Programs.Start(s)
	if err == nil {
		h.started()
	}
	return p, err
}

// TestARoleOfALostCallerEnds has the control plane give up while the role's process starts:
// no process of the role is left, and the next start is not refused.
func TestARoleOfALostCallerEnds(t *testing.T) {
	t.Parallel()
	for input, credentials := range map[string]string{
		"read":   `{}`,
		"unread": `{"x":"` + strings.Repeat("x", 4*os.Getpagesize()) + `"}`,
	} {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			ctx := within(t)
			calling, giveUp := context.WithCancel(ctx)
			defer giveUp()
			gone := make(chan error, 1)
			var once sync.Once
			role := roleDir(t, `exec sleep 1000`)
			in := serve(t, func(c *Config) {
				role(c)
				c.Programs = startHook{c.Programs, func() {
					once.Do(func() {
						giveUp()
						if err := <-gone; err == nil {
							t.Error("the start was answered")
						}
					})
				}}
			})
			a, err := in.Attach(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			_, err = in.StartRole(calling, spec(credentials))
			gone <- err
			// The next start is refused only until this one has ended.
			again, end := context.WithTimeout(ctx, 30*time.Second)
			defer end()
			var pid int
			for err = errors.New("not yet"); err != nil; {
				if pid, err = in.StartRole(again, spec(`{}`)); err != nil && choir.CodeOf(err) != choir.CodeBusy {
					t.Fatal(err)
				}
			}
			n := <-a.Notices()
			if n.Kind != NoticeRoleExited || n.Launch != 1 || n.Exit.Signal != "SIGKILL" {
				t.Errorf("got %+v", n)
			}
			if p, ok := readProcess(n.PID); ok && n.PID != pid {
				t.Errorf("the role of the first start is left: %+v", p)
			}
			if info, err := in.Hello(ctx); err != nil || info.RolePID != pid {
				t.Errorf("got %+v, %v, want the role %d", info, err, pid)
			}
		})
	}
}

// TestARoleThatEndsDuringItsStartIsForgotten has a role end before its start has: it is not recorded
// as the running one, and until its start has ended no other begins.
func TestARoleThatEndsDuringItsStartIsForgotten(t *testing.T) {
	t.Parallel()
	for name, recorded := range map[string]bool{"a start that fails": false, "a start that does not know of the end": true} {
		var r roles
		if _, err := r.claim(); err != nil {
			t.Fatal(err)
		}
		p := &roleProcess{}
		r.forgetRole(p)
		_, err := r.claim()
		wantCode(t, err, choir.CodeBusy)
		if recorded {
			r.endStart(p)
		} else {
			r.endStart(nil)
		}
		if r.running() != nil {
			t.Errorf("%s: the role that has ended is the running one", name)
		}
		if _, err := r.claim(); err != nil {
			t.Errorf("%s: the next start: %v", name, err)
		}
		next := &roleProcess{}
		r.endStart(next)
		r.forgetRole(p)
		if r.running() != next {
			t.Errorf("%s: the end of the former role is taken for that of the next", name)
		}
	}
}
