package supervisor_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
	"choiros/internal/leak"
)

// token is the credential of the test's git server.
const token = "ghs_Tok3n/that+never=enters~0123456789"

// forge is a git server that speaks smart HTTP, wants a credential, and repeats it in what it
// answers.
type forge struct {
	*internet
	root   string
	wanted string        // the header that it demands
	pushes atomic.Int64  // requests for git-receive-pack
	closed atomic.Bool   // pushes are refused
	hold   chan struct{} // a push waits until it is closed; nil for none
	once   sync.Once     // closes hold
	held   chan struct{} // gets a value when one waits
	asked  sync.Map      // paths that were asked for with the credential
	roots  *x509.CertPool
	ca     []byte                        // the same, in PEM
	beside atomic.Pointer[http.ServeMux] // serves the other hosts; nil for none
	to     string                        // where the server of another process listens; "" for its own
}

// newForge starts the server with the empty bare repositories.
func newForge(t *testing.T, repositories ...string) *forge {
	t.Helper()
	f := &forge{internet: &internet{}, root: t.TempDir(), wanted: "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+token))}
	authority, ca, _ := certify(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	_, leaf, key := certify(t, &x509.Certificate{DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature}, authority.cert, authority.key)
	f.roots = x509.NewCertPool()
	f.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca})
	f.roots.AppendCertsFromPEM(f.ca)
	for _, name := range repositories {
		f.git(t, "git init -q --bare -b main "+name+" && git -C "+name+" config http.receivepack true")
		f.git(t, "rm -rf w && git clone -q "+name+" w 2>/dev/null && cd w && echo hello > greeting && git add . && git -c user.name=t -c user.email=t@t commit -qm first && git push -q origin HEAD:main")
	}
	dir, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(dir)), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + f.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=me", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Logger: log.New(io.Discard, "", 0),
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(backend, w, r) })
	f.plain, f.tls = httptest.NewServer(serve), httptest.NewUnstartedServer(serve)
	f.tls.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf}, PrivateKey: key}}}
	f.tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.tls.StartTLS()
	t.Cleanup(func() {
		f.letGo()
		f.tls.CloseClientConnections()
		f.plain.Close()
		f.tls.Close()
	})
	return f
}

// serve answers a request that has the credential by git's own server.
func (f *forge) serve(backend http.Handler, w http.ResponseWriter, r *http.Request) {
	if mux := f.beside.Load(); mux != nil && r.Host != "git.test" {
		mux.ServeHTTP(w, r)
		return
	}
	said := r.Header.Get("Authorization")
	w.Header().Set("X-Echo", said)
	w.Header().Set("Set-Cookie", "session="+token)
	if r.URL.Path == "/api/thing" && said == "Bearer "+token {
		fmt.Fprintf(w, "you are %s, %s\n", said, base64.StdEncoding.EncodeToString([]byte(said)))
		return
	}
	if r.URL.Path == "/api/slow" && said == "Bearer "+token {
		f.held <- struct{}{}
		<-r.Context().Done() // until who asks is gone
		return
	}
	if said != f.wanted {
		w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.asked.Store(r.Host+r.URL.Path, true)
	switch {
	case strings.HasPrefix(r.URL.Path, "/echo.git/"):
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "no: %s %s %x %s\n", token, said, token, base64.StdEncoding.EncodeToString([]byte("x"+token)))
		return
	case strings.HasPrefix(r.URL.Path, "/moved.git/"):
		http.Redirect(w, r, "https://outside.test/?was="+token, http.StatusFound)
		return
	case strings.HasSuffix(r.URL.Path, "/git-receive-pack"):
		f.pushes.Add(1)
		if f.closed.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if f.hold != nil {
			f.held <- struct{}{}
			<-f.hold
		}
	}
	r.Header.Del("Authorization") // the CGI would have it as a variable
	// Git's backend waits without end for what is missing of a body.
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	backend.ServeHTTP(w, r)
}

// letGo lets the pushes that wait go on.
func (f *forge) letGo() {
	if f.hold != nil {
		f.once.Do(func() { close(f.hold) })
	}
}

// git executes a line in the server's folder and returns what it prints.
func (f *forge) git(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = f.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// config is the configuration of a control plane with the data folder, and a policy that lets the git host out.
func (f *forge) config(t *testing.T, data, template string) supervisor.Config {
	t.Helper()
	cfg := controltest.Config(t, data)
	cfg.Outside = f.outside()
	cfg.Outside.Roots = f.roots
	if f.to != "" {
		cfg.Outside.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", f.to)
		}
	}
	cfg.File.Egress = config.Egress{Mode: "allowlist", Allowlist: []config.EgressHost{{Host: "git.test"}}}
	cfg.File.Git.RemoteTemplate = template
	return cfg
}

