package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/director/runscript"
	"choiros/internal/model/wiretest"
)

// Two keys, as no other text could contain them.
const (
	keyInEnv  = "sk-ant-in-the-environment-9d1f6a"
	keyInFile = "sk-ant-in-a-file-of-its-own-7c2e4b"
)

// TestKeysStayOutside runs a whole run with real keys, and then looks for them
// everywhere but where they belong.
func TestKeysStayOutside(t *testing.T) {
	m := newMachine(t, "")
	s, provider := pingScript(t), newLockedProvider(t)
	m.connect(provider.serve(s))
	up := m.up()
	up.healthy()
	c := m.client()
	o := &office{m, c, up.cmd.Process.Pid}
	m.must("repo", "add", m.project(s, "tally"), "--name", "tally")
	m.finish(c, begin(t, c, s))
	if o.inside(t, "command -v curl") != 0 {
		t.Skip("curl is not in the sandbox: apt-get install curl")
	}
	inside := o.ends(t, shellTask("run", "tally", tryDoors, `,"model_budget":{"calls":10}`), 0, choir.StatusOK, "").CommandsRun[0]
	if got := strings.Fields(inside.StdoutTail); strings.Join(got, " ") != "gateway 403 anthropic pong openai pong bus hidden outside 403 keys none" {
		t.Errorf("inside: %q\n%s", got, inside.StderrTail)
	}
	if !provider.sawBoth() {
		t.Errorf("the provider saw the keys %v", provider.keys)
	}
	o.searchFolder(t)
	o.searchProcesses(t)
	o.searchMemory(t)
	o.searchAnswers(t, up)
	up.stop()
	if strings.Contains(up.errOut.String(), keyInEnv) || strings.Contains(up.errOut.String(), keyInFile) {
		t.Errorf("choir says a key: %s", up.errOut)
	}
}

// tryDoors is what a tool program tries inside: the role's own contract, the
// plain addresses of providers, the bus, a host outside, and every environment
// it can read.
const tryDoors = `
q="curl -s --max-time 20"
at=${OPENAI_BASE_URL%/openai/v1}
json="content-type: application/json"
body='{"model":"any","max_tokens":20,"messages":[{"role":"user","content":"ping from a tool"}]}'
pong() { grep -o pong | head -1; }
echo gateway $($q -o /dev/null -w '%{http_code}' -H "$json" -d '{}' $at/choir/v1/model)
echo anthropic $($q -H "$json" -H 'x-api-key: choir' -d "$body" $ANTHROPIC_BASE_URL/v1/messages | pong)
echo openai $($q -H "$json" -H 'authorization: Bearer choir' -d "$body" $OPENAI_BASE_URL/chat/completions | pong)
if find / /tmp /workspace -xdev -type s 2>/dev/null | grep -q .; then echo bus found; else echo bus hidden; fi
echo outside $(curl -s -o /dev/null --max-time 20 -w '%{http_code}' http://example.com/)
if cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -q sk-ant-in[-]; then echo keys found; else echo keys none; fi
`

// pingScript is the demo's script with an answer for a tool.
func pingScript(t *testing.T) runscript.Script {
	s := demoScript(t)
	rule := `{"rules":[{"name":"tool","match":{"first":"ping from a tool"},"respond":{"text":"pong"}},`
	s.Model = bytes.Replace(s.Model, []byte(`"rules": [`), []byte(strings.TrimPrefix(rule, "{")), 1)
	return s
}

// connect gives the Director one provider and the Associate another, with their
// keys in different places.
func (m *machine) connect(address string) {
	m.t.Helper()
	file := filepath.Join(m.t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(keyInFile+"\n"), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.env = append(m.env, "SECRET_KEY="+keyInEnv)
	m.configure(fmt.Sprintf(`
[models]
director = "one/director"
associate = "two/associate"
[[models.provider]]
name = "one"
kind = "anthropic"
base_url = %[1]q
key_env = "SECRET_KEY"
free = true
[[models.provider]]
name = "two"
kind = "anthropic"
base_url = %[1]q
key_file = %[2]q
free = true
`, address, file))
}

// lockedProvider lets in only who has one of the keys.
type lockedProvider struct {
	t    *testing.T
	mu   sync.Mutex // guards keys
	keys map[string]int
}

func newLockedProvider(t *testing.T) *lockedProvider {
	return &lockedProvider{t: t, keys: map[string]int{}}
}

func (p *lockedProvider) serve(s runscript.Script) string {
	script, err := wiretest.ParseScript(s.Model)
	if err != nil {
		p.t.Fatal(err)
	}
	model := wiretest.NewScripted(script)
	p.t.Cleanup(model.Close)
	target, err := url.Parse(model.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("x-api-key")
		p.mu.Lock()
		p.keys[key]++
		p.mu.Unlock()
		if key != keyInEnv && key != keyInFile {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	p.t.Cleanup(server.Close)
	return server.URL
}

func (p *lockedProvider) sawBoth() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.keys) == 2 && p.keys[keyInEnv] > 0 && p.keys[keyInFile] > 0
}

func holdsKey(raw []byte) bool {
	return bytes.Contains(raw, []byte(keyInEnv)) || bytes.Contains(raw, []byte(keyInFile))
}

// searchFolder looks into every file of the data folder, the workspace too.
func (o *office) searchFolder(t *testing.T) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(o.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		n++
		raw, err := os.ReadFile(path)
		if holdsKey(raw) {
			t.Errorf("a key lies in %s", path)
		}
		return err
	})
	if err != nil || n < 20 {
		t.Errorf("searched %d files: %v", n, err)
	}
}

