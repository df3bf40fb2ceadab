package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// hostsListed returns what choir egress prints.
func (m *machine) hostsListed() (v api.EgressView) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(m.must("egress", "--json")), &v); err != nil {
		m.t.Fatal(err)
	}
	return v
}

// TestAHostIsAskedForAndItsGrantOutlivesAKill has a task ask for a host, answers with the verbs,
// and kills choir between the answer and the look at it.
func TestAHostIsAskedForAndItsGrantOutlivesAKill(t *testing.T) {
	m := newMachine(t, "[egress]\nmode = 'allowlist'\n")
	first := m.up()
	task := `{"kind":"edit_repo","instruction":"fetch \u001b[31m it","commands":[{"shell":"curl -sS http://outside.test/ http://127.0.0.1/ http://other.test:8080/; true"}],"verify_profile":{"mode":"none"}}`
	if r := m.runWith(task, "task", "-"); r.code != 0 {
		t.Fatalf("%d %s%s", r.code, r.out, r.errOut)
	}
	v := m.hostsListed()
	if len(v.Requests) != 2 || v.Requests[0].Host != "outside.test" || v.Requests[0].Port != 80 || v.Requests[1].Host != "other.test" || v.Requests[1].Port != 8080 {
		t.Fatalf("%+v", v)
	}
	if a := v.Requests[0].Askers; len(a) != 1 || !a[0].Over || !strings.HasPrefix(a[0].Instruction, "fetch ") {
		t.Errorf("who asks: %+v", a)
	}
	if said := m.must("egress"); strings.Contains(said, "\x1b") || !strings.Contains(said, `asks      outside.test:80`) {
		t.Errorf("it prints %q", said)
	}
	for args, code := range map[string]int{
		"outside.test:80 --for task": 1, "outside.test:80 --for ever": 2, "127.0.0.1:80 --for always": 4, "169.254.169.254:80 --for always": 4,
		"Outside.test:80 --for always": 2, "*.test --for always": 2, "outside.test:0 --for always": 2, "outside.test:80 --for always --expires -1h": 2,
	} {
		if r := m.run(append([]string{"egress", "grant"}, strings.Fields(args)...)...); r.code != code {
			t.Errorf("grant %s: exit code %d, %s", args, r.code, r.errOut)
		}
	}
	m.must("egress", "grant", "outside.test:80", "--for", "always")
	m.must("egress", "deny", "other.test:8080")
	first.kill()
	m.up()
	v = m.hostsListed()
	if len(v.Requests) != 0 || len(v.Grants) != 1 || v.Grants[0].Host != "outside.test" || v.Grants[0].Scope != choir.EgressAlways || v.Grants[0].By != choir.RoleCLI.Source() {
		t.Fatalf("after the kill: %+v", v)
	}
	m.must("egress", "revoke", "outside.test:80")
	if r := m.run("egress", "revoke", "outside.test:80"); r.code == 0 || len(m.hostsListed().Grants) != 0 {
		t.Errorf("revoked twice: %+v", r)
	}
}

// TestThePolicyIsReadAgain puts another policy in force with the verb and with SIGHUP, and files
// with an error, which leave the one before.
func TestThePolicyIsReadAgain(t *testing.T) {
	m := newMachine(t, "[egress]\nmode = 'none'\n")
	r := m.up()
	file := filepath.Join(m.data, "choir.toml")
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(mode string) {
		if err := os.WriteFile(file, []byte(strings.Replace(string(was), "'none'", mode, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(mode string) func() error {
		return func() error {
			if got := m.hostsListed().Mode; got != mode {
				return errors.New("it is " + got)
			}
			return nil
		}
	}
	write("'allowlist'")
	m.must("egress", "reload")
	if err := is("allowlist")(); err != nil {
		t.Error(err)
	}
	write("'open'")
	if bad := m.run("egress", "reload"); bad.code != 2 || !strings.Contains(bad.errOut, "egress.mode") {
		t.Errorf("%+v", bad)
	}
	r.signal(syscall.SIGHUP)
	write("'git+pkg'")
	// The signal may have met either file; the one after meets the good one.
	r.signal(syscall.SIGHUP)
	m.eventually("the policy of the file", is("git+pkg"))
}