// partsOfOnly returns the API's parts of the only computer.
func partsOfOnly(t *testing.T, p *controltest.Plane) (api.Computer, *computer.Computer) {
	t.Helper()
	c := p.Computers()[0]
	parts, err := p.Edge().Computer(c.ID())
	if err != nil {
		t.Fatal(err)
	}
	return parts, c
}

// bind keeps the token for the paths of a host.
func bind(t *testing.T, p *controltest.Plane, host string, paths ...string) {
	t.Helper()
	parts, c := partsOfOnly(t, p)
	_, err := parts.Vault.Set(t.Context(), choir.RoleCLI, "forge", token, choir.VaultBinding{Use: choir.VaultForGit, Host: host, Port: 443, Paths: paths, Computer: c.ID(), User: "me"})
	if err != nil {
		t.Fatal(err)
	}
}

// noLeak demands that the token is in none of the places where it must not be.
func noLeak(t *testing.T, p *controltest.Plane, data string) {
	t.Helper()
	for _, hit := range leaks(t, p, data) {
		t.Errorf("the credential is in %s", hit)
	}
}

// leaks lists where the token is: events, processes, the memory of the sandboxes, their files,
// what the timeline shows of their changes, and everything in the data folder, which has the log, the
// content of checkpoints and choir's own log.
func leaks(t *testing.T, p *controltest.Plane, data string) (found []string) {
	t.Helper()
	secrets := leak.New(map[string]string{"forge": token})
	look := func(place string, r io.Reader) {
		hits, err := secrets.Find(r)
		if err != nil {
			return // a process that has ended, a socket
		}
		for _, h := range hits {
			found = append(found, fmt.Sprintf("%s (%s)", place, h.Form))
		}
	}
	_, c := partsOfOnly(t, p)
	var first uint64 // of a project, which has a snapshot
	for e, err := range c.Store().Events(t.Context(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 && e.Type == choir.TypeRepoAdded {
			first = e.Seq
		}
		look("event "+string(e.Type), bytes.NewReader(e.Payload))
	}
	head, _ := c.Store().Head()
	changed, err := c.Moments().DiffFiles(t.Context(), first, head)
	if err != nil {
		t.Fatal(err)
	}
	diffs, _, err := c.Moments().TextDiff(t.Context(), changed)
	if err != nil || len(diffs) == 0 {
		t.Fatalf("%d diffs: %v", len(diffs), err)
	}
	for _, d := range diffs {
		look("the diff of "+d.Path, strings.NewReader(d.Diff))
	}
	found = append(found, memoryWith(token, base64.StdEncoding.EncodeToString([]byte("me:"+token)))...)
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, one := range processes {
		for _, name := range []string{"cmdline", "environ"} {
			if raw, err := os.ReadFile(filepath.Join(one, name)); err == nil {
				look(name+" of a process", bytes.NewReader(raw))
			}
		}
	}
	_ = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if f, err := os.Open(path); err == nil {
			look(strings.TrimPrefix(path, data), f)
			f.Close()
		}
		return nil
	})
	return found
}

