package supervisor_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/packages"
	"choiros/internal/sandbox/local"
)

// switched is a handler that can be switched off and counts what it was asked for.
type switched struct {
	http.Handler
	off   atomic.Bool
	asked atomic.Int64
	bytes atomic.Int64
}

func (s *switched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if s.off.Load() {
		http.Error(w, "switched off", http.StatusServiceUnavailable)
		return
	}
	s.Handler.ServeHTTP(&counting{ResponseWriter: w, of: s}, r)
}

// counting counts the bytes of answers.
type counting struct {
	http.ResponseWriter
	of *switched
}

func (c *counting) Write(p []byte) (int, error) {
	c.of.bytes.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// cachePlane starts a control plane with a package cache of the registries of this network.
func (n *internet) cachePlane(t *testing.T, now func() time.Time) (*controltest.Plane, *switched) {
	t.Helper()
	web := &switched{Handler: n.tls.Config.Handler}
	n.tls.Config.Handler = web
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(n.ca))
	cfg := controltest.Config(t, newData(t))
	cfg.Outside, cfg.Now = n.outside(), now
	cfg.Outside.Roots = roots
	cfg.File.Computers.HibernateAfter = "0" // the test moves the clock
	cfg.File.Egress = config.Egress{Mode: "allowlist", PackageCacheMB: 64}
	for _, host := range hosts {
		cfg.File.Egress.Allowlist = append(cfg.File.Egress.Allowlist, config.EgressHost{Host: host})
	}
	cfg.Registries = []packages.Registry{
		packages.NPM{Names: []string{"npm.test"}}, packages.PyPI{Index: "pypi.test", Files: "files.test"},
		packages.NewGoModules("go.test", "sum.test", n.locked.sums), packages.Cargo{Index: "index.test", Files: "crates.test"},
	}
	if dir := rustToolchain(); dir != "" {
		cfg.Driver = local.New(local.Config{StateDir: filepath.Join(cfg.Data, "sandbox"), Toolchains: []string{dir}})
	}
	return controltest.StartWith(t, cfg), web
}

