package supervisor_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/grants"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/egress"
	"choiros/internal/control/supervisor"
	"choiros/internal/eventstore"
)

// internet is the network of a test: servers of this machine under names of their own, all at
// one address that counts as public.
type internet struct {
	ca         string // the certificate that the servers have, in PEM
	mux        *http.ServeMux
	plain, tls *httptest.Server
	locked     locked
}

// address is where all names of the test lead.
var address = netip.MustParseAddr("198.18.0.1")

// hosts are the names of the test's servers.
var hosts = []string{"npm.test", "go.test", "pypi.test", "files.test", "git.test", "outside.test", "sum.test", "index.test", "crates.test", "deb.test", "deb.debian.org"}

// newInternet starts servers that speak the protocols of npm, the Go proxy, PyPI and git.
func newInternet(t *testing.T) *internet {
	t.Helper()
	authority, ca, _ := certify(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	_, leaf, key := certify(t, &x509.Certificate{DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature}, authority.cert, authority.key)
	mux := http.NewServeMux()
	var lines locked
	lines.npm = npmServer(t, mux)
	lines.sums, lines.goSum = goServer(t, mux)
	lines.pip = pypiServer(t, mux)
	lines.cargo = cargoServer(mux)
	gitServer(t, mux)
	mux.HandleFunc("outside.test/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "outside") })
	n := &internet{locked: lines, mux: mux, ca: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca}))}
	n.plain, n.tls = httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	n.tls.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf}, PrivateKey: key}}}
	n.tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	n.tls.StartTLS()
	t.Cleanup(func() { n.plain.Close(); n.tls.Close() })
	return n
}

// signer is an authority of a test.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// certify returns a certificate that an authority signed, or that signs itself without one.
func certify(t *testing.T, cert, by *x509.Certificate, with *ecdsa.PrivateKey) (signer, []byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert.SerialNumber, cert.BasicConstraintsValid = big.NewInt(time.Now().UnixNano()), true
	cert.Subject = pkix.Name{CommonName: fmt.Sprintf("test %v", cert.IsCA)}
	cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	if by == nil {
		by, with = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by, key.Public(), with)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signer{parsed, key}, der, key
}

