package sprites_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
	"choiros/internal/sandbox/sprites"
	"choiros/internal/sandbox/sprites/spritestest"
)

// rig is a server of a test's own, and the drivers of one data folder.
type rig struct {
	*spritestest.Server
	dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	if why := spritestest.Missing(); why != "" {
		t.Skip("there is no server with sprites: ", why)
	}
	r := &rig{Server: spritestest.New(), dir: sandboxtest.DataDir(t)}
	t.Cleanup(r.Close)
	return r
}

// driver returns a driver, with a carrier of its requests; nil for the usual one.
func (r *rig) driver(t *testing.T, carrier http.RoundTripper) *sprites.Driver {
	t.Helper()
	d := sprites.New(sprites.Config{StateDir: r.dir, URL: r.URL, Token: token, Transport: carrier, BootTimeout: 3 * time.Minute, Orphan: time.Hour})
	t.Cleanup(func() { d.Close() })
	return d
}

func (r *rig) spec(t *testing.T) sandbox.Spec {
	t.Helper()
	spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
	spec.Mounts[0] = sandbox.Workspace("", sandbox.TransportCopy)
	return spec
}

func (r *rig) create(t *testing.T, d *sprites.Driver) sandbox.Sandbox {
	t.Helper()
	b, err := d.Create(t.Context(), r.spec(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// only returns the name of the server's only sprite.
func (r *rig) only(t *testing.T) string {
	t.Helper()
	names := r.Sprites()
	if len(names) != 1 {
		t.Fatalf("there are the sprites %v", names)
	}
	return names[0]
}

func (r *rig) empty(t *testing.T) {
	t.Helper()
	if names := r.Sprites(); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// carrier is a RoundTripper that fails the requests for which fail says so, and notes all.
type carrier struct {
	fail func(*http.Request) bool

	mu        sync.Mutex // guards addresses
	addresses []string
}

// RoundTrip implements http.RoundTripper.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.addresses = append(c.addresses, r.URL.String())
	fail := c.fail != nil && c.fail(r)
	c.mu.Unlock()
	if fail {
		return nil, errors.New("the cable is cut")
	}
	return http.DefaultTransport.RoundTrip(r)
}

// CloseIdleConnections closes those of the transport that this one uses.
func (c *carrier) CloseIdleConnections() {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestTheNetworkIsClosed: a sprite may reach nothing before anything of a user's is in it,
// and no request has the token in its address.
func TestTheNetworkIsClosed(t *testing.T) {
	r, seen := newRig(t), &carrier{}
	d := r.driver(t, seen)
	b := r.create(t, d)
	if probed := d.Probe(t.Context()).Level; !reflect.DeepEqual(probed, b.Level()) {
		t.Errorf("a probe says %+v, and the sandbox %+v", probed, b.Level())
	}
	if got := r.Policy(r.only(t)); got != `{"rules":[{"domain":"*","action":"deny"}]}` {
		t.Errorf("the policy of the network is %s", got)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	r.empty(t)
	policy, upload := -1, -1
	for i, address := range seen.addresses {
		if strings.Contains(address, spritestest.Token) {
			t.Errorf("the token is in %s", address)
		}
		if strings.HasSuffix(address, "/policy/network") {
			policy = i
		}
		if strings.Contains(address, "/fs/write") {
			upload = i
		}
	}
	if policy < 0 || upload < policy {
		t.Errorf("of %d requests the policy is %d and the upload %d", len(seen.addresses), policy, upload)
	}
}

// TestASandboxOutlivesItsConnections: after a cut the same choir-init is reached again, and
// its end is still noticed.
func TestASandboxOutlivesItsConnections(t *testing.T) {
	r := newRig(t)
	b := r.create(t, r.driver(t, nil))
	mux := guest.NewMux(b.Dial)
	defer mux.Close()
	client := guest.NewClient(mux.Dial)
	if _, err := client.WriteFile(t.Context(), "before", 0, strings.NewReader("the cut")); err != nil {
		t.Fatal(err)
	}
	stream, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for range 3 {
		r.Cut(r.only(t))
	}
	if _, err := io.ReadAll(stream); err == nil || !strings.Contains(err.Error(), "was cut") {
		t.Errorf("a stream whose connection was cut says %v", err)
	}
	// The request during the cut may fail; those after it do not.
	if _, err = client.Stat(t.Context(), "before"); err != nil {
		_, err = client.Stat(t.Context(), "before")
	}
	if err != nil {
		t.Errorf("after the cut: %v", err)
	}
	select {
	case <-b.Done():
		t.Fatal("a cut connection is taken for the end")
	default:
	}
	client.Run(t.Context(), guest.ExecSpec{Argv: []string{"/bin/sh", "-c", "kill -TERM 1; sleep 60"}}, nil, 1<<10) // its connection ends with it
	<-b.Done()
	r.empty(t)
}

// writeFile replaces a file in a sprite.
func (r *rig) writeFile(t *testing.T, sprite, file, content string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.URL+"/v1/sprites/"+sprite+"/fs/write?path="+url.QueryEscape(file), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+spritestest.Token)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the file API answers %s", answer.Status)
	}
}

// TestAWatcherThatFailsIsNotTheEnd: a program that waits for the end of the sandbox and fails, as
// for lack of memory in the sprite, deletes no sprite; the sandbox's end is noticed all the same.
func TestAWatcherThatFailsIsNotTheEnd(t *testing.T) {
	r, watchers := newRig(t), make(chan struct{}, 100)
	b := r.create(t, r.driver(t, &carrier{fail: func(req *http.Request) bool {
		if strings.Contains(req.URL.RawQuery, "watch.sh") {
			watchers <- struct{}{}
		}
		return false
	}}))
	r.writeFile(t, r.only(t), "/var/lib/choir/watch.sh", "exit 2\n")
	r.Cut(r.only(t))
	for range 3 {
		select {
		case <-watchers:
		case <-b.Done():
			t.Fatal("the failure of a watcher is taken for the end")
		}
	}
	client := guest.NewClient(b.Dial)
	if _, err := client.Hello(t.Context()); err != nil {
		t.Errorf("it does not live on: %v", err)
	}
	client.Run(t.Context(), guest.ExecSpec{Argv: []string{"/bin/sh", "-c", "kill -TERM 1; sleep 60"}}, nil, 1<<10) // its connection ends with it
	<-b.Done()
	r.empty(t)
}

// TestASpriteThatIsGoneIsTheEnd, whoever has deleted it.
func TestASpriteThatIsGoneIsTheEnd(t *testing.T) {
	r := newRig(t)
	d := r.driver(t, nil)
	b := r.create(t, d)
	r.End(r.only(t))
	<-b.Done()
	if _, err := b.Dial(t.Context()); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("dial says %v", err)
	}
	if _, err := b.Usage(t.Context()); err == nil {
		t.Error("it uses something")
	}
	if _, err := d.Recover(t.Context(), b.Handle()); sandbox.VerdictOf(err) != sandbox.Gone {
		t.Errorf("recover says %v", err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestASpriteOfAnOrdinaryUser: where programs are not run by root, the parts that need it are
// run by sudo, also after the sandbox was recovered.
func TestASpriteOfAnOrdinaryUser(t *testing.T) {
	r := newRig(t)
	r.RunAsUser()
	d := r.driver(t, nil)
	h := r.create(t, d).Handle()
	d.Close()
	b, err := r.driver(t, nil).Recover(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := b.Usage(t.Context()); err != nil || u.Processes != 1 || u.MemoryBytes == 0 {
		t.Errorf("it uses %+v, %v", u, err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	r.empty(t)
}

// TestFullIsBusy: an account that has as many sprites as it may says so.
func TestFullIsBusy(t *testing.T) {
	r := newRig(t)
	d := r.driver(t, nil)
	b := r.create(t, d)
	r.Allow(1)
	if _, err := d.Create(t.Context(), r.spec(t)); choir.CodeOf(err) != choir.CodeBusy || !strings.Contains(err.Error(), "as many sprites as it may") {
		t.Errorf("it says %v", err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestACreateThatFailsDeletesItsSprite, at whichever request it fails; and one that cannot
// be deleted is deleted by the next driver, which leaves alone what lives and what is not
// its own.
func TestACreateThatFailsDeletesItsSprite(t *testing.T) {
	r := newRig(t)
	lives := r.create(t, r.driver(t, nil))
	parts := []string{"/policy/network", "/fs/write", "start", "join"}
	if testing.Short() {
		parts = parts[2:]
	}
	for _, part := range parts {
		failing := &carrier{fail: func(req *http.Request) bool {
			return strings.Contains(req.URL.Path, part) || strings.Contains(req.URL.RawQuery, part)
		}}
		if _, err := r.driver(t, failing).Create(t.Context(), r.spec(t)); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "the cable is cut") {
			t.Errorf("%s: it says %v", part, err)
		}
		r.only(t)
	}
	cut := &carrier{}
	cut.fail = func(req *http.Request) bool {
		return strings.Contains(req.URL.Path, "/fs/write") || req.Method == http.MethodDelete
	}
	if _, err := r.driver(t, cut).Create(t.Context(), r.spec(t)); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("it says %v", err)
	}
	if names := r.Sprites(); len(names) != 2 {
		t.Fatalf("there are the sprites %v", names)
	}
	elsewhere := *r
	elsewhere.dir = sandboxtest.DataDir(t)
	foreign := elsewhere.create(t, elsewhere.driver(t, nil))
	next := r.driver(t, nil)
	b := r.create(t, next) // which sweeps first
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(r.Sprites()) > 3 { // the sweep goes on in the background
		<-tick.C
	}
	for _, kept := range []sandbox.Sandbox{lives, foreign, b} {
		if _, err := guest.NewClient(kept.Dial).Hello(t.Context()); err != nil {
			t.Errorf("one that lives was deleted: %v", err)
		}
		if err := kept.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
	r.empty(t)
}

// TestWhatCannotBeAskedIsUnknown: a service that refuses or does not answer says nothing of
// a sandbox, which lives on.
func TestWhatCannotBeAskedIsUnknown(t *testing.T) {
	r := newRig(t)
	d := r.driver(t, nil)
	h := r.create(t, d).Handle()
	d.Close()
	wrong := sprites.New(sprites.Config{StateDir: r.dir, URL: r.URL, Token: func(context.Context) (string, error) { return "wrong", nil }})
	defer wrong.Close()
	cut := r.driver(t, &carrier{fail: func(*http.Request) bool { return true }})
	deaf := r.driver(t, &carrier{fail: func(req *http.Request) bool { return strings.Contains(req.URL.Path, "/exec") }})
	for name, d := range map[string]*sprites.Driver{"a wrong token": wrong, "no network": cut, "no programs": deaf} {
		if _, err := d.Recover(t.Context(), h); sandbox.VerdictOf(err) != sandbox.Unknown {
			t.Errorf("%s: recover says %v", name, err)
		}
	}
	other := sprites.New(sprites.Config{StateDir: r.dir, URL: "http://127.0.0.1:1", Token: token})
	defer other.Close()
	if _, err := other.Recover(t.Context(), h); sandbox.VerdictOf(err) != sandbox.NotMine {
		t.Errorf("a handle of another service: %v", err)
	}
	found, err := r.driver(t, nil).Recover(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	r.empty(t)
}

// TestProbesSayWhatIsMissing, each with what to do.
func TestProbesSayWhatIsMissing(t *testing.T) {
	r := newRig(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }))
	defer page.Close()
	for _, c := range []struct {
		name, check, remedy string
		config              sprites.Config
	}{
		{"no token", "token", "sprites.dev/account", sprites.Config{URL: r.URL}},
		{"a wrong token", "service", "sprites.dev/account", sprites.Config{URL: r.URL, Token: func(context.Context) (string, error) { return "wrong", nil }}},
		{"no service", "service", "sprites.url", sprites.Config{URL: "http://127.0.0.1:1", Token: token}},
		{"another service", "service", "sprites.url", sprites.Config{URL: page.URL, Token: token}},
	} {
		c.config.StateDir = r.dir
		d := sprites.New(c.config)
		defer d.Close()
		report := d.Probe(t.Context())
		if report.Usable {
			t.Errorf("%s: it is called usable", c.name)
		}
		for _, check := range report.Checks {
			if check.Name == c.check && (check.OK || !strings.Contains(check.Remedy, c.remedy)) {
				t.Errorf("%s: %+v", c.name, check)
			}
		}
		if _, err := d.Create(t.Context(), r.spec(t)); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%s: create says %v", c.name, err)
		}
	}
	if report := r.driver(t, nil).Probe(t.Context()); !report.Usable {
		t.Errorf("%+v", report)
	}
	if r.Made() > 0 {
		t.Error("a probe made a sprite, which costs money")
	}
}

// TestRequiredLimitsAreRefused, because no cgroup holds them.
func TestRequiredLimitsAreRefused(t *testing.T) {
	r := newRig(t)
	spec := r.spec(t)
	spec.RequireLimits = true
	if _, err := r.driver(t, nil).Create(t.Context(), spec); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "require_limits") {
		t.Errorf("it says %v", err)
	}
	r.empty(t)
}
