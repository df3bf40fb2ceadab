package connections_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/connections"
	"choiros/internal/control/modelgw"
	"choiros/internal/keyring/files"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/openai"
	"choiros/internal/model/wiretest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const secret = "sk-ant-given-on-the-page-4f1d9c"

// desk is a data folder and the connections over it.
type desk struct {
	*connections.Connections
	data string
	file config.Models
	keys *files.Keyring
	// faults are what the next changes of keys fail with.
	faults *faulty
}

func open(t *testing.T, data string, file config.Models) *desk {
	t.Helper()
	d := &desk{data: data, file: file, keys: files.New(filepath.Join(data, "models"))}
	d.faults = &faulty{Keeper: d.keys}
	var err error
	d.Connections, err = connections.Open(connections.Config{
		Data: data, File: file, Keys: d.faults, Now: time.Now, Key: d.describe, Provider: provider, Tester: provider,
		Source: func(p config.Provider) model.KeySource {
			if !p.HasKey() {
				return nil
			}
			return func(ctx context.Context) (string, error) { return d.keys.Read(ctx, p.Name) }
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) describe(p config.Provider) api.ModelKey {
	if !p.HasKey() {
		return api.ModelKey{Kind: "none", Present: true}
	}
	of := d.keys.Describe(context.Background(), p.Name)
	key := api.ModelKey{Kind: "kept", Where: of.Where, Present: of.Err == nil}
	if of.Err != nil {
		key.Problem = choir.ProblemOf(of.Err).Message
	}
	return key
}

func provider(p config.Provider, key model.KeySource) (model.Provider, error) {
	if p.Kind == "openai" {
		return openai.New(openai.Config{BaseURL: p.BaseURL, Key: key, Retry: attempt.Policy{Tries: 1}}), nil
	}
	return anthropic.New(anthropic.Config{BaseURL: p.BaseURL, Key: key, Retry: attempt.Policy{Tries: 1}}), nil
}

// try calls a model as the model gateway does, without its log.
func try(ctx context.Context, route modelgw.Route, _ map[string]modelgw.Price) (model.Response, error) {
	return route.Provider.Stream(ctx, model.Request{Model: route.Model, MaxTokens: 8, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "Say OK."}}},
	}}, func(model.Delta) {})
}

func serves(t *testing.T, wire wiretest.Wire, steps ...wiretest.Step) *wiretest.Server {
	t.Helper()
	s := wiretest.NewServer(wire, steps...)
	t.Cleanup(s.Close)
	return s
}

var good = wiretest.Step{Answer: model.Response{
	Model: "claude-sonnet-4-5", Stop: model.StopEnd, Usage: model.Usage{Input: 11, Output: 2}, Content: []model.Block{{Kind: model.Text, Text: "OK"}},
}}

func claude(address string) api.ConnectRequest {
	return api.ConnectRequest{Name: "anthropic", Kind: "anthropic", Address: address, Key: secret, Model: "claude-sonnet-4-5"}
}

// A run that began before the change still has the route of then.
func TestANewKeyGoesToNoFormerAddress(t *testing.T) {
	former, next := serves(t, wiretest.Anthropic, good), serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(former.URL), try); err != nil {
		t.Fatal(err)
	}
	route := d.Routing().Routes["director"]
	changed := claude(next.URL)
	changed.Key = secret + "-of-another"
	if _, err := d.Connect(t.Context(), changed, try); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t.Context(), route, nil); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a call along the former route: %v", err)
	}
	for _, r := range former.Requests() {
		if r.Header.Get("X-Api-Key") == changed.Key {
			t.Error("the former address was given the new key")
		}
	}
	if _, err := try(t.Context(), d.Routing().Routes["director"], nil); err != nil {
		t.Error(err)
	}
}

