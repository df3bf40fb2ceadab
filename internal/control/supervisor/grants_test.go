package supervisor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/grants"
	"choiros/internal/config"
	"choiros/internal/control/controltest"
	"choiros/internal/eventstore"
)

// grantPlane starts a control plane whose policy has no host.
func grantPlane(t *testing.T) *controltest.Plane {
	t.Helper()
	return newInternet(t).egressPlane(t, config.Egress{Mode: "allowlist"})
}

// whenAsked calls then with the list once count requests are open.
func whenAsked(t *testing.T, p *controltest.Plane, count int, then func(grants.Listed)) {
	c := p.Computers()[0]
	ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
	defer cancel()
	for _, err := range c.Store().Follow(ctx, 0) {
		if err != nil {
			t.Errorf("nobody asked: %v", err)
			return
		}
		l, err := c.Grants().List(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if len(l.Requests) >= count {
			then(l)
			return
		}
	}
}

// untilReached is a command that asks for a host until it is let out.
const untilReached = "for i in $(seq 200); do curl -sS http://outside.test/ | tee $TMPDIR/said; grep -q '^outside' $TMPDIR/said && exit 0; sleep 0.1; done; exit 9"

// TestARefusedHostIsAskedForGrantedAndReached has a task ask for a host, grants it for the task
// while that waits, and has another task and a terminal's programs refused afterwards.
func TestARefusedHostIsAskedForGrantedAndReached(t *testing.T) {
	p := grantPlane(t)
	c := p.Computers()[0]
	answered := make(chan choir.EgressGranted, 1)
	go func() {
		defer close(answered)
		whenAsked(t, p, 1, func(l grants.Listed) {
			r := l.Requests[0]
			if r.Host != "outside.test" || r.Port != 80 || r.Why != choir.EgressPolicy || r.Count != 1 || len(r.Askers) != 1 || r.Askers[0].Over {
				t.Errorf("asked %+v", r)
			}
			g, err := c.Grants().Grant(t.Context(), choir.RoleCLI, grants.Wish{Host: r.Host, Port: r.Port, Scope: choir.EgressForTask})
			if err != nil {
				t.Error(err)
			}
			answered <- g
		})
	}()
	task, r := executeTask(t, p, nil, untilReached)
	g, ok := <-answered
	if out := fmt.Sprint(r.CommandsRun); !ok || r.Status != choir.StatusOK || !strings.Contains(out, "the owner of the computer is asked") {
		t.Fatalf("%s %s: %s", r.Status, r.Summary, out)
	}
	if passed := passages(t, p, task); len(passed) != 1 || passed[0].Grant != g.Grant {
		t.Errorf("the use: %+v", passed)
	}
	if refused := egressEvents[choir.EgressRefused](t, p, task); len(refused) != 1 || !refused[0].Asked {
		t.Errorf("the refusal: %+v", refused)
	}
	if l, err := c.Grants().List(t.Context()); err != nil || len(l.Requests)+len(l.Grants) != 0 {
		t.Errorf("the grant did not end with its task: %+v %v", l, err)
	}
	other, r := executeTask(t, p, nil, "curl -sS http://outside.test/; true")
	if strings.Contains(fmt.Sprint(r.CommandsRun), "outside\n") || len(egressEvents[choir.EgressPassed](t, p, other)) > 0 {
		t.Errorf("another task used it: %+v", r.CommandsRun)
	}
	if held, err := c.Grants().Holding(t.Context(), "", ""); err != nil || len(held) > 0 {
		t.Errorf("a program of no task has %+v %v", held, err)
	}
	if _, err := c.Grants().Grant(t.Context(), choir.RoleCLI, grants.Wish{Host: "outside.test", Port: 80, Scope: choir.EgressForTask, Task: task}); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a grant for a task that is over: %v", err)
	}
}

// TestADeniedHostIsNotAskedForAgain says no, and has the same run ask once more.
func TestADeniedHostIsNotAskedForAgain(t *testing.T) {
	p := grantPlane(t)
	c := p.Computers()[0]
	go whenAsked(t, p, 1, func(grants.Listed) {
		if err := c.Grants().Deny(t.Context(), choir.RoleShell, "outside.test", 80); err != nil {
			t.Error(err)
		}
	})
	task, r := executeTask(t, p, nil, "for i in $(seq 100); do curl -sS http://outside.test/ > $TMPDIR/said; grep -q 'is asked' $TMPDIR/said || exit 0; sleep 0.1; done; exit 9")
	if r.Status != choir.StatusOK {
		t.Fatalf("%s %+v", r.Status, r.CommandsRun)
	}
	if l, err := c.Grants().List(t.Context()); err != nil || len(l.Requests) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	if passed := egressEvents[choir.EgressPassed](t, p, task); len(passed) > 0 {
		t.Errorf("it reached %+v", passed)
	}
}