// LookupNetIP implements egress.Resolver.
func (n *internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if name := strings.TrimSuffix(host, "."); slices.Contains(hosts, name) {
		return []netip.Addr{address}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// outside is the way to this network, for the control plane.
func (n *internet) outside() egress.Outside {
	return egress.Outside{
		Resolver: n, Permit: func(a netip.Addr) bool { return a == address },
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			server := map[uint16]*httptest.Server{80: n.plain, 443: n.tls}[to.Port()]
			if server == nil {
				return nil, fmt.Errorf("nothing at %s", to)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}
}

// npmServer serves the package greet of the npm registry, and returns a lock file with it.
func npmServer(t *testing.T, mux *http.ServeMux) (lock string) {
	var tgz bytes.Buffer
	zw := gzip.NewWriter(&tgz)
	tw := tar.NewWriter(zw)
	for name, content := range map[string]string{"package/package.json": `{"name":"greet","version":"1.0.0","main":"i.js"}`, "package/i.js": `module.exports="hello from npm"`} {
		_ = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
		_, _ = io.WriteString(tw, content)
	}
	tw.Close()
	zw.Close()
	sum := sha512.Sum512(tgz.Bytes())
	doc, err := json.Marshal(map[string]any{"name": "greet", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": map[string]any{
		"name": "greet", "version": "1.0.0",
		"dist": map[string]string{"tarball": "https://npm.test/greet/-/greet-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("npm.test/greet", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(doc)
	})
	mux.HandleFunc("npm.test/greet/-/greet-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(tgz.Bytes()) })
	return `{"name":"n","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"n","version":"1.0.0","dependencies":{"greet":"1.0.0"}},"node_modules/greet":{"version":"1.0.0","resolved":"https://npm.test/greet/-/greet-1.0.0.tgz","integrity":"sha512-` + base64.StdEncoding.EncodeToString(sum[:]) + `"}}}`
}

// goServer serves the module example.test/greet of a Go module proxy and its checksum database, of
// which it returns the key, and the lines for go.sum.
func goServer(t *testing.T, mux *http.ServeMux) (key, goSum string) {
	const mod = "module example.test/greet\n\ngo 1.21\n"
	var z bytes.Buffer
	zw := zip.NewWriter(&z)
	for name, content := range map[string]string{"go.mod": mod, "greet.go": "package greet\n\nconst Hello = \"hello from go\"\n"} {
		f, err := zw.Create("example.test/greet@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, content)
	}
	zw.Close()
	for name, content := range map[string]string{"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`, "v1.0.0.mod": mod, "v1.0.0.zip": z.String()} {
		mux.HandleFunc("go.test/example.test/greet/@v/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, content) })
	}
	return sumServer(t, mux, z.Bytes(), mod)
}

// pypiServer serves the wheel greet by PyPI's simple index, and returns the requirement of it with
// its hash.
func pypiServer(t *testing.T, mux *http.ServeMux) (requirement string) {
	var whl bytes.Buffer
	zw := zip.NewWriter(&whl)
	const metadata = "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n"
	for name, content := range map[string]string{
		"greet.py": "hello = 'hello from pypi'\n", "greet-1.0.dist-info/METADATA": metadata,
		"greet-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "greet-1.0.dist-info/RECORD": "greet.py,,\n",
	} {
		f, err := zw.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, content)
	}
	zw.Close()
	simplePage(mux, "greet-1.0-py3-none-any.whl", whl.Bytes(), []byte(metadata))
	return fmt.Sprintf("greet==1.0 --hash=sha256:%x", sha256.Sum256(whl.Bytes()))
}

// gitServer serves a repository by git's own smart HTTP server.
func gitServer(t *testing.T, mux *http.ServeMux) {
	root := t.TempDir()
	for _, line := range []string{
		"git init -q -b main work && cd work && echo hello from git > greeting && git add . && git -c user.name=t -c user.email=t@t commit -qm first",
		"git clone -q --bare work repo.git && git -C repo.git config http.receivepack true",
	} {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	dir, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("git.test/", &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(dir)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}, Logger: log.New(io.Discard, "", 0),
	})
}

// egressPlane starts a control plane on this network under a policy.
func (n *internet) egressPlane(t *testing.T, policy config.Egress) *controltest.Plane {
	t.Helper()
	cfg := controltest.Config(t, newData(t))
	cfg.Outside, cfg.File.Egress = n.outside(), policy
	return controltest.StartWith(t, cfg)
}

// saysPolicy demands that the owner is told the policy in force, by the page and the doctor.
func saysPolicy(t *testing.T, p *controltest.Plane, mode choir.EgressMode, words string) {
	t.Helper()
	if c := (supervisor.Edge{System: p.System}).Computers()[0]; c.Egress != mode {
		t.Errorf("the page says %q, not %q", c.Egress, mode)
	}
	if c := checkOf(t, p.System, "egress"); !strings.Contains(c.Detail, words) {
		t.Errorf("the doctor says %q", c.Detail)
	}
}

// executeTask executes commands as one task of the computer and returns its id and answer.
func executeTask(t *testing.T, p *controltest.Plane, profile *choir.EgressProfile, lines ...string) (choir.ID, choir.AssociateResult) {
	t.Helper()
	tasks := p.Computers()[0].Tasks()
	task := choir.DirectorTask{Kind: choir.TaskEditRepo, Instruction: "x", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone}, EgressProfile: profile, TimeBudgetS: 120}
	for _, line := range lines {
		task.Commands = append(task.Commands, choir.Command{Shell: line})
	}
	task, err := tasks.NewTask(task)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*controltest.Patience)
	defer cancel()
	if _, err := tasks.Submit(ctx, choir.RoleCLI, task); err != nil {
		t.Fatal(err)
	}
	r, err := tasks.Wait(ctx, task.TaskID)
	if err != nil {
		t.Fatal(err)
	}
	return task.TaskID, r
}

// egressEvents returns the payloads of a task's events of one type.
func egressEvents[P choir.Payload](t *testing.T, p *controltest.Plane, task choir.ID) (out []P) {
	t.Helper()
	return eventsIn[P](t, p.Computers()[0], task)
}

// eventsIn returns the payloads of a task's events of one type in a computer.
func eventsIn[P choir.Payload](t *testing.T, c *computer.Computer, task choir.ID) (out []P) {
	t.Helper()
	var zero P
	for e, err := range c.Store().Events(t.Context(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != zero.EventType() || e.Task != task {
			continue
		}
		if e.Run == "" {
			t.Errorf("%s of %s names no run", e.Type, task)
		}
		var one P
		if err := json.Unmarshal(e.Payload, &one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// passages returns the requests of a task that got out.
func passages(t *testing.T, p *controltest.Plane, task choir.ID) []choir.EgressPassed {
	t.Helper()
	return passagesIn(t, p.Computers()[0], task)
}

// passagesIn returns the requests of a task of a computer that got out. It waits for the first: a
// request is recorded once the program has its answer, so that its task may end before.
func passagesIn(t *testing.T, c *computer.Computer, task choir.ID) []choir.EgressPassed {
	t.Helper()
	return passagesOnce(t, c, task, func(choir.EgressPassed) bool { return true })
}

// passagesOnce is passagesIn that waits for the first request that is as wanted.
func passagesOnce(t *testing.T, c *computer.Computer, task choir.ID, wanted func(choir.EgressPassed) bool) []choir.EgressPassed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
	defer cancel()
	for e, err := range c.Store().Follow(ctx, 0) {
		if err != nil {
			break // the caller says that there is none
		}
		var one choir.EgressPassed
		if e.Type == choir.TypeEgressPassed && e.Task == task && json.Unmarshal(e.Payload, &one) == nil && wanted(one) {
			break
		}
	}
	return eventsIn[choir.EgressPassed](t, c, task)
}

// TestATaskInstallsItsDependenciesThroughTheEgressDoor has the ordinary tools install from local
// registries that speak the real protocols, clone from a git server, and ask for a host outside.
func TestATaskInstallsItsDependenciesThroughTheEgressDoor(t *testing.T) {
	n := newInternet(t)
	policy := config.Egress{Mode: "git+pkg"}
	for _, host := range hosts[:5] {
		policy.Allowlist = append(policy.Allowlist, config.EgressHost{Host: host})
	}
	policy.Allowlist = append(policy.Allowlist, config.EgressHost{Host: "git.test", Port: 80, Paths: []string{"/repo.git"}})
	p := n.egressPlane(t, policy)
	saysPolicy(t, p, "git+pkg", "whoever has an account at one of them can be sent data")
	with := "cat > $TMPDIR/ca.pem <<'EOF'\n" + n.ca + "EOF\nexport CA=$TMPDIR/ca.pem NODE_EXTRA_CA_CERTS=$TMPDIR/ca.pem SSL_CERT_FILE=$TMPDIR/ca.pem GIT_SSL_CAINFO=$TMPDIR/ca.pem; set -e\n"
	for _, c := range []struct{ tool, needs, script, says, host string }{
		{"npm", "/usr/bin/npm", "mkdir n; cd n; npm init -y >/dev/null; npm install --registry https://npm.test --cafile $CA --fetch-retries 0 --no-audit --no-fund --no-update-notifier greet; node -p 'require(\"greet\")'", "hello from npm", "npm.test"},
		{"go", "/usr/local/go/bin/go", "export GOPROXY=https://go.test GOSUMDB=off GOFLAGS=-mod=mod GOTOOLCHAIN=local HOME=$TMPDIR; mkdir g; cd g; printf 'package main\\nimport \"example.test/greet\"\\nfunc main() { print(greet.Hello) }\\n' > main.go; /usr/local/go/bin/go mod init m; /usr/local/go/bin/go get example.test/greet; cat $(/usr/local/go/bin/go list -m -f '{{.Dir}}' example.test/greet)/greet.go", "hello from go", "go.test"},
		{"pip", "/usr/bin/pip3", "/usr/bin/python3 -m pip install --cert $CA --index-url https://pypi.test/simple --no-cache-dir --disable-pip-version-check --target p greet; PYTHONPATH=p /usr/bin/python3 -c 'import greet; print(greet.hello)'", "hello from pypi", "pypi.test"},
		{"git over TLS", "/usr/bin/git", "git clone -q https://git.test/repo.git c; cat c/greeting; cd c; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m second; git push -q https://git.test/repo.git HEAD:second; git ls-remote https://git.test/repo.git second", "refs/heads/second", "git.test"},
		{"git in the clear", "/usr/bin/git", "git clone -q http://git.test/repo.git d; cat d/greeting", "hello from git", "git.test"},
		{"a program in Python", "/usr/bin/python3", "/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen(\"https://npm.test/greet\").read())'", "dist-tags", "npm.test"},
		{"curl", "/usr/bin/curl", "curl -sS --cacert $CA https://npm.test/greet", "dist-tags", "npm.test"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("%s is not on this machine", c.needs)
			}
			task, r := executeTask(t, p, nil, with+c.script)
			if len(r.CommandsRun) != 1 || r.Status != choir.StatusOK || !strings.Contains(r.CommandsRun[0].StdoutTail, c.says) {
				t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
			}
			carries := func(e choir.EgressPassed) bool { return e.Sent > 0 && e.Received > 0 }
			passed := passagesOnce(t, p.Computers()[0], task, carries)
			for _, e := range passed { // of which some may be a spare connection of its tool's
				if e.Host != c.host && e.Host != "files.test" || e.Address != address.String() || e.Sent == 0 && e.Received > 0 {
					t.Errorf("recorded %+v", e)
				}
			}
			if refused := egressEvents[choir.EgressRefused](t, p, task); !slices.ContainsFunc(passed, carries) || len(refused) > 0 {
				t.Errorf("recorded %+v, refused %+v", passed, refused)
			}
		})
	}
	t.Run("is shown to the owner", func(t *testing.T) {
		parts, c := partsOfOnly(t, p)
		rules := map[string]api.EgressRule{}
		for _, r := range parts.Reach().Rules {
			rules[fmt.Sprintf("%s:%d", r.Host, r.Port)] = r
		}
		if r := rules["github.com:443"]; !r.Known || r.Opened != "" {
			t.Errorf("of the known hosts: %+v", r)
		}
		if r := rules["git.test:80"]; r.Known || r.Opened != "" || !slices.Equal(r.Paths, []string{"/repo.git"}) {
			t.Errorf("of the list: %+v", r)
		}
		reached, err := c.Store().EgressHosts(t.Context())
		if i := slices.IndexFunc(reached, func(h eventstore.EgressHost) bool { return h.Host == "npm.test" && h.Port == 443 }); err != nil || i < 0 || reached[i].Sent == 0 || reached[i].Received == 0 {
			t.Errorf("reached: %+v, %v", reached, err)
		}
	})
	t.Run("a host outside", func(t *testing.T) {
		task, r := executeTask(t, p, nil, with+"curl -sS --cacert $CA https://outside.test/ http://outside.test/; curl -sS http://git.test/other.git; curl -sS --connect-to ::127.0.0.1:9 --noproxy '*' --max-time 5 https://outside.test/ && exit 9; exit 0")
		if out := fmt.Sprint(r.CommandsRun); strings.Contains(out, "outside\n") || !strings.Contains(out, "response 403") || strings.Contains(out, "ExitCode:9") {
			t.Errorf("%s %s: %s", r.Status, r.Summary, out)
		}
		var got []string
		for _, e := range egressEvents[choir.EgressRefused](t, p, task) {
			got = append(got, fmt.Sprintf("%s:%d %s %s", e.Host, e.Port, e.Policy, e.Why))
		}
		if want := []string{"outside.test:443 git+pkg policy", "outside.test:80 git+pkg policy", "git.test:80 git+pkg rule"}; !slices.Equal(got, want) {
			t.Errorf("recorded %q", got)
		}
		if passed := egressEvents[choir.EgressPassed](t, p, task); len(passed) > 0 {
			t.Errorf("it reached %+v", passed)
		}
	})
	t.Run("a task that may less", func(t *testing.T) {
		for _, profile := range []choir.EgressProfile{{Mode: choir.EgressNone}, {Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "git.test"}}}} {
			task, r := executeTask(t, p, &profile, with+"curl -sS --cacert $CA https://npm.test/greet || true")
			refused := egressEvents[choir.EgressRefused](t, p, task)
			if strings.Contains(fmt.Sprint(r.CommandsRun), "dist-tags") || len(refused) != 1 || refused[0].Why != choir.EgressTask || refused[0].Policy != string(profile.Mode) {
				t.Errorf("%s %+v, recorded %+v", r.Status, r.CommandsRun, refused)
			}
		}
	})
	t.Run("a task that wants more", func(t *testing.T) {
		for _, host := range []choir.EgressHost{{Host: "outside.test"}, {Host: "npm.test", Port: 22}, {Host: "npm.test"}} {
			if _, r := executeTask(t, p, &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{host}}, "true"); r.Code != "" || len(r.CommandsRun) != 1 {
				t.Errorf("%+v: %s %s %s", host, r.Status, r.Code, r.Summary)
			}
		}
		task, _ := executeTask(t, p, &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "outside.test"}}}, with+"curl -sS --cacert $CA https://outside.test/; true")
		if refused := egressEvents[choir.EgressRefused](t, p, task); len(refused) != 1 || refused[0].Host != "outside.test" || refused[0].Why != choir.EgressPolicy {
			t.Errorf("recorded %+v", refused)
		}
		_, c := partsOfOnly(t, p)
		listed, err := c.Grants().List(t.Context())
		if err != nil || !slices.ContainsFunc(listed.Requests, func(r grants.Request) bool { return r.Host == "outside.test" && r.Port == 443 && r.Asks(task) }) {
			t.Errorf("the owner is asked for %+v, %v", listed.Requests, err)
		}
		if _, r := executeTask(t, p, &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "NPM.test"}}}, "true"); r.Code != choir.ResultEgressRefused || len(r.CommandsRun) > 0 {
			t.Errorf("a host that is none: %s %s %s", r.Status, r.Code, r.Summary)
		}
		if _, r := executeTask(t, p, &choir.EgressProfile{Mode: choir.EgressGitPkg}, with+"curl -sS --cacert $CA https://npm.test/greet"); !strings.Contains(fmt.Sprint(r.CommandsRun), "dist-tags") {
			t.Errorf("git+pkg under git+pkg: %s %s", r.Code, r.Summary)
		}
	})
}

// TestNothingGetsOutUnlessTheOwnerSaysSo asks for hosts that are there under the default policy.
func TestNothingGetsOutUnlessTheOwnerSaysSo(t *testing.T) {
	n := newInternet(t)
	p := n.egressPlane(t, config.Default().Egress)
	task, r := executeTask(t, p, nil, "curl -sS http://npm.test/greet; curl -sS https://npm.test/; true")
	saysPolicy(t, p, "none", "reach no host outside")
	out := fmt.Sprint(r.CommandsRun)
	if strings.Contains(out, "dist-tags") || !strings.Contains(out, "egress policy is none") || !strings.Contains(out, "choir egress mode") {
		t.Errorf("%s: %s", r.Status, out)
	}
	if refused := egressEvents[choir.EgressRefused](t, p, task); len(refused) != 1 || refused[0].Host != "npm.test" || refused[0].Policy != "none" {
		t.Errorf("recorded %+v", refused)
	}
	if _, r := executeTask(t, p, &choir.EgressProfile{Mode: choir.EgressGitPkg}, "true"); r.Code != choir.ResultEgressRefused || !strings.Contains(r.Summary, "choir egress mode allowlist") {
		t.Errorf("%s %s", r.Status, r.Summary)
	}
}