// TestACredentialNeverEntersTheSandbox clones a repository that wants a credential, has a task
// commit and push to it, and holds that the task can neither read the credential nor use it for
// anything else.
func TestACredentialNeverEntersTheSandbox(t *testing.T) {
	f := newForge(t, "mine.git", "other.git", "read.git")
	data := newData(t)
	p := controltest.StartWith(t, f.config(t, data, ""))
	bind(t, p, "git.test", "/mine.git", "/echo.git", "/moved.git")
	parts, _ := partsOfOnly(t, p)
	clone := func(name, url, credential string) error {
		ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
		defer cancel()
		_, err := parts.Repos.Clone(ctx, choir.RoleCLI, name, url, credential)
		return err
	}
	for _, c := range []struct{ name, url, credential, says string }{
		{"other", "https://git.test/other.git", "forge", "is not for"},
		{"other", "https://npm.test/mine.git", "forge", "is not for"},
		{"other", "https://git.test/mine.git", "none", "no entry none"},
		{"other", "https://me:pw@git.test/mine.git", "", "is not the address"},
		{"other", "https://git.test/a/../mine.git", "forge", "is not the address"},
		{"other", "http://git.test/mine.git", "forge", "is not the address"},
		{"other", "https://npm.test/mine.git", "", "which does not have npm.test:443"},
		{"other", "https://git.test/mine.git", "", "wants a credential"},
		{"echo", "https://git.test/echo.git", "forge", "***"},
		{"moved", "https://git.test/moved.git", "forge", "the repository is elsewhere"},
	} {
		if err := clone(c.name, c.url, c.credential); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "ghs_") || strings.Contains(err.Error(), `\n`) {
			t.Errorf("%s with %q: %v, want %q", c.url, c.credential, err, c.says)
		}
	}
	if err := clone("mine", "https://git.test/mine.git", "forge"); err != nil {
		t.Fatal(err)
	}
	list, err := parts.Repos.List(t.Context())
	if err != nil || len(list) != 1 || list[0].URL != "https://git.test/mine.git" || list[0].Credential != "forge" || list[0].Files != 1 || list[0].Head == "" {
		t.Errorf("listed %+v, %v", list, err)
	}
	task, r := executeTask(t, p, nil,
		"set -e; cd workspace/mine; cat greeting; echo more >> greeting; git -c user.name=t -c user.email=t@t commit -qam second; git push -q origin HEAD:main; for i in 1 2 3 4; do git push -q origin HEAD:b$i & done; wait; git fetch -q; git remote -v",
		// A hostile task asks for everything that it can think of.
		"g=http://git.choir.internal; for u in https://git.test/mine.git $g/npm.test/mine.git $g/git.test/mine.git.git $g/git.test:80/mine.git $g/git.test/mine.git%2f..%2fother.git $g/git.test/other.git; do git ls-remote $u && exit 9; done; true",
		"g=http://git.choir.internal/git.test; env; git config --list; curl -sSi $g/mine.git/config; curl -sSi -H 'Accept-Encoding: gzip' -H 'Authorization: Basic eDp5' -H 'Cookie: a=b' \"$g/mine.git/info/refs?service=git-receive-pack\"; curl -sSi -X POST -d x $g/mine.git/HEAD; curl -sSi \"$g/mine.git/info/refs?service=git-upload-pack&x=1\"; curl -sSi $g/mine.git/info/refs?service=git-upload-pack | head -c 300",
	)
	if r.Status != choir.StatusOK || len(r.CommandsRun) != 3 {
		t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
	}
	for i, says := range []string{"hello", "the owner has not named it", "001e# service=git-upload-pack"} {
		out := r.CommandsRun[i]
		if all := out.StdoutTail + out.StderrTail; out.ExitCode != 0 || !strings.Contains(all, says) || strings.Contains(all, "Set-Cookie") || strings.Contains(all, "X-Echo") {
			t.Errorf("command %d ended with %d: %s", i, out.ExitCode, all)
		}
	}
	if n := f.git(t, "git -C mine.git for-each-ref --format=x 'refs/heads/b*' | wc -l"); n != "4" {
		t.Errorf("of four pushes at once %s are on the host", n)
	}
	if log := f.git(t, "git -C mine.git log --format=%s main"); log != "second\nfirst" {
		t.Errorf("the host has %q", log)
	}
	f.asked.Range(func(key, _ any) bool {
		if s := key.(string); !strings.HasPrefix(s, "git.test/mine.git/") && !strings.HasPrefix(s, "git.test/echo.git/") && !strings.HasPrefix(s, "git.test/moved.git/") && s != "git.test/read.git/info/refs" && s != "git.test/read.git/git-upload-pack" {
			t.Errorf("the credential was sent to %s", s)
		}
		return true
	})
	var used int
	for _, e := range passages(t, p, task) {
		if e.Credential == "forge" && strings.HasPrefix(e.Path, "/mine.git/") {
			used++
		}
	}
	if used == 0 {
		t.Error("no event says that the credential was used")
	}
	f.keyToFetchOnly(t, p)
	f.keyInAHeader(t, p)
	noLeak(t, p, data)
	plantInMemory(t, p, data)
	plantAndFind(t, p, data)
}

