package supervisor_test

import (
	"os/exec"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/grants"
	"choiros/internal/config"
	"choiros/internal/control/controltest"
)

// TestAProjectIsInstalledTestedAndPushed has one task work on a cloned project with a dependency: it
// installs that from a registry, runs the tests, reaches a host once the owner grants it, and pushes
// to a server that wants a credential, which it never sees.
func TestAProjectIsInstalledTestedAndPushed(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t), newForge(t)
	for _, program := range []string{"npm", "node", "git", "curl"} {
		if _, err := exec.LookPath("/usr/bin/" + program); err != nil {
			t.Skipf("/usr/bin/%s is not on this machine", program)
		}
	}
	f.git(t, "git init -q --bare -b main app.git && git -C app.git config http.receivepack true && git clone -q app.git w 2>/dev/null && cd w && "+
		`printf '{"name":"app","version":"1.0.0","dependencies":{"greet":"1.0.0"},"scripts":{"test":"node test.js"}}' > package.json && `+
		`printf 'require("assert").equal(require("greet"), "hello from npm"); console.log("it passes")' > test.js && printf node_modules > .gitignore && `+
		"git add . && git -c user.name=t -c user.email=t@t commit -qm first && git push -q origin HEAD:main")
	data := newData(t)
	cfg := f.config(t, data, "{origin}")
	cfg.File.Egress = config.Egress{Mode: "git+pkg", Allowlist: []config.EgressHost{{Host: "git.test"}, {Host: "npm.test"}}}
	f.beside.Store(n.mux)
	p := controltest.StartWith(t, cfg)
	bind(t, p, "git.test", "/app.git")
	parts, c := partsOfOnly(t, p)
	if _, err := parts.Repos.Clone(t.Context(), choir.RoleCLI, "app", "https://git.test/app.git", "forge"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go whenAsked(t, p, 1, func(l grants.Listed) {
		_, err := c.Grants().Grant(t.Context(), choir.RoleShell, grants.Wish{Host: l.Requests[0].Host, Port: l.Requests[0].Port, Scope: choir.EgressForTask})
		answered <- err
	})
	task, r := executeTask(t, p, nil,
		"cat > $TMPDIR/ca.pem <<'EOF'\n"+string(f.ca)+"EOF\nset -e; cd workspace/app; npm install --registry https://npm.test --cafile $TMPDIR/ca.pem --fetch-retries 0 --no-audit --no-fund --no-update-notifier; npm test",
		untilReached,
		"cd workspace/app && echo done > done.txt && git add done.txt && git -c user.name=t -c user.email=t@t commit -qm second && git push -q origin HEAD:main")
	if r.Status != choir.StatusOK || len(r.CommandsRun) != 3 || !strings.Contains(r.CommandsRun[0].StdoutTail, "it passes") {
		t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if got := f.git(t, "git -C app.git show main:done.txt"); got != "done" {
		t.Errorf("the host has %q", got)
	}
	reached := map[string]string{}
	for _, e := range passages(t, p, task) {
		reached[e.Host] = e.Credential
		if e.Grant != "" {
			reached[e.Host] = "granted"
		}
	}
	if len(reached) != 3 || reached["npm.test"] != "" || reached["outside.test"] != "granted" || reached["git.test"] != "forge" {
		t.Errorf("reached %v", reached)
	}
	if pushed := awaitPush(t, p, "pushed"); f.git(t, "git -C app.git rev-parse choir/"+string(c.ID())) != pushed.Push.Commit {
		t.Errorf("the checkpoint is not on the host: %+v", pushed.Push)
	}
	noLeak(t, p, data)
}
