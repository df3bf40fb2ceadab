package computer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/sandboxtest"
)

// TestAComputerChangesItsRung starts a computer on the rung local, on gvisor and on local
// again: its files, windows and log are those that it left, programs run on each rung, and
// the log says which it is.
func TestAComputerChangesItsRung(t *testing.T) {
	runsc := sandboxtest.Runsc(t)
	cfg := newLabConfig(t)
	on := func(rung string) *lab {
		cfg.wrap = func(d sandbox.Driver) sandbox.Driver {
			r, err := sandbox.NewRegistry(rung, d, gvisor.New(gvisor.Config{StateDir: filepath.Join(cfg.Data, "sandbox", gvisor.Name), Runsc: runsc}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			return r
		}
		return openLab(t, cfg)
	}
	window := choir.WindowOpened{Window: newTestID(t), App: "files", Title: "files", Bounds: choir.Rect{X: 1, Y: 2, Width: 300, Height: 200}}
	l := on("local")
	l.tell(window)
	l.sh("mkdir deep; echo local >deep/by-program; ln -s deep link; touch -d 1999-12-31T23:59:59.123456789 deep/by-program; chmod 4751 deep/by-program")
	windows, tree := l.desktop(), l.treeHash()
	l.stop()

	l = on(gvisor.Name)
	if kernel := l.sh("cat /proc/version"); !strings.Contains(kernel, "gVisor") && !strings.Contains(kernel, "4.19.0") {
		t.Errorf("its kernel is %q", kernel)
	}
	if l.desktop() != windows || l.treeHash() != tree {
		t.Errorf("the windows are %s, the tree has %s, not %s", l.desktop(), l.treeHash(), tree)
	}
	if r := l.result(l.commands(choir.TaskEditRepo, "echo task >by-task")); r.Status != choir.StatusOK {
		t.Errorf("a task on gvisor: %s %s", r.Code, r.Summary)
	}
	then, _ := l.store.Head()
	worked := l.treeHash()
	l.sh("rm -rf deep by-task; echo gvisor >link")
	l.tell(choir.WindowClosed{Window: window.Window})
	l.rewindTo(then)
	if l.desktop() != windows || l.treeHash() != worked {
		t.Errorf("after a rewind on gvisor the windows are %s, the tree has %s, not %s", l.desktop(), l.treeHash(), worked)
	}
	l.stop()

	l = on("local")
	if l.desktop() != windows || l.treeHash() != worked {
		t.Errorf("on local again the windows are %s, the tree has %s, not %s", l.desktop(), l.treeHash(), worked)
	}
	var rungs []string
	for _, e := range l.all(choir.TypeSandboxStarted) {
		p := payload[choir.SandboxStarted](t, e)
		if p.Role == choir.RoleAssociate {
			rungs = append(rungs, p.Driver)
		}
	}
	if !slices.Equal(rungs, []string{"local", "gvisor", "local"}) {
		t.Errorf("the log says %q", rungs)
	}
}