// keyToFetchOnly has a task push with a key that is bound to fetching, in git's way and by hand, and
// holds that it can fetch with it and that no push reaches the host.
func (f *forge) keyToFetchOnly(t *testing.T, p *controltest.Plane) {
	t.Helper()
	parts, c := partsOfOnly(t, p)
	b := choir.VaultBinding{Use: choir.VaultForGit, Host: "git.test", Port: 443, Paths: []string{"/read.git"}, Methods: []string{"fetch"}, Computer: c.ID(), User: "me"}
	_, err := parts.Vault.Set(t.Context(), choir.RoleCLI, "reader", token, b)
	if err == nil {
		_, err = parts.Repos.Clone(t.Context(), choir.RoleCLI, "read", "https://git.test/read.git", "reader")
	}
	if err != nil {
		t.Fatal(err)
	}
	pushes := f.pushes.Load()
	_, r := executeTask(t, p, nil,
		"cd workspace/read && git fetch -q && echo more >> greeting && git -c user.name=t -c user.email=t@t commit -qam second && git push origin HEAD:main && exit 9; "+
			"g=http://git.choir.internal/git.test/read.git; curl -sS -w ' %{http_code}' \"$g/info/refs?service=git-receive-pack\"; printf 0000 | curl -sS -w ' %{http_code}' -H 'Content-Type: application/x-git-receive-pack-request' --data-binary @- $g/git-receive-pack; "+
			"printf 0000 | curl -sS -o /dev/null -w ' %{http_code}' -H 'Content-Type: application/x-git-upload-pack-request' -H 'Git-Protocol: version=2' --data-binary @- $g/git-upload-pack")
	if len(r.CommandsRun) != 1 {
		t.Fatalf("%s %s", r.Status, r.Summary)
	}
	out := r.CommandsRun[0].StdoutTail + r.CommandsRun[0].StderrTail
	if strings.Count(out, "is not for git.test:443/read.git") < 2 || strings.Count(out, " 403") < 2 || !strings.HasSuffix(strings.TrimSpace(r.CommandsRun[0].StdoutTail), " 200") {
		t.Errorf("the task is answered: %s", out)
	}
	if n := f.pushes.Load(); n != pushes || f.git(t, "git -C read.git log --format=%s --all") != "first" {
		t.Errorf("%d pushes reached the host", n-pushes)
	}
	f.asked.Range(func(key, _ any) bool {
		if s := key.(string); s == "git.test/read.git/git-receive-pack" {
			t.Errorf("the credential was sent to %s", s)
		}
		return true
	})
}

// keyInAHeader has a task ask a host that wants a key in a header, and others, and holds that the key
// goes to the bound host, path and method alone.
func (f *forge) keyInAHeader(t *testing.T, p *controltest.Plane) {
	t.Helper()
	parts, c := partsOfOnly(t, p)
	b := choir.VaultBinding{Use: choir.VaultForHeader, Host: "git.test", Port: 443, Paths: []string{"/api"}, Methods: []string{"GET"}, Computer: c.ID(), Header: "authorization", Prefix: "Bearer "}
	if _, err := parts.Vault.Set(t.Context(), choir.RoleCLI, "api", token, b); err != nil {
		t.Fatal(err)
	}
	task, r := executeTask(t, p, nil,
		"g=http://key.choir.internal; curl -sSi -H 'Authorization: mine' --compressed $g/git.test/api/thing?x=1; "+
			"for u in $g/git.test/apis $g/git.test/other $g/npm.test/api $g/git.test:80/api $g/git.test/api/../other '-X POST '$g/git.test/api; do curl -sS --path-as-is -o /dev/null -w '%{http_code} ' $u; done")
	if len(r.CommandsRun) != 1 {
		t.Fatalf("%s %s", r.Status, r.Summary)
	}
	out := r.CommandsRun[0].StdoutTail + r.CommandsRun[0].StderrTail
	if !strings.Contains(out, "you are Bearer *****") || !strings.Contains(out, "403 403 403 403 403 403 ") || strings.Contains(out, "X-Echo") || strings.Contains(out, "ghs_") {
		t.Errorf("the task is answered: %s", out)
	}
	passed := passages(t, p, task)
	if len(passed) != 1 || passed[0].Credential != "api" || passed[0].Path != "/api/thing" {
		t.Errorf("recorded %+v", passed)
	}
	// The same by the host's own name, to which a program gives no key, or one of its own.
	task, r = executeTask(t, p, nil, "curl -sSi -H 'Authorization: mine' --compressed https://git.test/api/thing; curl -sS --noproxy '*' https://git.test/api/thing; "+
		"for u in https://git.test/other '-X POST https://git.test/api/thing' '-H X-HTTP-Method-Override:POST https://git.test/api/thing'; do curl -sS -o /dev/null -w '%{http_code} ' $u; done")
	if len(r.CommandsRun) != 1 {
		t.Fatalf("%s %s", r.Status, r.Summary)
	}
	out = r.CommandsRun[0].StdoutTail + r.CommandsRun[0].StderrTail
	if strings.Count(out, "you are Bearer *****") != 2 || !strings.Contains(out, "401 401 401 ") || strings.Contains(out, "X-Echo: B") || strings.Contains(out, "ghs_") {
		t.Errorf("the task is answered: %s", out)
	}
	var used []string
	for _, e := range passages(t, p, task) {
		used = append(used, e.Credential)
	}
	slices.Sort(used)
	if got := strings.Join(used, " "); got != "   api api" {
		t.Errorf("recorded the keys %q", got)
	}
	for _, r := range parts.Reach().Rules {
		if want := map[string]string{"git.test": "key"}[r.Host]; r.Opened != want {
			t.Errorf("the owner is told %+v", r)
		}
	}
	if c := checkOf(t, p.System, "keys of "+c.Name()); !c.OK || !strings.Contains(c.Detail, "git.test:443") {
		t.Errorf("the doctor says %+v", c)
	}
}