// TestAFloodOfHostsIsBounded has a task ask for a thousand hosts, many with characters that no
// name has.
func TestAFloodOfHostsIsBounded(t *testing.T) {
	p := grantPlane(t)
	script := `/usr/bin/python3 - <<'EOF'
import os, socket, urllib.parse
proxy = urllib.parse.urlparse(os.environ["http_proxy"])
for i in range(1000):
    for host in ("h%d.test" % i, "h%d\u202e.test" % i):
        s = socket.create_connection((proxy.hostname, proxy.port))
        s.sendall(("CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % (host, host)).encode())
        s.recv(100); s.close()
EOF`
	task, r := executeTask(t, p, nil, script)
	if r.Status != choir.StatusOK {
		t.Fatalf("%s %+v", r.Status, r.CommandsRun)
	}
	l, err := p.Computers()[0].Grants().List(t.Context())
	if err != nil || len(l.Requests) != eventstore.MaxEgressRequests {
		t.Errorf("%d requests, %v", len(l.Requests), err)
	}
	for _, one := range l.Requests {
		if strings.Trim(one.Host, "abcdefghijklmnopqrstuvwxyz0123456789.") != "" {
			t.Errorf("asks for %q", one.Host)
		}
	}
	if n := len(egressEvents[choir.EgressRefused](t, p, task)); n > 256 {
		t.Errorf("the log has %d refusals", n)
	}
}

