package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/control/controltest"
)

// stranger is a user to whom no computer of the control plane belongs.
var stranger = choir.DeriveID("", "stranger")

// loginStranger returns the cookie of a session of a stranger, and its principal.
func loginStranger(t *testing.T, p *controltest.Plane) (*http.Cookie, auth.Principal) {
	t.Helper()
	token := must(p.Auth().NewLink(stranger))(t)
	cookie := must(p.Auth().Login(token))(t)
	r := must(http.NewRequestWithContext(t.Context(), "GET", "/", nil))(t)
	r.AddCookie(cookie)
	return cookie, must(p.Auth().Check(r))(t)
}

func cookieHeader(c *http.Cookie) string { return c.Name + "=" + c.Value }

// TestAStrangerFindsNothing tries every route that is served or described with the session
// of another user, on a computer that there is.
func TestAStrangerFindsNothing(t *testing.T) {
	p := controltest.Start(t)
	id := p.Computers()[0].ID()
	cookie, _ := loginStranger(t, p)
	routes := slices.Clone(p.API.Routes())
	for path, ops := range openDocument(t, p).Paths {
		for method := range ops {
			routes = append(routes, strings.ToUpper(method)+" "+path)
		}
	}
	tried := 0
	for _, route := range routes {
		if !strings.Contains(route, " /api/") || strings.HasSuffix(route, "/previews") {
			continue // public documents; a route of desktops, which TestAStrangersPlaceIsEmpty tries
		}
		tried++
		method, path := filled(route, id)
		for _, key := range []string{"", "a key"} {
			res, body := p.Do(req{Method: method, Path: path, NoCookie: true, Header: http.Header{"Cookie": {cookieHeader(cookie)}, "Idempotency-Key": {key}}})
			if res.StatusCode != http.StatusNotFound || strings.Contains(string(body), "in this API") {
				t.Errorf("%s: %s %s", route, res.Status, body)
			}
		}
	}
	if tried < 80 {
		t.Errorf("only %d routes were tried", tried)
	}
}

// TestAStrangerGetsNoStoredAnswer repeats a request of the owner, with its key.
func TestAStrangerGetsNoStoredAnswer(t *testing.T) {
	p := controltest.Start(t)
	cookie, _ := loginStranger(t, p)
	again := req{Method: "POST", Path: p.Base() + "/bus", Header: http.Header{"Idempotency-Key": {"the same"}}}
	if res, body := p.Do(again); res.StatusCode != http.StatusCreated {
		t.Fatalf("the owner: %s %s", res.Status, body)
	}
	again.NoCookie = true
	again.Header.Set("Cookie", cookieHeader(cookie))
	if res, body := p.Do(again); res.StatusCode != http.StatusNotFound {
		t.Errorf("a stranger: %s %s", res.Status, body)
	}
}

// TestAStrangersPlaceIsEmpty gives a stranger sessions in the desktop, its past and a
// preview of a computer, which the gateway itself refuses to give.
func TestAStrangersPlaceIsEmpty(t *testing.T) {
	p := controltest.Start(t)
	id := p.Computers()[0].ID()
	_, who := loginStranger(t, p)
	port := p.Host[strings.LastIndexByte(p.Host, ':'):]
	for name, place := range map[string]auth.Place{
		"": {Computer: id}, "past--": {Computer: id, Past: true}, "3000--": {Computer: id, Port: 3000},
	} {
		token := must(p.Auth().NewTicket(who, place))(t)
		cookie := must(p.Auth().RedeemTicket(must(http.NewRequestWithContext(t.Context(), "GET", "/", nil))(t), token, place))(t)
		d := &desk{p: p, id: id, host: name + string(id) + ".localhost" + port, cookie: cookie}
		socket := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}
		for _, r := range []req{
			{Method: "GET", Path: "/"}, {Method: "GET", Path: "/assets/a-1.js"}, {Method: "GET", Path: p.Base()},
			{Method: "POST", Path: p.Base() + "/previews"}, {Method: "GET", Path: "/bus", Header: socket},
			{Method: "GET", Path: p.Base() + "/terminals/none/socket", Header: socket},
		} {
			if res, body := d.do(r); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s%s: %s %s", name, r.Path, res.Status, body)
			}
		}
	}
}