// memoryWith lists the processes of this test's sandboxes whose memory has one of the words. It
// lists none where only root may read memory and the test is not root.
func memoryWith(words ...string) (found []string) {
	own, _ := os.Readlink("/proc/self/ns/pid")
	processes, _ := filepath.Glob("/proc/[0-9]*")
	var buf []byte
	for _, one := range processes {
		if in, err := os.Readlink(one + "/ns/pid"); err != nil || in == own || !descends(one) {
			continue
		}
		// A process that has ended meanwhile has no memory.
		maps, _ := os.ReadFile(one + "/maps")
		mem, err := os.Open(one + "/mem")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(maps)) {
			var from, to int64
			var mode string
			if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") {
				continue
			}
			size := min(to-from, 64<<20)
			buf = slices.Grow(buf[:0], int(size))
			raw := buf[:size]
			n, _ := mem.ReadAt(raw, from) // parts of it cannot be read
			for _, word := range words {
				if bytes.Contains(raw[:n], []byte(word)) {
					name, _ := os.ReadFile(one + "/comm")
					found = append(found, fmt.Sprintf("the memory of %s in a sandbox", bytes.TrimSpace(name)))
				}
			}
		}
		mem.Close()
	}
	return found
}

// descends reports whether this process is an ancestor of the one in a folder of /proc.
func descends(folder string) bool {
	for range 20 {
		status, err := os.ReadFile(folder + "/status")
		if err != nil {
			return false
		}
		_, after, _ := strings.Cut(string(status), "\nPPid:")
		parent, _, _ := strings.Cut(strings.TrimSpace(after), "\n")
		if parent == strconv.Itoa(os.Getpid()) {
			return true
		}
		folder = "/proc/" + parent
	}
	return false
}

// plantInMemory has a program in the sandbox hold the token until it is found there.
func plantInMemory(t *testing.T, p *controltest.Plane, data string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("SKIP the memory of sandboxes was not searched: only root may read it")
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		executeTask(t, p, nil, "cd workspace/mine; held=$(printf '%s%s' '"+token[:9]+"' '"+token[9:]+"'); until test -e found; do sleep 0.1; done; rm found")
	}()
	ctx, cancel := context.WithTimeout(t.Context(), controltest.Patience)
	defer cancel()
	for len(memoryWith(token)) == 0 {
		if ctx.Err() != nil {
			t.Error("what a program in the sandbox holds is not found in memory")
			break
		}
	}
	_, c := partsOfOnly(t, p)
	if err := os.WriteFile(filepath.Join(data, "computers", string(c.ID()), "associate", "workspace", "workspace", "mine", "found"), nil, 0o644); err != nil {
		t.Error(err)
	}
	<-over
}

// plantAndFind plants the token in each place and holds that it is found there, in each form.
func plantAndFind(t *testing.T, p *controltest.Plane, data string) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte("me:" + token))
	_, r := executeTask(t, p, nil, "cd workspace/mine && echo "+encoded+" > planted && printf %s '"+token+"' > planted.raw; git add . && git -c user.name=t -c user.email=t@t commit -qm planted")
	if r.Status != choir.StatusOK {
		t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
	}
	cmd := exec.Command("sh", "-c", "read x", token)
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "choir.log"), []byte("POST /?key="+strings.ToUpper(fmt.Sprintf("%x", token))), 0o600); err != nil {
		t.Fatal(err)
	}
	found := strings.Join(leaks(t, p, data), "\n")
	in.Close()
	_ = cmd.Wait()
	for _, place := range []string{"event task.dispatched (raw)", "the diff of workspace/mine/planted.raw (raw)", "/blobs/", "cmdline of a process (raw)", "workspace/mine/planted (base64)", "workspace/mine/planted.raw (raw)", "choir.log (hex)", "/journal/", "store.sqlite"} {
		if !strings.Contains(found, place) {
			t.Errorf("what was planted is not found in %q: %s", place, found)
		}
	}
}
