package supervisor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
)

// brokenDriver is a real driver whose sandboxes do not start.
type brokenDriver struct{ sandbox.Driver }

func (brokenDriver) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, choir.E("sandbox.create", choir.CodeUnavailable, "the machine broke a leg")
}

// fails asks for the health over HTTP until the answer names a part, and returns
// what it says of it. Before each time it does what makes it fail.
func fails(t *testing.T, p *controltest.Plane, part string, provoke func()) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < controltest.Patience; {
		provoke()
		res, body := p.Do(controltest.Request{Method: http.MethodGet, Path: "/health"})
		var h api.Health
		if err := json.Unmarshal(body, &h); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable || (res.StatusCode == http.StatusOK) != (len(h.Failing) == 0) {
			t.Fatalf("status %d: %s", res.StatusCode, body)
		}
		if why, ok := h.Failing[part]; ok {
			return why
		}
	}
	t.Fatalf("nothing says that the %s fails", part)
	return ""
}

func TestHealthNamesASandboxThatDoesNotStart(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	cfg.Driver = brokenDriver{cfg.Driver}
	p := controltest.StartWith(t, cfg)
	why := ""
	for !strings.Contains(why, "broke a leg") { // it is tried for the first time
		why = fails(t, p, "sandbox associate", func() {})
	}
}

func TestHealthNamesARoleThatDied(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	p := controltest.StartWith(t, cfg)
	p.Healthy()
	why := fails(t, p, "sandbox director", func() { killInside(t, cfg.Data, "choir-director") })
	if !strings.Contains(why, "role") {
		t.Errorf("it says %q", why)
	}
	p.Healthy()
}

// killInside kills the processes of a name in the sandboxes of a data folder.
func killInside(t *testing.T, data, name string) {
	t.Helper()
	data = sandboxtest.Bound(t, data)
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		mounts, _ := os.ReadFile(filepath.Join(dir, "mountinfo"))
		if strings.TrimSpace(string(comm)) != name || !strings.Contains(string(mounts), data) {
			continue
		}
		var pid int
		if err := json.Unmarshal([]byte(filepath.Base(dir)), &pid); err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	}
}

func TestHealthNamesTheBus(t *testing.T) {
	p := controltest.Start(t)
	p.Bus().Close()
	if why := fails(t, p, "bus", func() {}); !strings.Contains(why, "bus") {
		t.Errorf("it says %q", why)
	}
}

func TestHealthNamesALogThatIsReadOnly(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	sys, err := supervisor.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	computer := filepath.Join(cfg.Data, "computers", string(sys.Computers()[0].ID()))
	if err := sys.Close(); err != nil {
		t.Fatal(err)
	}
	damageBothCopies(t, computer)
	p := controltest.StartWith(t, controltest.Config(t, cfg.Data))
	if why := fails(t, p, "log", func() {}); why == "" {
		t.Error("it does not say why")
	}
}

// damageBothCopies changes the first event of the journal and takes the SQLite
// copy away.
func damageBothCopies(t *testing.T, computer string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(computer, "journal", "*"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("segments %v, %v", segments, err)
	}
	for _, path := range segments {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(raw), "My computer", "My komputer", 1)
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(computer, "store.sqlite"+suffix)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// TestADemoWithoutASandboxFailsInTimeWithTheReason: nobody waits for what
// cannot come.
func TestADemoWithoutASandboxFailsInTimeWithTheReason(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	cfg.Driver = brokenDriver{cfg.Driver}
	cfg.Demo.Name = "demo"
	p := controltest.StartWith(t, cfg)
	began := time.Now()
	res, body := p.Do(controltest.Request{Method: http.MethodPost, Path: p.Base() + "/demo", Body: struct{}{}})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if said := p.Problem(res, body); said.Code != choir.CodeUnavailable || !strings.Contains(said.Detail, "broke a leg") || said.Remedy == "" {
		t.Errorf("it said %+v", said)
	}
}

// TestOtherGuestsAreRemoved: what other builds of choir installed, or a crash
// left half, does not stay. The owner's own folder does.
func TestOtherGuestsAreRemoved(t *testing.T) {
	data := newData(t)
	if err := open(t, data); err != nil {
		t.Fatal(err)
	}
	guest := filepath.Join(data, "guest")
	ours, err := os.ReadDir(guest)
	if err != nil || len(ours) != 1 {
		t.Fatalf("%v, %v", ours, err)
	}
	for _, name := range []string{"0123456789abcdef", ".new-1", "src"} {
		if err := os.MkdirAll(filepath.Join(guest, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(guest, name, "choir-init"), nil, 0o111); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, data); err != nil {
		t.Fatal(err)
	}
	own, owned := os.Stat(filepath.Join(guest, "src", "choir-init"))
	if err := errors.Join(owned, os.RemoveAll(filepath.Join(guest, "src"))); err != nil || own.IsDir() {
		t.Errorf("a folder of the owner's: %v", err)
	}
	if left, err := os.ReadDir(guest); err != nil || len(left) != 1 || left[0].Name() != ours[0].Name() {
		t.Errorf("left %v, %v", left, err)
	}
	for _, name := range guestbin.Names() {
		want, err := guestbin.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(guest, ours[0].Name(), name)
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o111 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
		if got, err := os.ReadFile(path); supervisor.IsRoot() && (err != nil || !bytes.Equal(got, want)) {
			t.Errorf("%s has %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
}
