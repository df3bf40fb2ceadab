package supervisor_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/packages"
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
func (n *internet) cachePlane(t *testing.T) (*controltest.Plane, *switched) {
	t.Helper()
	web := &switched{Handler: n.tls.Config.Handler}
	n.tls.Config.Handler = web
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(n.ca))
	cfg := controltest.Config(t, newData(t))
	cfg.Outside = n.outside()
	cfg.Outside.Roots = roots
	cfg.File.Egress = config.Egress{Mode: "allowlist", PackageCacheMB: 64}
	for _, host := range hosts[:3] {
		cfg.File.Egress.Allowlist = append(cfg.File.Egress.Allowlist, config.EgressHost{Host: host})
	}
	cfg.Registries = []packages.Registry{packages.NPM{Names: []string{"npm.test"}}}
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
// switches the registry off, and installs in another.
func TestASecondInstallInAnotherComputerNeedsNoRegistry(t *testing.T) {
	n := newInternet(t)
	p, web := n.cachePlane(t)
	first := p.Computers()[0]
	second := forkOf(t, p)
	for _, c := range []struct{ tool, needs, script, says, host string }{
		{"npm", "/usr/bin/npm", "mkdir n; cd n; echo '{\"name\":\"n\",\"version\":\"1.0.0\",\"dependencies\":{\"greet\":\"1.0.0\"}}' > package.json; echo '" + n.npmLock + "' > package-lock.json; npm ci --cafile $SSL_CERT_FILE --fetch-retries 0 --no-audit --no-fund --no-update-notifier; node -p 'require(\"greet\")'", "hello from npm", "npm.test"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("%s is not on this machine", c.needs)
			}
			web.off.Store(false)
			for i, in := range []*computer.Computer{first, second} {
				asked, bytes := web.asked.Load(), web.bytes.Load()
				task, r := executeIn(t, in, "set -e; "+c.script)
				if len(r.CommandsRun) != 1 || r.Status != choir.StatusOK || !strings.Contains(r.CommandsRun[0].StdoutTail, c.says) {
					t.Fatalf("computer %d: %s %s: %+v", i, r.Status, r.Summary, r.CommandsRun)
				}
				t.Logf("computer %d: %d requests to the registry, %d bytes of it", i, web.asked.Load()-asked, web.bytes.Load()-bytes)
				_ = task
				web.off.Store(true)
			}
		})
	}
}
