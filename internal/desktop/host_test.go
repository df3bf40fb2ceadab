package desktop

import (
	"context"
	"net"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// computer is one whose sandbox cannot run what is wanted; the live tests of
// ui/e2e have a real one.
type computer struct {
	changed bool
	err     error
	execs   int
}

func (c *computer) Changed(context.Context) (bool, error) { return c.changed, nil }

func (c *computer) Exec(context.Context, guest.ExecSpec) (*guest.Process, error) {
	c.execs++
	return nil, c.err
}

func (c *computer) NoteBroke(context.Context, choir.DesktopBroke) error { return nil }

func (c *computer) DialPort(context.Context, int) (net.Conn, error) {
	return nil, choir.E("test", choir.CodeUnavailable, "nothing listens")
}

func TestNothingRunsForASourceAsItCame(t *testing.T) {
	c := &computer{}
	h := New(c, c, Config{Modules: NewModules(t.TempDir(), "abc", archive(t), archive(t)), Now: time.Now})
	defer h.Close()
	if s, err := h.Status(t.Context()); err != nil || s.Mode != ModeShipped {
		t.Errorf("%+v, %v", s, err)
	}
	if _, ok := h.Live(t.Context(), true); ok || c.execs != 0 {
		t.Errorf("%d processes were started", c.execs)
	}
}

func TestAComputerWithoutNodeKeepsTheBundleAndSaysWhy(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	c := &computer{changed: true, err: choir.E("guest.exec", choir.CodeNotFound, "no node")}
	h := New(c, c, Config{Modules: NewModules(t.TempDir(), "abc", archive(t), archive(t)), Now: func() time.Time { return now }})
	defer h.Close()
	for range 3 {
		s, err := h.Status(t.Context())
		if err != nil || s.Mode != ModeBroken || s.Error == "" || s.Remedy == "" {
			t.Errorf("%+v, %v", s, err)
		}
		if _, ok := h.Live(t.Context(), true); ok {
			t.Error("a page comes from what does not run")
		}
	}
	if c.execs != 1 {
		t.Errorf("it was tried %d times at once", c.execs)
	}
	now = now.Add(retryAfter)
	if _, err := h.Status(t.Context()); err != nil || c.execs != 2 {
		t.Errorf("later it was tried %d times: %v", c.execs, err)
	}
	c.changed = false
	if s, err := h.Status(t.Context()); err != nil || s.Mode != ModeShipped {
		t.Errorf("taken back: %+v, %v", s, err)
	}
}

func TestAClosedHostStartsNothing(t *testing.T) {
	c := &computer{changed: true}
	h := New(c, c, Config{Modules: NewModules(t.TempDir(), "abc", archive(t), archive(t)), Now: time.Now})
	h.Close()
	if s, err := h.Status(t.Context()); err != nil || s.Mode != ModeShipped || c.execs != 0 {
		t.Errorf("%+v, %v, %d processes", s, err, c.execs)
	}
}

func TestWhatADevelopmentServerSays(t *testing.T) {
	s := &server{ready: make(chan int, 1)}
	var told []choir.DesktopBroke
	s.report = func(p choir.DesktopBroke) { told = append(told, p) }
	r, w := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); s.read(r) }()
	say := func(line string) {
		if _, err := w.Write([]byte(line + "\n")); err != nil {
			t.Error(err)
		}
	}
	say("no JSON")
	say(`{"port": 99999}`)
	say(`{"port": 4000}`)
	say(`{"port": 4001}`)
	say(`{"error": "Unexpected token", "file": "/workspace/choiros/src/a.tsx", "line": 7}`)
	say("")
	if e := s.trouble.Load(); e == nil || e.File != "src/a.tsx" || e.Error != "Unexpected token" {
		t.Errorf("%+v", e)
	}
	say(`{"changed": true}`)
	say("")
	if e := s.trouble.Load(); e != nil {
		t.Errorf("mended: %+v", e)
	}
	if port := <-s.ready; port != 4000 {
		t.Errorf("port %d", port)
	}
	w.Close()
	<-done
	if want := (choir.DesktopBroke{Origin: choir.BrokeServer, Message: "Unexpected token", File: "src/a.tsx", Line: 7}); len(told) != 1 || told[0] != want {
		t.Errorf("the log is told %+v", told)
	}
}