// openAll opens the computers that a start has left closed, because they have no work.
func openAll(t *testing.T, p *controltest.Plane) {
	t.Helper()
	for _, asleep := range p.Hibernated() {
		_, release, err := p.Use(t.Context(), asleep.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
}

// TestGrantsSurviveAndEnd grants always, starts choir anew on the same folder, and revokes.
func TestGrantsSurviveAndEnd(t *testing.T) {
	n := newInternet(t)
	data := newData(t)
	start := func(t *testing.T) *controltest.Plane {
		cfg := controltest.Config(t, data)
		cfg.Outside, cfg.File.Egress = n.outside(), config.Egress{Mode: "allowlist"}
		p := controltest.StartWith(t, cfg)
		openAll(t, p)
		return p
	}
	var granted choir.ID
	t.Run("granted", func(t *testing.T) {
		answers := start(t).Computers()[0].Grants()
		wish := grants.Wish{Host: "outside.test", Port: 80, Scope: choir.EgressAlways}
		g, err := answers.Grant(t.Context(), choir.RoleShell, wish)
		if err != nil {
			t.Fatal(err)
		}
		granted = g.Grant
		wish.Host, wish.Lasts = "npm.test", time.Millisecond
		if _, err := answers.Grant(t.Context(), choir.RoleShell, wish); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after a start", func(t *testing.T) {
		p := start(t)
		get := "curl -sS http://outside.test/; curl -sS http://npm.test/greet; true"
		task, r := executeTask(t, p, nil, get)
		passed := passages(t, p, task)
		if len(passed) != 1 || passed[0].Host != "outside.test" || passed[0].Grant != granted {
			t.Fatalf("%+v, %+v", passed, r.CommandsRun)
		}
		if revoked, err := p.Computers()[0].Grants().Revoke(t.Context(), choir.RoleShell, "outside.test", 80, ""); err != nil || revoked != 1 {
			t.Fatalf("%d %v", revoked, err)
		}
		task, _ = executeTask(t, p, nil, get)
		if passed := egressEvents[choir.EgressPassed](t, p, task); len(passed) > 0 {
			t.Errorf("after the revocation: %+v", passed)
		}
	})
}

// TestAnotherPolicyIsPutInForce reloads the policy from a file: a good one, and ones with errors.
func TestAnotherPolicyIsPutInForce(t *testing.T) {
	n := newInternet(t)
	cfg := controltest.Config(t, newData(t))
	cfg.Outside, cfg.File.Egress = n.outside(), config.Egress{Mode: "none"}
	file := filepath.Join(t.TempDir(), "choir.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Reread = func() (config.Config, string, error) { return config.Load(file) }
	p := controltest.StartWith(t, cfg)
	wish := grants.Wish{Host: "outside.test", Port: 80, Scope: choir.EgressAlways}
	if _, err := p.Computers()[0].Grants().Grant(t.Context(), choir.RoleCLI, wish); choir.CodeOf(err) != choir.CodeRefused {
		t.Errorf("a grant under none: %v", err)
	}
	write("[egress]\nmode = \"allowlist\"\n[[egress.allowlist]]\nhost = \"outside.test\"\nport = 80\n")
	if done, err := p.System.ReloadEgress(t.Context()); err != nil || done.Mode != "allowlist" || done.Hosts != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	reached := func() bool {
		task, _ := executeTask(t, p, nil, "curl -sS http://outside.test/; true")
		return len(passages(t, p, task)) == 1
	}
	if !reached() {
		t.Error("the new policy is not in force")
	}
	for text, names := range map[string]string{
		"[egress]\nmode = \"open\"\n":     "egress.mode",
		"[egress]\nmode = none\n":         "line 2",
		"[egress]\nmod = \"none\"\n":      "mod",
		"[egress]\nmode = \"none\"\n[[eg": "line",
	} {
		write(text)
		if _, err := p.System.ReloadEgress(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), names) {
			t.Errorf("%q: %v", text, err)
		}
	}
	saysPolicy(t, p, choir.EgressAllowlist, "egress.mode allowlist")
	if !reached() {
		t.Error("an error took the old policy out of force")
	}
}

// TestOnlyTheOwnerAnswers tries to append the owner's answers as each other role.
func TestOnlyTheOwnerAnswers(t *testing.T) {
	for _, typ := range []choir.Type{choir.TypeEgressGranted, choir.TypeEgressRevoked, choir.TypeEgressDenied} {
		info, _ := choir.LookupType(typ)
		if want := []choir.Role{choir.RoleShell, choir.RoleCLI}; !slices.Equal(info.Roles, want) {
			t.Errorf("%s may be appended by %v", typ, info.Roles)
		}
	}
	p := grantPlane(t)
	id := choir.ID("0190a000-0000-7000-8000-000000000001")
	for _, payload := range []choir.Payload{
		choir.EgressGranted{Grant: id, Host: "outside.test", Port: 80, Scope: choir.EgressAlways},
		choir.EgressRevoked{Grant: id, Host: "outside.test", Port: 80}, choir.EgressDenied{Host: "outside.test", Port: 80},
		choir.EgressRefused{Host: "outside.test", Port: 80, Policy: "allowlist", Asked: true},
	} {
		d, err := choir.NewDraft(id, payload)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate, choir.RoleDesktop} {
			if _, err := p.Computers()[0].Store().Append(t.Context(), role, d); choir.CodeOf(err) != choir.CodeForbidden {
				t.Errorf("%s appends %s: %v", role, payload.EventType(), err)
			}
		}
	}
	if l, err := p.Computers()[0].Grants().List(t.Context()); err != nil || len(l.Grants)+len(l.Requests) != 0 {
		t.Errorf("%+v %v", l, err)
	}
}

// TestTheOwnerChoosesAPolicy chooses policies while a file gives none: the choice holds over a
// start, cuts what it does not have, and gives way to the file.
func TestTheOwnerChoosesAPolicy(t *testing.T) {
	n := newInternet(t)
	data, file := newData(t), filepath.Join(t.TempDir(), "choir.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	load := func() (config.Config, string, error) { return loadChosen(file, data) }
	start := func(t *testing.T) *controltest.Plane {
		cfg := controltest.Config(t, data)
		var err error
		if cfg.File, cfg.From, err = load(); err != nil {
			t.Fatal(err)
		}
		cfg.Outside, cfg.Reread = n.outside(), load
		p := controltest.StartWith(t, cfg)
		openAll(t, p)
		return p
	}
	reaches := func(p *controltest.Plane) bool {
		t.Helper()
		_, r := executeTask(t, p, nil, "curl -sSf http://outside.test/")
		return len(r.CommandsRun) == 1 && r.CommandsRun[0].ExitCode == 0
	}
	t.Run("chosen", func(t *testing.T) {
		p := start(t)
		if reaches(p) {
			t.Error("something is reached before a choice")
		}
		if done, err := p.System.ChooseEgress(t.Context(), choir.EgressAllowlist); err != nil || done.Mode != "allowlist" || done.Hosts != 0 {
			t.Fatalf("%+v %v", done, err)
		}
		wish := grants.Wish{Host: "outside.test", Port: 80, Scope: choir.EgressAlways}
		if _, err := p.Computers()[0].Grants().Grant(t.Context(), choir.RoleShell, wish); err != nil {
			t.Fatal(err)
		}
		if !reaches(p) || p.System.Settings().EgressInFile {
			t.Error("the choice is not in force, or is said to be the file's")
		}
		if _, err := p.System.ChooseEgress(t.Context(), "open"); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("a policy that there is not: %v", err)
		}
	})
	// A folder with the choice is choir's own, and is closed to others again.
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("after a start", func(t *testing.T) {
		p := start(t)
		if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o711 {
			t.Errorf("the data folder: %v %v", info, err)
		}
		if !reaches(p) {
			t.Error("the choice is forgotten")
		}
		if _, err := p.System.ChooseEgress(t.Context(), choir.EgressNone); err != nil || reaches(p) {
			t.Errorf("none lets something out: %v", err)
		}
		if _, err := p.System.ChooseEgress(t.Context(), choir.EgressAllowlist); err != nil {
			t.Fatal(err)
		}
		write("[egress]\nmode = \"none\"\n")
		if _, err := p.System.ChooseEgress(t.Context(), choir.EgressGitPkg); choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), file) {
			t.Errorf("a choice against the file: %v", err)
		}
		if _, err := p.System.ReloadEgress(t.Context()); err != nil || reaches(p) || !p.System.Settings().EgressInFile {
			t.Errorf("the file does not come first: %v", err)
		}
	})
	if err := os.WriteFile(filepath.Join(data, config.NetworkFile), []byte("mode = \"open\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("")
	if _, _, err := load(); choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), config.NetworkFile) {
		t.Errorf("a damaged choice: %v", err)
	}
}
