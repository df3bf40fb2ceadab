package sandboxtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"choiros/internal/guest"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
)

const probeName = "probe"

var initAndProbe = sync.OnceValues(func() (string, error) {
	return buildShared("choir-probe-", 0o111, func(dir string) error {
		if err := goBuild(filepath.Join(dir, guestbin.Init), "./cmd/"+guestbin.Init); err != nil {
			return err
		}
		probe := filepath.Join(dir, probeName)
		if err := goBuild(probe, "./internal/sandbox/sandboxtest/probe"); err != nil {
			return err
		}
		return os.Link(probe, filepath.Join(dir, guestbin.Associate)) // it plays the role
	})
})

// ProbeVariable is the environment variable with a ProbeDir that another test process has
// built, for a process that cannot build one.
const ProbeVariable = "CHOIR_SANDBOXTEST_PROBE"

// ProbeDir returns a folder of guest binaries with choir-init and the probe program,
// which also acts as the Associate.
func ProbeDir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(ProbeVariable); dir != "" {
		return dir
	}
	return built(t, initAndProbe)
}

// run executes a command inside and returns its output.
func (b inside) run(t testing.TB, argv ...string) guest.Output {
	t.Helper()
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: argv}, nil, 1<<20)
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return out
}

// probe runs the probe program inside and returns its result. A killed probe gives a
// result with an error.
func (b inside) probe(t testing.TB, args ...string) probed.Result {
	t.Helper()
	out := b.run(t, append([]string{sandbox.GuestInside + "/" + probeName}, args...)...)
	return parseResult(t, out)
}

func parseResult(t testing.TB, out guest.Output) probed.Result {
	t.Helper()
	if out.Exit.Signal != "" {
		return probed.Result{Error: "killed by " + out.Exit.Signal}
	}
	var r probed.Result
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		if strings.Contains(string(out.Stderr), "out of memory") {
			return probed.Result{Error: "out of memory", Errno: int(syscall.ENOMEM)}
		}
		t.Fatalf("the probe said %q, %q, %+v: %v", out.Stdout, out.Stderr, out.Exit, err)
	}
	return r
}

func (b inside) facts(t testing.TB) probed.Facts {
	t.Helper()
	return value[probed.Facts](t, b.probe(t, "facts"))
}

// value returns the decoded value of a probe's result. A failed probe fails the test.
func value[T any](t testing.TB, r probed.Result) T {
	t.Helper()
	var v T
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// refused runs the probe program inside and fails the test unless it fails with one of
// the errors in why.
func (b inside) refused(t *testing.T, why []syscall.Errno, args ...string) {
	t.Helper()
	r := b.probe(t, args...)
	if r.Error == "" {
		t.Errorf("%q worked: %s", args, r.Value)
		return
	}
	for _, e := range why {
		if syscall.Errno(r.Errno) == e {
			return
		}
	}
	t.Errorf("%q failed with %d (%s), not with one of %v", args, r.Errno, r.Error, why)
}
