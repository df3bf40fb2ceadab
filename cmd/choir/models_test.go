package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/model/wiretest"
)

// greeting is a model that answers every prompt with a toast.
const greeting = `{"rules":[{"match":{},"respond":{"text":"Hello.","tool_calls":[{"name":"show_toast","input":{"text":"Good morning."}}]}}]}`

func scripted(t *testing.T, rules string) *wiretest.Scripted {
	t.Helper()
	script, err := wiretest.ParseScript([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	s := wiretest.NewScripted(script)
	t.Cleanup(s.Close)
	return s
}

// uses connects a machine to a service at an address, by its choir.toml.
func (m *machine) uses(address, more string) {
	m.configure(fmt.Sprintf(`
[models]
director = "claude/claude-sonnet-4-5"
associate = "claude/claude-sonnet-4-5"
[[models.provider]]
name = "claude"
kind = "anthropic"
base_url = %q
%s
`, address, more))
}

// TestAKeyThatOthersCanReadIsToldEverywhere: at the start, by the doctor and in
// the run, each time with the command that mends it.
func TestAKeyThatOthersCanReadIsToldEverywhere(t *testing.T) {
	m := newMachine(t, "")
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-ant-0123456789\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.uses(scripted(t, greeting).URL, fmt.Sprintf("key_file = %q", file))
	why, mend := "others can read the key file "+file, "chmod 600 "+file
	r := m.up()
	r.healthy()
	prompt := m.run("prompt", "hello")
	doctor := m.must("doctor")
	r.stop()
	for what, said := range map[string]string{"the run": prompt.errOut, "the doctor": doctor, "the start": r.errOut.String()} {
		if !strings.Contains(said, why) || !strings.Contains(said, mend) {
			t.Errorf("%s says %s", what, said)
		}
	}
	if prompt.code == 0 || !strings.Contains(prompt.errOut, ". There was no plan yet") {
		t.Errorf("the run ended with %+v", prompt)
	}
}

// TestADeadEndpointIsToldWithinSeconds: by the doctor, at the start, and in a
// run, which does not ask again where nothing listens.
func TestADeadEndpointIsToldWithinSeconds(t *testing.T) {
	m := newMachine(t, "")
	address := freeAddress(t)
	m.env = append(m.env, "DEAD_KEY=sk-ant-0123456789")
	m.uses("http://"+address, `key_env = "DEAD_KEY"`)
	r := m.up()
	r.healthy()
	var prompt ran
	fastest := time.Hour
	for tries := 0; tries < 3 && fastest > 3*time.Second; tries++ { // a busy machine is slow now and then
		began := time.Now()
		prompt = m.run("prompt", "hello")
		fastest = min(fastest, time.Since(began))
	}
	if fastest > 3*time.Second {
		t.Errorf("it is told after %v", fastest)
	}
	if want := "nothing listens at " + address + " (connection refused)"; prompt.code == 0 || !strings.Contains(prompt.errOut, want) {
		t.Errorf("the run ended with %+v", prompt)
	}
	doctor := m.must("doctor")
	r.stop()
	for what, said := range map[string]string{"the doctor": doctor, "the start": r.errOut.String()} {
		if !strings.Contains(said, "service claude") || !strings.Contains(said, "connection refused") || !strings.Contains(said, "base_url") {
			t.Errorf("%s says %s", what, said)
		}
	}
}

// TestAPromptSaysWhyItWaits: the service is over its limit and says when to ask
// again.
func TestAPromptSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	m.env = append(m.env, "BUSY_KEY=sk-ant-0123456789")
	busy := strings.Replace(greeting, `"rules":[`, `"rules":[{"times":1,"match":{},"fail":{"status":529,"retry_after":"2.5","message":"too many"}},`, 1)
	m.uses(scripted(t, busy).URL, `key_env = "BUSY_KEY"`)
	m.up().healthy()
	prompt := m.run("prompt", "hello")
	if prompt.code != 0 || !strings.Contains(prompt.out, "waits for the model: the provider answered 529") || !strings.Contains(prompt.out, "asked again after 2.5s") {
		t.Errorf("%+v", prompt)
	}
	if !strings.Contains(prompt.out, "Cost $0.0") || !strings.Contains(prompt.out, "1 model call, ") {
		t.Errorf("the end does not say what it cost: %s", prompt.out)
	}
}

// TestAConnectionOfThePageNeedsNoRestart: a prompt fails, a model is connected,
// the next prompt is answered; choir.toml is as it was, and a restart forgets
// nothing.
func TestAConnectionOfThePageNeedsNoRestart(t *testing.T) {
	const secret = "sk-ant-of-the-page-5a8c3e"
	m := newMachine(t, "")
	before := m.config()
	s := scripted(t, greeting)
	r := m.up()
	r.healthy()
	c := m.client()
	if res := m.run("prompt", "hello"); res.code != choir.CodeUnavailable.ExitCode() || !strings.Contains(res.errOut, "Models & keys") {
		t.Errorf("without a model: %+v", res)
	}
	var done api.Connected
	err := c.post(t.Context(), "/api/settings/models", api.ConnectRequest{Name: "anthropic", Kind: "anthropic", Address: s.URL, Key: secret, Model: "claude-haiku-4-5"}, &done)
	if err != nil || done.OutputTokens == 0 || !done.Settings.Models.Connected {
		t.Fatalf("%+v, %v", done, err)
	}
	file := filepath.Join(m.data, "keys", "models", "anthropic")
	for range 2 {
		if res := m.run("prompt", "hello"); res.code != 0 || !strings.Contains(res.out, "Good morning.") {
			t.Errorf("with a model: %+v", res)
		}
		doctor := m.must("doctor")
		if !strings.Contains(doctor, "is in "+file+", which only you can read") || !strings.Contains(doctor, "models.toml") || strings.Contains(doctor, secret) {
			t.Errorf("doctor says %s", doctor)
		}
		r.kill()
		r = m.up()
		r.healthy()
	}
	if m.config() != before {
		t.Errorf("choir.toml was changed: %s", m.config())
	}
	ends, _ := m.client().modelEnds(t)
	if len(ends) != 3 || ends[0].Caller != "owner" || ends[0].CostUSD <= 0 {
		t.Errorf("the log has %+v", ends)
	}
	c = m.client()
	if err := c.call(t.Context(), http.MethodDelete, "/api/settings/models/anthropic", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the key is still there: %v", err)
	}
	if res := m.run("prompt", "hello"); res.code == 0 {
		t.Errorf("after the removal: %+v", res)
	}
}

// TestWhatARunWasToldIsSaid: steering, stopping and answering say what happened;
// a client that loses its choir says how to go on.
func TestWhatARunWasToldIsSaid(t *testing.T) {
	m := newMachine(t, "")
	s := scripted(t, `{"rules":[
		{"match":{"last":"The user answered"},"respond":{"tool_calls":[{"name":"answer","input":{"text":"So be it."}}]}},
		{"match":{"first":"ask me"},"respond":{"tool_calls":[{"name":"ask_user","input":{"text":"Blue or green?"}}]}},
		{"match":{},"respond":{"tool_calls":[{"name":"show_toast","input":{"text":"Good morning."}}]}}]}`)
	held := &holding{}
	s.Config.Handler = held.before(s.Config.Handler)
	t.Cleanup(held.open)
	m.env = append(m.env, "HOUSE_KEY=sk-ant-0123456789")
	m.uses(s.URL, `key_env = "HOUSE_KEY"`)
	r := m.up()
	r.healthy()
	c := m.client()
	id := func() string {
		var accepted api.Accepted
		if err := c.post(t.Context(), c.path("/prompts"), api.PromptRequest{Text: "hold on"}, &accepted); err != nil {
			t.Fatal(err)
		}
		return string(accepted.Run)
	}
	run := id()
	if out := m.must("run", run, "--steer", "in verse"); !strings.Contains(out, "Added to run "+run) {
		t.Errorf("steering says %q", out)
	}
	if out := m.must("run", run, "--cancel"); !strings.Contains(out, "Run "+run+" was stopped; it is cancelled. Cost $") {
		t.Errorf("stopping says %q", out)
	}
	if out := m.must("run", run, "--cancel"); !strings.Contains(out, "was over before") {
		t.Errorf("stopping it again says %q", out)
	}
	asking := m.run("prompt", "ask me")
	asked, _, _ := strings.Cut(strings.TrimPrefix(asking.out, "run "), "\n")
	if out := m.must("run", asked, "--answer", "blue"); !strings.Contains(out, "Answered; run "+asked+" goes on.") || !strings.Contains(out, "So be it.") {
		t.Errorf("answering says %q, the question was %+v", out, asking)
	}
	if list := m.must("run"); strings.Count(list, "$") != 2 {
		t.Errorf("the list does not say what each run cost: %s", list)
	}
	following := make(chan ran, 1)
	go func() { following <- m.run("prompt", "hold on") }()
	m.eventually("the call that is held", func() error {
		if held.count() < 2 {
			return fmt.Errorf("%d calls are held", held.count())
		}
		return nil
	})
	r.kill()
	lost := <-following
	if lost.code != choir.CodeUnavailable.ExitCode() || !strings.Contains(lost.errOut, "has stopped") || !strings.Contains(lost.errOut, "then follow it with: choir run ") ||
		strings.Contains(lost.errOut, "socket") || strings.Contains(lost.errOut, "refused") {
		t.Errorf("a client that lost its choir: %+v", lost)
	}
}

// holding holds the calls of runs whose prompt says so until it is opened.
type holding struct {
	mu     sync.Mutex // guards what follows
	n      int
	opened chan struct{}
}

func (h *holding) gate() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opened == nil {
		h.opened = make(chan struct{})
	}
	return h.opened
}

