package rolehost

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
)

// ask asks the egress door for a path, and prints what it answers.
func ask(ctx context.Context, p *fake.Process, path string) int {
	c, err := p.Dial(ctx, roledoor.Egress)
	if err != nil {
		return 1
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.0\r\nHost: x\r\n\r\n"); err != nil {
		return 1
	}
	if _, err := io.Copy(p.Stdout, c); err != nil {
		return 1
	}
	return 0
}

// tool runs a program in the Associate's sandbox to its end and returns what it printed.
func (l *lab) tool(name string) (string, guest.Exit) {
	l.t.Helper()
	p := must(l.Exec(l.within(), guest.ExecSpec{Argv: []string{name}, Cwd: sandbox.WorkspaceInside}))(l.t)
	var out strings.Builder
	exit := must(p.Wait(&out, &out))(l.t)
	return out.String(), exit
}

// TestTheEgressDoorKnowsItsCallers has a tool and both roles ask for the same: who they
// are follows from the way they came.
func TestTheEgressDoorKnowsItsCallers(t *testing.T) {
	type said struct {
		role   choir.Role
		isRole bool
	}
	heard := make(chan said, 10)
	role := func(ctx context.Context, p *fake.Process) int {
		if code := ask(ctx, p, "/"); code != 0 {
			return code
		}
		return asleep(ctx, p)
	}
	g := newGround(t, map[string]fake.Program{
		guestbin.Director: role, guestbin.Associate: role,
		"tool": func(ctx context.Context, p *fake.Process) int { return ask(ctx, p, "/") },
	})
	g.cfg.Egress = func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			role, isRole := Caller(r)
			heard <- said{role, isRole}
			_, _ = io.WriteString(w, "answered")
		})
	}
	l := g.serve()
	want := map[said]bool{{choir.RoleDirector, true}: true, {choir.RoleAssociate, true}: true}
	for range 2 {
		got := <-heard
		if !want[got] {
			t.Errorf("a role is taken for %+v", got)
		}
		delete(want, got)
	}
	if out, exit := l.tool("tool"); exit.Code != 0 || !strings.HasSuffix(out, "answered") {
		t.Errorf("exit code %d: %s", exit.Code, out)
	}
	if got := <-heard; got != (said{choir.RoleAssociate, false}) {
		t.Errorf("a tool is taken for %+v", got)
	}
	if role, isRole := Caller(must(http.NewRequest(http.MethodGet, "/", nil))(t)); role != "" || isRole {
		t.Errorf("a request from elsewhere is taken for the %s's", role)
	}
}

func TestTheBusDoorTakesRolesAndNoTools(t *testing.T) {
	greeted := make(chan string, 10)
	greet := func(ctx context.Context, p *fake.Process) int {
		c, err := p.Dial(ctx, roledoor.Bus)
		if err != nil {
			return 1
		}
		defer c.Close()
		raw, _ := io.ReadAll(c) // a stream that breaks off has no greeting
		greeted <- string(raw)
		return 0
	}
	g := newGround(t, map[string]fake.Program{
		guestbin.Associate: func(ctx context.Context, p *fake.Process) int {
			if code := greet(ctx, p); code != 0 {
				return code
			}
			return asleep(ctx, p)
		},
		"tool": greet,
	})
	l := g.serve()
	if got := <-greeted; got != "bus\n" {
		t.Errorf("the role reads %q from the bus", got)
	}
	if _, exit := l.tool("tool"); exit.Code != 1 {
		t.Errorf("a tool that dials the bus ends with %d", exit.Code)
	}
}

// TestAFoldersModesAreSetAgain leaves an old door and another mode behind.
func TestAFoldersModesAreSetAgain(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.client()
	l.stop()
	doors := filepath.Join(g.cfg.Dir, "associate", "doors")
	if err := os.Chmod(doors, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range oldSockets {
		if err := os.WriteFile(filepath.Join(doors, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g.serve().client()
	info := must(os.Stat(doors))(t)
	if left := must(os.ReadDir(doors))(t); len(left) != 0 || info.Mode().Perm() != 0o700 {
		t.Errorf("%v in a folder of mode %v", left, info.Mode())
	}
}
