package computer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/sandboxtest"
)

// TestAComputerChangesItsRung starts a computer on the rung local, on gvisor, in containers and
// on local again: its files, windows and log are those that it left, programs run on each rung,
// and the log says which it is.
func TestAComputerChangesItsRung(t *testing.T) {
	runsc := sandboxtest.Runsc(t)
	podman := startPodman(t)
	cfg := newLabConfig(t)
	on := func(rung string) *lab {
		cfg.wrap = func(d sandbox.Driver) sandbox.Driver {
			state := filepath.Join(cfg.Data, "sandbox")
			r, err := sandbox.NewRegistry(rung, d, gvisor.New(gvisor.Config{StateDir: filepath.Join(state, gvisor.Name), Runsc: runsc}),
				container.New(container.Config{StateDir: filepath.Join(state, container.Name), Socket: podman}))
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

	l = on(container.Name)
	if l.desktop() != windows || l.treeHash() != worked {
		t.Errorf("in containers the windows are %s, the tree has %s, not %s", l.desktop(), l.treeHash(), worked)
	}
	if r := l.result(l.commands(choir.TaskEditRepo, "echo container >by-task && git init -q there")); r.Status != choir.StatusOK {
		t.Errorf("a task in a container: %s %s", r.Code, r.Summary)
	}
	l.rewindTo(then)
	if l.desktop() != windows || l.treeHash() != worked {
		t.Errorf("after a rewind in containers the windows are %s, the tree has %s, not %s", l.desktop(), l.treeHash(), worked)
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
	if !slices.Equal(rungs, []string{"local", "gvisor", "container", "local"}) {
		t.Errorf("the log says %q", rungs)
	}
}

// startPodman starts a container engine for the test and returns its socket.
func startPodman(t *testing.T) string {
	p, err := sandboxtest.NewPodman()
	if err != nil {
		t.Skip("there is no container engine: apt-get install podman runc: " + err.Error())
	}
	t.Cleanup(p.Remove)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p.Socket
}
