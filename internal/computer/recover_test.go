package computer

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// note is what a computer keeps of the Associate's sandbox over a restart.
type note struct {
	Handle sandbox.Handle `json:"handle"`
	Guest  string         `json:"guest"`
}

// readNote reads the note of the Associate's sandbox in the folder of handles.
func readNote(t *testing.T, handles string) (n note) {
	t.Helper()
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(handles, "associate.json")))(t), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// hesitant is a driver whose first answers about a sandbox come too late.
type hesitant struct {
	sandbox.Driver
	late, made *atomic.Int32
}

func (d hesitant) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	if d.late.Add(-1) >= 0 {
		return nil, choir.E("local.recover", choir.CodeTimeout, "the machine is slow")
	}
	return d.Driver.Recover(ctx, h)
}

func (d hesitant) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	d.made.Add(1)
	return d.Driver.Create(ctx, spec)
}

// TestASlowRecoveryEndsWithTheSameSandbox leaves real sandboxes behind and has
// the driver time out twice for them.
func TestASlowRecoveryEndsWithTheSameSandbox(t *testing.T) {
	cfg, handles := crashed(t)
	note := readNote(t, handles)
	var late, made atomic.Int32
	late.Store(2)
	cfg.wrap = func(d sandbox.Driver) sandbox.Driver { return hesitant{d, &late, &made} }
	again := openLab(t, cfg)
	again.waitEvent(func(e choir.Event) bool {
		p := payload[choir.SandboxStarted](t, e)
		return e.Type == "sandbox.started" && p.Role == choir.RoleAssociate && p.Recovered
	})
	if now := readNote(t, handles); made.Load() != 0 || string(now.Handle.State) != string(note.Handle.State) {
		t.Errorf("%d sandboxes were made; it is %s, not %s", made.Load(), now.Handle.State, note.Handle.State)
	}
}
