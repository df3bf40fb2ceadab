package supervisor_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/controltest"
)

// sshBanner serves connections as the beginning of an SSH server and returns its address.
func sshBanner(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.WriteString(conn, "SSH-2.0-greeting\r\n")
				_, _ = bufio.NewReader(conn).ReadString('\n')
			}()
		}
	}()
	return l.Addr().String()
}

// TestProgramsThatIgnoreTheProxyReachWhatThePolicyLetsOut has programs without a word about
// proxies look names up and connect, and asks for a host that is refused.
func TestProgramsThatIgnoreTheProxyReachWhatThePolicyLetsOut(t *testing.T) {
	n := newInternet(t)
	outside := n.outside()
	dial, ssh := outside.Dial, sshBanner(t)
	outside.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		if to.Port() == 22 || to.Port() == 7000 {
			return (&net.Dialer{}).DialContext(ctx, "tcp", ssh)
		}
		return dial(ctx, to)
	}
	outside.Roots = x509.NewCertPool()
	outside.Roots.AppendCertsFromPEM([]byte(n.ca))
	cfg := controltest.Config(t, newData(t))
	cfg.Outside = outside
	cfg.File.Egress = config.Egress{Mode: "allowlist", Allowlist: []config.EgressHost{{Host: "npm.test"}, {Host: "npm.test", Port: 80}, {Host: "git.test", Port: 22}, {Host: "git.test", Port: 7000}, {Host: "pypi.test", Paths: []string{"/simple"}, Methods: []string{"GET"}}}}
	p := controltest.StartWith(t, cfg)
	const bare = "unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY; "
	with := "cat > $TMPDIR/ca.pem <<'EOF'\n" + n.ca + "EOF\n" + bare
	for _, c := range []struct{ name, needs, script, says, host string }{
		{"Python", "/usr/bin/python3", `/usr/bin/python3 -c 'import ssl, os, http.client as h; c = h.HTTPSConnection("npm.test", context=ssl.create_default_context(cafile=os.environ["TMPDIR"]+"/ca.pem")); c.request("GET", "/greet"); print(c.getresponse().read())'`, "dist-tags", "npm.test"},
		{"Node", "/usr/bin/node", `NODE_EXTRA_CA_CERTS=$TMPDIR/ca.pem node -e 'require("https").get("https://npm.test/greet", r => r.pipe(process.stdout))'`, "dist-tags", "npm.test"},
		{"curl", "/usr/bin/curl", "curl -sS --noproxy '*' --cacert $TMPDIR/ca.pem https://npm.test/greet; curl -sS --noproxy '*' http://npm.test/greet", "dist-tags", "npm.test"},
		{"ssh", "/usr/bin/ssh", "ssh -v -o BatchMode=yes -o ConnectTimeout=20 git.test true 2>&1; true", "greeting", "git.test"},
		{"raw TCP at a port of the policy", "/bin/bash", "bash -c 'exec 3<>/dev/tcp/git.test/7000; head -1 <&3; echo >&3'", "SSH-2.0-greeting", "git.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("%s is not on this machine", c.needs)
			}
			task, r := executeTask(t, p, nil, with+c.script)
			if len(r.CommandsRun) != 1 || !strings.Contains(r.CommandsRun[0].StdoutTail, c.says) {
				t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
			}
			passed := passages(t, p, task)
			if len(passed) == 0 || passed[0].Host != c.host {
				t.Errorf("of the task: %+v", passed)
			}
			if refused := egressEvents[choir.EgressRefused](t, p, task); len(refused) > 0 {
				t.Errorf("refused %+v", refused)
			}
		})
	}
	t.Run("a rule with paths looks into TLS", func(t *testing.T) {
		script := "node -e 'require(\"https\").get(\"https://pypi.test/simple/greet/\", r => { r.resume(); console.log(\"node\", r.statusCode) })'; " +
			"/usr/bin/python3 -c 'import urllib.request as u; print(\"python\", u.urlopen(\"https://pypi.test/simple/greet/\").status)'; " +
			"for f in simple/greet/ files/greet-1.0-py3-none-any.whl; do curl -s -o /dev/null -w '%{http_code}\\n' https://pypi.test/$f; done"
		for proxied, before := range map[string]string{"by the proxy": "", "without it": bare} {
			task, r := executeTask(t, p, nil, before+script)
			if len(r.CommandsRun) != 1 || !strings.Contains(r.CommandsRun[0].StdoutTail, "node 200") || !strings.Contains(r.CommandsRun[0].StdoutTail, "python 200") || !strings.Contains(r.CommandsRun[0].StdoutTail, "\n200\n403") {
				t.Errorf("%s: %s %s: %+v", proxied, r.Status, r.Summary, r.CommandsRun)
			}
			for _, e := range egressEvents[choir.EgressPassed](t, p, task) {
				if e.Method != "GET" || e.Path != "/simple/greet/" || e.Status != 200 || e.Port != 443 {
					t.Errorf("recorded %+v", e)
				}
			}
		}
	})
	t.Run("a refused name", func(t *testing.T) {
		task, r := executeTask(t, p, nil, bare+"getent hosts outside.test && exit 9; bash -c 'exec 3<>/dev/tcp/git.test/443; head -1 <&3'; exit 0")
		if r.Status != choir.StatusOK {
			t.Errorf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
		}
		refused := slices.DeleteFunc(egressEvents[choir.EgressRefused](t, p, task), func(e choir.EgressRefused) bool { return !e.Asked })
		if len(refused) != 2 || refused[0].Host != "outside.test" || refused[0].Port != 443 || refused[1].Host != "git.test" || refused[1].Port != 443 {
			t.Errorf("recorded %+v", refused)
		}
	})
	t.Run("a name that the task's own profile refuses", func(t *testing.T) {
		profile := &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "npm.test"}}}
		task, _ := executeTask(t, p, profile, bare+"getent hosts npm.test >/dev/null && getent hosts git.test; exit 0")
		refused := egressEvents[choir.EgressRefused](t, p, task)
		if len(refused) == 0 || refused[0].Host != "git.test" || refused[0].Port != 22 || refused[0].Why != choir.EgressTask {
			t.Errorf("recorded %+v", refused)
		}
	})
}
