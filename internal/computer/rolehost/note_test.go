package rolehost

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// stubDriver recovers as a test says, and counts what it is asked for.
type stubDriver struct {
	recovers         error
	asked, destroyed int
	made             int
}

func (d *stubDriver) Name() string                         { return "stub" }
func (d *stubDriver) Capabilities() sandbox.Capabilities   { return sandbox.Capabilities{} }
func (d *stubDriver) Probe(context.Context) sandbox.Report { return sandbox.Report{Usable: true} }
func (d *stubDriver) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	d.made++
	return stubSandbox{d}, nil
}
func (d *stubDriver) Recover(context.Context, sandbox.Handle) (sandbox.Sandbox, error) {
	d.asked++
	return stubSandbox{d}, d.recovers
}

// stubSandbox is a sandbox that nothing runs in.
type stubSandbox struct{ d *stubDriver }

func (s stubSandbox) Handle() sandbox.Handle {
	return sandbox.Handle{Driver: "stub", Version: 1, State: json.RawMessage(`{}`)}
}
func (s stubSandbox) Dial(context.Context) (net.Conn, error)             { return nil, net.ErrClosed }
func (s stubSandbox) Level() sandbox.Level                               { return sandbox.Level{} }
func (s stubSandbox) Usage(context.Context) (u sandbox.Usage, err error) { return u, nil }
func (s stubSandbox) Done() <-chan struct{}                              { return nil }
func (s stubSandbox) Destroy(context.Context) error                      { s.d.destroyed++; return nil }

// TestNoSecondSandboxIsMadeBesideOneThatMayLive begins with the note of a
// sandbox and a driver that answers in every way when it is asked for it.
func TestNoSecondSandboxIsMadeBesideOneThatMayLive(t *testing.T) {
	const good = `{"handle":{"driver":"stub","version":1,"state":{}},"guest":"build","boot":"now"}`
	for _, c := range []struct {
		name, note  string
		recovers    error
		code        choir.Code // of the refusal; empty when it goes on
		made, ended int
	}{
		{"no note", "", nil, "", 1, 0},
		{"it lives", good, nil, "", 0, 0},
		{"it lives, of another build", strings.Replace(good, "build", "other", 1), nil, "", 1, 1},
		{"it lives, of another rung", strings.Replace(good, "stub", "microvm", 1), nil, "", 1, 1},
		{"it has ended", good, choir.E("x", choir.CodeNotFound, "the sandbox has ended"), "", 1, 0},
		{"a slow machine", good, choir.E("x", choir.CodeTimeout, "wait"), choir.CodeTimeout, 0, 0},
		{"a stop", good, choir.E("x", choir.CodeCancelled, "stopped"), choir.CodeCancelled, 0, 0},
		{"no driver", good, choir.E("x", choir.CodeUnavailable, "bubblewrap is gone"), choir.CodeUnavailable, 0, 0},
		{"an error without a code", good, os.ErrPermission, choir.CodeInternal, 0, 0},
		{"another driver's handle", strings.Replace(good, "stub", "microvm", 1), choir.E("x", choir.CodeInvalid, "no"), choir.CodeConflict, 0, 0},
		{"another driver's, before the machine was restarted", strings.Replace(good, `"now"`, `"then"`, 1), choir.E("x", choir.CodeInvalid, "no"), "", 1, 0},
		{"a torn note", good[:20], nil, choir.CodeCorrupt, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &stubDriver{recovers: c.recovers}
			h := New(nil, nil, nil, nil, Config{Dir: t.TempDir(), Driver: d, Guest: "/guest/build", Boot: "now"})
			s := h.seats[choir.RoleAssociate]
			if c.note != "" {
				if err := os.MkdirAll(filepath.Dir(s.notePath()), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(s.notePath(), []byte(c.note), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l := &live{}
			recovered, err := s.findOrCreate(t.Context(), l)
			if choir.CodeOf(err) != c.code || d.made != c.made || d.destroyed != c.ended || recovered != (c.code == "" && c.made == 0) {
				t.Errorf("recovered %v, %d made, %d ended: %v", recovered, d.made, d.destroyed, err)
			}
			if c.code == "" {
				return
			}
			if l.sandbox != nil {
				t.Error("a sandbox that was not taken up is kept to be ended")
			}
			if raw, err := os.ReadFile(s.notePath()); err != nil || string(raw) != c.note {
				t.Errorf("the note is %q, %v", raw, err)
			}
			if c.code == choir.CodeConflict && !strings.Contains(err.Error(), "microvm") {
				t.Errorf("it does not name the handle: %v", err)
			}
		})
	}
}