func TestOneChangeAtATime(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	_, err := d.Connect(t.Context(), claude(server.URL), func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error) {
		if _, err := d.Connect(ctx, claude(server.URL), try); choir.CodeOf(err) != choir.CodeBusy {
			t.Errorf("a second change: %v", err)
		}
		return try(ctx, route, prices)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAServiceThatAnswersIsInForceAndSurvivesARestart(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if m := d.Models(); m.Connected || len(d.Routing().Routes) != 0 {
		t.Fatalf("before: %+v", m)
	}
	done, err := d.Connect(t.Context(), claude(server.URL), try)
	if err != nil || done.Model != "claude-sonnet-4-5" || done.InputTokens != 11 {
		t.Fatalf("%+v, %v", done, err)
	}
	for range 2 {
		m := d.Models()
		if !m.Connected || !m.OnPage || m.Director != "anthropic/claude-sonnet-4-5" || m.Associate != m.Director {
			t.Errorf("in force: %+v", m)
		}
		if resp, err := try(t.Context(), d.Routing().Routes["director"], nil); err != nil || resp.Usage.Input != 11 {
			t.Errorf("the Director's call: %+v, %v", resp, err)
		}
		d = open(t, d.data, d.file) // a restart
	}
	for _, r := range server.Requests() {
		if r.Header.Get("X-Api-Key") != secret {
			t.Errorf("a request came with the key %q", r.Header.Get("X-Api-Key"))
		}
	}
	raw, err := os.ReadFile(filepath.Join(d.data, config.ConnectedFile))
	info, statErr := os.Stat(filepath.Join(d.data, "models", "anthropic"))
	if err != nil || statErr != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(raw), secret) {
		t.Errorf("mode %v, file %s: %v %v", info.Mode(), raw, err, statErr)
	}
}

func TestAFailedTestChangesNothingAndHoldsNoKey(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	refusing := serves(t, wiretest.Anthropic, wiretest.Step{Status: 401, Message: "the key {{auth}} is wrong"})
	for name, address := range map[string]string{"a dead address": "http://" + ln.Addr().String(), "a wrong key": refusing.URL} {
		d := open(t, t.TempDir(), config.Models{})
		began := time.Now()
		_, err := d.Connect(t.Context(), claude(address), try)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > connections.ReachTimeout {
			t.Errorf("%s is told after %s", name, took)
		}
		left, err := os.ReadDir(d.data)
		if err != nil || len(left) > 0 || d.Models().Connected {
			t.Errorf("%s left %v, %+v: %v", name, left, d.Models(), err)
		}
	}
}

func TestThePageComesBeforeTheFileUntilItIsRemoved(t *testing.T) {
	server := serves(t, wiretest.OpenAI, good)
	file := config.Models{Director: "house/owl", Associate: "house/owl", Providers: []config.Provider{{Name: "house", Kind: "openai", BaseURL: server.URL, Free: true}}}
	d := open(t, t.TempDir(), file)
	local := api.ConnectRequest{Name: "local", Kind: "openai", Address: server.URL, Model: "llama", Free: true, Uses: []string{"director"}}
	if _, err := d.Connect(t.Context(), local, try); err != nil {
		t.Fatal(err)
	}
	if m := d.Models(); m.Director != "local/llama" || m.Associate != "house/owl" || !m.OnPage {
		t.Errorf("in force: %+v", m)
	}
	uses := map[string][]string{}
	for _, p := range d.Providers() {
		uses[p.Set+" "+p.Name] = p.Uses
	}
	if !slices.Equal(uses["page local"], []string{"director"}) || !slices.Equal(uses["file house"], []string{"associate"}) {
		t.Errorf("uses: %v", uses)
	}
	settings := d.Override([]config.Setting{{Key: "models.director", Value: "house/owl", From: "choir.toml"}, {Key: "models.associate", Value: "house/owl", From: "choir.toml"}})
	if settings[0].Value != "local/llama" || filepath.Base(settings[0].From) != config.ConnectedFile || settings[1].From != "choir.toml" {
		t.Errorf("settings: %+v", settings)
	}
	if err := d.Disconnect(t.Context(), "local"); err != nil {
		t.Fatal(err)
	}
	if m := open(t, d.data, file).Models(); m.Director != "house/owl" || m.OnPage {
		t.Errorf("after the removal: %+v", m)
	}
	if err := d.Disconnect(t.Context(), "house"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("what the file set was removed: %v", err)
	}
}

func TestRemovingAServiceRemovesItsKey(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	if err := d.Disconnect(t.Context(), "anthropic"); err != nil {
		t.Fatal(err)
	}
	if names, err := d.keys.Names(t.Context()); err != nil || len(names) > 0 || d.Models().Connected {
		t.Errorf("left: %v, %+v, %v", names, d.Models(), err)
	}
}

func TestAKeptKeyIsNeverSentElsewhere(t *testing.T) {
	server, other := serves(t, wiretest.Anthropic, good), serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	if _, err := d.Connect(t.Context(), claude(server.URL), try); err != nil {
		t.Fatal(err)
	}
	without := claude(server.URL)
	without.Key, without.Model = "", "claude-haiku-4-5"
	if _, err := d.Connect(t.Context(), without, try); err != nil || d.Models().Director != "anthropic/claude-haiku-4-5" {
		t.Errorf("another model with the kept key: %v", err)
	}
	without.Address = other.URL
	for _, kind := range []string{"anthropic", "openai"} {
		without.Kind = kind
		var e *choir.Error
		if _, err := d.Connect(t.Context(), without, try); !errors.As(err, &e) || e.Path != "key" {
			t.Errorf("another address with the kept key, %s: %v", kind, err)
		}
	}
	if len(other.Requests()) > 0 {
		t.Error("the key was sent elsewhere")
	}
}

func TestWhatAPageMayNotConnect(t *testing.T) {
	for _, c := range []struct {
		name, field string
		change      func(*api.ConnectRequest)
	}{
		{"a name with a path", "name", func(r *api.ConnectRequest) { r.Name = "../owner" }},
		{"no key", "key", func(r *api.ConnectRequest) { r.Key = "" }},
		{"a key of two lines", "key", func(r *api.ConnectRequest) { r.Key = "sk-a\r\nHost: b" }},
		{"no address", "address", func(r *api.ConnectRequest) { r.Address = "models.example" }},
		{"a file", "address", func(r *api.ConnectRequest) { r.Address = "file:///etc/passwd" }},
		{"a password in the address", "address", func(r *api.ConnectRequest) { r.Address = "https://me:" + secret + "@models.example" }},
		{"a key in the address", "address", func(r *api.ConnectRequest) { r.Address = "https://models.example?key=" + secret }},
		{"the credentials of a cloud", "address", func(r *api.ConnectRequest) { r.Address = "http://169.254.169.254/latest" }},
		{"the same, in IPv6", "address", func(r *api.ConnectRequest) { r.Address = "http://[fe80::1]/" }},
		{"the same, of an interface", "address", func(r *api.ConnectRequest) { r.Address = "http://[fe80::1%25eth0]/" }},
		{"the same, of Amazon", "address", func(r *api.ConnectRequest) { r.Address = "http://[fd00:ec2::254]/latest" }},
		{"a key in the clear", "address", func(r *api.ConnectRequest) { r.Address = "http://10.0.0.1/v1" }},
		{"bedrock without a region", "region", func(r *api.ConnectRequest) { r.Kind = "bedrock" }},
		{"a model without a known price, untested", "price", func(r *api.ConnectRequest) { r.Model, r.Untested = "house-1", true }},
		{"a price below nothing", "models.price[0].input", func(r *api.ConnectRequest) { r.Model, r.Price = "house-1", &api.ModelPrice{Input: -1} }},
	} {
		d := open(t, t.TempDir(), config.Models{})
		r := claude("https://models.example")
		c.change(&r)
		_, err := d.Connect(t.Context(), r, func(context.Context, modelgw.Route, map[string]modelgw.Price) (model.Response, error) {
			t.Errorf("%s: the service was called", c.name)
			return model.Response{}, nil
		})
		var e *choir.Error
		if !errors.As(err, &e) || e.Code != choir.CodeInvalid || e.Path != c.field || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAModelIsTestedBeforeItsPriceIsAskedFor(t *testing.T) {
	server := serves(t, wiretest.Anthropic, good)
	d := open(t, t.TempDir(), config.Models{})
	r := claude(server.URL)
	r.Model = "house-1"
	_, err := d.Connect(t.Context(), r, func(ctx context.Context, route modelgw.Route, prices map[string]modelgw.Price) (model.Response, error) {
		if _, known := modelgw.PriceOf(prices, route); !known {
			t.Error("the test's own call would be refused for its price")
		}
		return try(ctx, route, prices)
	})
	var e *choir.Error
	if !errors.As(err, &e) || e.Path != "price" || !strings.Contains(e.Msg, "house-1 answered in") {
		t.Errorf("a model that answers, without a price: %v", err)
	}
	if d.Models().Connected {
		t.Error("it was connected without a price")
	}
}

func TestAFailedTestSaysWhatHelpsInTheForm(t *testing.T) {
	refusing := serves(t, wiretest.Anthropic, wiretest.Step{Status: 401, Message: "invalid x-api-key"})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	for address, want := range map[string]string{
		refusing.URL:                   "check the key in this form",
		"http://" + ln.Addr().String(): "start it there, or correct the address in this form",
	} {
		d := open(t, t.TempDir(), config.Models{})
		_, err := d.Connect(t.Context(), claude(address), try)
		if got := choir.ProblemOf(err); got == nil || got.Remedy != want {
			t.Errorf("at %s: %+v", address, got)
		}
	}
}

func TestAModelWithAGivenPriceIsConnectedWithoutATest(t *testing.T) {
	d := open(t, t.TempDir(), config.Models{})
	r := claude("https://models.example")
	r.Model, r.Price, r.Untested = "house-1", &api.ModelPrice{Input: 2, Output: 4}, true
	if _, err := d.Connect(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	routing := open(t, d.data, d.file).Routing()
	if p, known := modelgw.PriceOf(routing.Prices, routing.Routes["director"]); !known || p.Input != 2 || p.Output != 4 {
		t.Errorf("the price is %+v, %v", p, known)
	}
}

func TestARoleHasItsModelsInOrder(t *testing.T) {
	t.Parallel()
	warm := 0.5
	file := config.Models{
		Director: "claude/x",
		Roles: []config.Role{
			{Name: "director", Effort: "high"},
			{Name: "associate", Models: []string{"claude/a", "here/b"}, Temperature: &warm},
			{Name: "reviewer", Models: []string{"here/c"}},
		},
		Providers: []config.Provider{{Name: "claude", Kind: "anthropic", KeyEnv: "K", Free: true}, {Name: "here", Kind: "openai", BaseURL: "http://127.0.0.1:1", Free: true}},
	}
	d := open(t, t.TempDir(), file)
	routes := d.Routing().Routes
	director, associate, reviewer := routes["director"], routes["associate"], routes["reviewer"]
	if director.Model != "x" || director.Effort != "high" || len(director.Fallbacks) != 0 || reviewer.Model != "c" || reviewer.Provider.Name() != "openai" {
		t.Errorf("the routes are %+v", routes)
	}
	if associate.Model != "a" || len(associate.Fallbacks) != 1 || associate.Fallbacks[0].Model != "b" || *associate.Fallbacks[0].Temperature != warm {
		t.Errorf("the Associate's route is %+v", associate)
	}
	if shown := fmt.Sprint(d.Roles()); len(d.Roles()) != 3 || !strings.HasPrefix(shown, "[{director [claude/x] high <nil>} {associate [claude/a here/b]  0x") || !strings.HasSuffix(shown, " {reviewer [here/c]  <nil>}]") {
		t.Errorf("the roles are shown as %s", shown)
	}
	if m := d.Models(); !m.Connected || m.Associate != "claude/a" {
		t.Errorf("in force is %+v", m)
	}
	if checks := d.Check(t.Context()); len(checks) != 4 {
		t.Errorf("of two services %d checks: %+v", len(checks), checks)
	}
}