// forkOf returns a second computer of a control plane.
func forkOf(t *testing.T, p *controltest.Plane) *computer.Computer {
	t.Helper()
	f, err := p.System.Fork(t.Context(), p.Computers()[0], choir.RoleCLI, api.ForkRequest{Event: 1, Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	c, release, err := p.System.Use(t.Context(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return c
}

// executeIn executes commands as one task of a computer and returns its id and answer.
func executeIn(t *testing.T, c *computer.Computer, line string) (choir.ID, choir.AssociateResult) {
	t.Helper()
	task, err := c.Tasks().NewTask(choir.DirectorTask{
		Kind: choir.TaskEditRepo, Instruction: "x", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone}, TimeBudgetS: 120,
		Commands: []choir.Command{{Shell: line}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*controltest.Patience)
	defer cancel()
	if _, err := c.Tasks().Submit(ctx, choir.RoleCLI, task); err != nil {
		t.Fatal(err)
	}
	r, err := c.Tasks().Wait(ctx, task.TaskID)
	if err != nil {
		t.Fatal(err)
	}
	return task.TaskID, r
}

// TestASecondInstallInAnotherComputerNeedsNoRegistry installs with a lock file in one computer,
// switches the registry off, and installs in another. When the pages of the registry are old, an
// install asks whether these have changed, where its tool wants pages.
func TestASecondInstallInAnotherComputerNeedsNoRegistry(t *testing.T) {
	n := newInternet(t)
	var later atomic.Int64 // nanoseconds
	p, web := n.cachePlane(t, func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
	first := p.Computers()[0]
	second := forkOf(t, p)
	for _, c := range []struct {
		tool, needs, script, says string
		pages                     int64 // that its tool wants beside the lock file
	}{
		{"npm", "/usr/bin/npm", "rm -rf n; mkdir n; cd n; echo '{\"name\":\"n\",\"version\":\"1.0.0\",\"dependencies\":{\"greet\":\"1.0.0\"}}' > package.json; echo '" + n.locked.npm + "' > package-lock.json; npm ci --cache $NEW --cafile $SSL_CERT_FILE --fetch-retries 0 --no-audit --no-fund --no-update-notifier; node -p 'require(\"greet\")'", "hello from npm", 0},
		{"pip", "/usr/bin/pip3", "echo '" + n.locked.pip + "' > r.txt; /usr/bin/python3 -m pip install --require-hashes -r r.txt --retries 0 --index-url https://pypi.test/simple --no-cache-dir --disable-pip-version-check --upgrade --target p; PYTHONPATH=p /usr/bin/python3 -c 'import greet; print(greet.hello)'", "hello from pypi", 1},
		{"go", "/usr/local/go/bin/go", "export GOPROXY=https://go.test GOSUMDB='" + n.locked.sums + " https://sum.test' GOTOOLCHAIN=local HOME=$TMPDIR GOMODCACHE=$NEW; mkdir -p g; cd g; printf 'module m\\n\\ngo 1.21\\n\\nrequire example.test/greet v1.0.0\\n' > go.mod; printf '" + strings.ReplaceAll(n.locked.goSum, "\n", "\\n") + "' > go.sum; /usr/local/go/bin/go mod download; cat $(/usr/local/go/bin/go list -m -f '{{.Dir}}' example.test/greet)/greet.go", "hello from go", 0},
		{"cargo", "rustc", "export CARGO_HOME=$NEW; mkdir -p r/src r/.cargo; cd r; printf '[package]\\nname = \"m\"\\nversion = \"0.1.0\"\\n[dependencies]\\ngreet = \"1.0.0\"\\n' > Cargo.toml; echo > src/lib.rs; printf '" + strings.ReplaceAll(n.locked.cargo, "\n", "\\n") + "' > Cargo.lock; printf '[source.crates-io]\\nreplace-with = \"t\"\\n[source.t]\\nregistry = \"sparse+https://index.test/\"\\n[net]\\nretry = 0\\n' > .cargo/config.toml; cargo fetch --locked; cat $CARGO_HOME/registry/src/*/greet-1.0.0/src/lib.rs", "hello from cargo", 2},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("%s is not on this machine", c.needs)
			}
			for i, in := range []*computer.Computer{first, second, second} {
				web.off.Store(i == 1)
				if i == 2 {
					later.Add(int64(11 * time.Minute))
				}
				asked, bytes := web.asked.Load(), web.bytes.Load()
				task, r := executeIn(t, in, "set -e; export NEW=$(mktemp -d); "+c.script)
				if len(r.CommandsRun) != 1 || r.Status != choir.StatusOK || !strings.Contains(r.CommandsRun[0].StdoutTail, c.says) {
					t.Fatalf("install %d: %s %s: %+v", i, r.Status, r.Summary, r.CommandsRun)
				}
				asked, bytes = web.asked.Load()-asked, web.bytes.Load()-bytes
				t.Logf("install %d: %d requests to the registry, %d bytes of it", i, asked, bytes)
				passed := passagesIn(t, in, task)
				kept := slices.ContainsFunc(passed, func(e choir.EgressPassed) bool {
					return e.Cached && e.Address == "" && e.Status == 200 && e.Received > 0 && e.Sent == 0
				})
				asks := slices.ContainsFunc(passed, func(e choir.EgressPassed) bool { return !e.Cached })
				wants, fresh := i == 0 || i == 2 && c.pages > 0, i == 0
				if len(passed) == 0 || (asked > 0) != wants || asks && !wants || kept == fresh || i == 2 && (asked != c.pages || bytes > 0) {
					t.Errorf("install %d: %d requests to the registry, %d bytes, recorded %+v", i, asked, bytes, passed)
				}
			}
		})
	}
	if c := checkOf(t, p.System, "package cache"); !c.OK || !strings.Contains(c.Detail, "of at most 64 MB") || strings.HasPrefix(c.Detail, "0 packages") {
		t.Errorf("the doctor says %+v", c)
	}
	if parts, err := p.Edge().Computer(first.ID()); err != nil || !slices.ContainsFunc(parts.Reach().Rules, func(r api.EgressRule) bool { return r.Host == "npm.test" && r.Opened == "packages" }) {
		t.Errorf("the owner is told %+v, %v", parts.Reach(), err)
	}
	if c := checkOf(t, p.System, "egress"); !strings.Contains(c.Detail, "npm.test:443, pypi.test:443, files.test:443, go.test:443, index.test:443, crates.test:443") {
		t.Errorf("the doctor says %q", c.Detail)
	}
}

// TestAPackageCacheThatCannotBeKeptIsTold starts choir with a file in the place of the folder.
func TestAPackageCacheThatCannotBeKeptIsTold(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	cfg.File.Egress.PackageCacheMB = 64
	if err := errors.Join(os.Mkdir(cfg.Data, 0o711), os.WriteFile(filepath.Join(cfg.Data, "packages"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := supervisor.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if c := checkOf(t, s, "package cache"); c.OK || !strings.Contains(c.Detail, "packages") || c.Remedy == "" {
		t.Errorf("the doctor says %+v", c)
	}
}

// TestAPackageCacheOfNoRoomLeavesNothing starts choir where an earlier setting kept a package, and
// where the folder has a file of the owner's too.
func TestAPackageCacheOfNoRoomLeavesNothing(t *testing.T) {
	for _, own := range []string{"", "package.json"} {
		cfg := controltest.Config(t, newData(t))
		dir := filepath.Join(cfg.Data, "packages")
		if err := os.MkdirAll(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{strings.Repeat("a", 64) + "." + strings.Repeat("b", 64), ".new-1", own} {
			if name == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("content"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := supervisor.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		left, err := os.ReadDir(dir)
		if own == "" && !errors.Is(err, os.ErrNotExist) || own != "" && (len(left) != 1 || left[0].Name() != own) {
			t.Errorf("it holds %v, %v", left, err)
		}
	}
}