func (h *holding) open() { close(h.gate()) }

func (h *holding) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func (h *holding) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has gone
		}
		if bytes.Contains(body, []byte("hold on")) {
			h.mu.Lock()
			h.n++
			h.mu.Unlock()
			select {
			case <-h.gate():
			case <-r.Context().Done():
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// TestAConnectionOfThePageLeadsToNoCredentialsOfACloud: whatever name led there,
// the address is looked at when the connection is made.
func TestAConnectionOfThePageLeadsToNoCredentialsOfACloud(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1]:443": true, "0.0.0.0:80": true, "[ff02::1]:80": true, "name:80": true,
		"[fe80::1%lo]:80": true, "[::ffff:169.254.169.254]:80": true,
		"[fd00:ec2::254]:80": true, "[fd20:ce::254]:80": true, "[fd00:42::42]:80": true,
		"100.100.100.200:80": true, "168.63.129.16:80": true, "192.0.0.192:80": true,
		"[64:ff9b::a9fe:a9fe]:80": true, "[64:ff9b::6464:64c8]:80": true, "[64:ff9b:1::a9fe:a9fe]:80": true,
		"[2002:a9fe:a9fe::1]:80": true, "[::169.254.169.254]:80": true,
		"[64:ff9b::a00:8]:443": false, "100.100.100.201:443": false, "[fd00::8]:443": false, "[::1]:11434": false,
		"127.0.0.1:11434": false, "10.0.0.8:443": false, "[2606:4700::1]:443": false,
	} {
		if err := onlyAllowed("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}