// searchProcesses looks at what the sandboxes' processes were started with.
func (o *office) searchProcesses(t *testing.T) {
	t.Helper()
	n := 0
	for _, p := range o.processes() {
		pid, _, _ := strings.Cut(p, " ")
		if pid == strconv.Itoa(o.pid) {
			continue // the control plane, which was given the key so
		}
		n++
		for _, name := range []string{"cmdline", "environ"} {
			// One that has ended meanwhile has neither.
			if raw, _ := os.ReadFile(filepath.Join("/proc", pid, name)); holdsKey(raw) {
				t.Errorf("a key stands in the %s of %s", name, p)
			}
		}
	}
	if n < 4 {
		t.Errorf("looked at %d processes", n)
	}
}

// searchMemory looks for the keys in all memory of the sandboxes' processes, and first for a
// word that a shell in a terminal puts together, which must be found.
func (o *office) searchMemory(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("SKIP the memory of sandboxes was not searched: only root may read it")
		return
	}
	if err := o.c.post(t.Context(), o.c.path("/terminals"), api.TerminalRequest{Type: "planted=planted-$((6*7))-word\n"}, nil); err != nil {
		t.Fatal(err)
	}
	o.eventually("the planted word is found in memory", func() error {
		if found, _ := o.memoryHolding("planted-42-word"); len(found) == 0 {
			return errNotYet
		}
		return nil
	})
	found, searched := o.memoryHolding(keyInEnv, keyInFile)
	if len(found) > 0 || searched < 1<<20 {
		t.Errorf("keys are in the memory of %q, of which %d bytes were searched", found, searched)
	}
}

// memoryHolding returns the sandboxes' processes whose memory holds one of the words, and how
// many bytes were searched.
func (o *office) memoryHolding(words ...string) (found []string, searched int) {
	for _, p := range o.processes() {
		pid, _, _ := strings.Cut(p, " ")
		if pid == strconv.Itoa(o.pid) {
			continue // the control plane has the keys
		}
		// A process that has ended meanwhile has no memory.
		maps, _ := os.ReadFile(filepath.Join("/proc", pid, "maps"))
		mem, err := os.Open(filepath.Join("/proc", pid, "mem"))
		if err != nil {
			continue
		}
		holds := false
		for line := range strings.Lines(string(maps)) {
			var from, to int64
			var mode string
			if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil || mode[:2] != "rw" {
				continue // the keys are not in the programs
			}
			raw := make([]byte, min(to-from, 256<<20))
			n, _ := mem.ReadAt(raw, from) // parts of it cannot be read
			searched += n
			for _, word := range words {
				holds = holds || bytes.Contains(raw[:n], []byte(word))
			}
		}
		mem.Close()
		if holds {
			found = append(found, p)
		}
	}
	return found, searched
}

// searchAnswers asks the API everything that could tell a key.
func (o *office) searchAnswers(t *testing.T, up *running) {
	t.Helper()
	for _, path := range []string{"/api/doctor", "/api/settings", "/api/computers", "/openapi.json", o.c.path("/events?limit=1000"), o.c.path("/runs")} {
		res, err := o.c.do(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			continue // not every door has every path
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(res.Body)
		res.Body.Close()
		if err != nil || holdsKey(b.Bytes()) {
			t.Errorf("%s tells a key: %v", path, err)
		}
	}
	if holdsKey([]byte(up.page() + o.must("doctor") + o.must("log", "--json"))) {
		t.Error("the page, the doctor or the log tells a key")
	}
}
