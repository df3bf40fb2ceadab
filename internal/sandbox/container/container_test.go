package container_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/sandboxtest"
)

// engineVariable has the socket of the tests' engine, also for the processes that the suite
// starts and kills. It is empty without one.
const engineVariable = "CHOIR_CONTAINERTEST_SOCKET"

func TestMain(m *testing.M) {
	var own *sandboxtest.Podman
	if _, ours := os.LookupEnv(engineVariable); !ours {
		var err error
		if own, err = sandboxtest.NewPodman(); err == nil {
			err = own.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "no engine:", err)
			os.Setenv(engineVariable, "")
		} else {
			os.Setenv(engineVariable, own.Socket)
		}
	}
	code := m.Run()
	if own != nil {
		own.Remove()
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// engine returns the socket of the tests' engine.
func engine(t testing.TB) string {
	socket := os.Getenv(engineVariable)
	if socket == "" {
		t.Skip("there is no container engine: apt-get install podman runc")
	}
	return socket
}

// newDriver makes a driver of the suite.
func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	socket := engine(t)
	if s.Apart {
		own, err := sandboxtest.NewPodman()
		if err == nil {
			err = own.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(own.Remove)
		socket = own.Socket
	}
	return container.New(container.Config{StateDir: s.StateDir, Orphan: s.Orphan, Socket: socket})
}

func TestContainer(t *testing.T) {
	if testing.Short() {
		sandboxtest.RunSome(t, newDriver, nil, "make soak runs the whole suite on a container engine", "profile", "director", "contract/a second driver takes a sandbox up", "contract/the handle of an ended sandbox is not the next one's", "calls", "inherited", "doors", "init",
			"survival/ended with the maker while it was made", "survival/ended with the maker when nobody dialled it", "survival/refused without file descriptors", "survival/refused without process ids", "survival/refused without room on the disk", "survival/ends before the control plane")
		return
	}
	sandboxtest.Run(t, newDriver).Check(t)
}
