package keygate

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/leak"
)

// readRequest returns a request as the egress door's server reads it.
func readRequest(t *testing.T, text string) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestARequestThatSaysAnotherOneIsRefused sends requests whose headers tell many servers to take
// another method or path than those that the key is bound to.
func TestARequestThatSaysAnotherOneIsRefused(t *testing.T) {
	const line = "POST http://key.choir.internal/h.test/v1/x HTTP/1.1\r\n"
	if got, ok := readTarget(readRequest(t, line+"X-Other: DELETE\r\n\r\n")); !ok || got.Path != "/v1/x" {
		t.Errorf("the control is read as %+v, %v", got, ok)
	}
	for _, header := range []string{"X-HTTP-Method-Override: DELETE", "x-http-method: DELETE", "X_HTTP_Method_Override: DELETE", "X-Original-URL: /v2", "X-Rewrite-URL: /v2", "x_original_url: /v2"} {
		if got, ok := readTarget(readRequest(t, line+header+"\r\n\r\n")); ok {
			t.Errorf("%s is read as %+v", header, got)
		}
	}
	r := readRequest(t, line+"X-Forwarded-Host: evil.test\r\nX_Forwarded_Host: evil.test\r\nForwarded: host=evil.test\r\nX-Mine: 1\r\n\r\n")
	if out := outgoing(r.Header); out.Get("X-Mine") != "1" || len(out) != 2 { // and no User-Agent
		t.Errorf("it goes on with %v", out)
	}
}

// TestNoPartOfAnAnswerCanBeAskedFor sends the headers by which a host answers with a part of a page, in
// which a piece of a key would not be found.
func TestNoPartOfAnAnswerCanBeAskedFor(t *testing.T) {
	for _, header := range []string{"Range: bytes=0-3", "Request-Range: bytes=0-3", "request-range: bytes=0-3", "Request_Range: bytes=0-3", "X-Mine: 1\r\nConnection: X-Mine"} {
		r := readRequest(t, "GET http://key.choir.internal/h.test/v1/x HTTP/1.1\r\n"+header+"\r\n\r\n")
		if out := outgoing(r.Header); len(out) != 1 { // that there is no User-Agent
			t.Errorf("%q goes on as %v", header, out)
		}
	}
}

// TestAnEncodedAnswerIsRefused has a host say twice how its answer is encoded.
func TestAnEncodedAnswerIsRefused(t *testing.T) {
	answer := func(encodings ...string) *http.Response {
		return &http.Response{Header: http.Header{"Content-Encoding": encodings}, Body: io.NopCloser(strings.NewReader("x"))}
	}
	secrets := leak.New(map[string]string{"k": "a-long-secret"})
	for _, encodings := range [][]string{nil, {""}, {"identity"}, {"Identity", "identity"}} {
		if err := clean(answer(encodings...), secrets, "h.test"); err != nil {
			t.Errorf("%q: %v", encodings, err)
		}
	}
	for _, encodings := range [][]string{{"gzip"}, {"identity", "gzip"}, {"", "br"}, {"identity, gzip"}} {
		if err := clean(answer(encodings...), secrets, "h.test"); choir.CodeOf(err) == "" {
			t.Errorf("%q is given on", encodings)
		}
	}
}

// TestAKeyThatIsTheNameOfAHeaderIsTakenOut has a host say the key back as the name of a header, in
// which net/http changes the case of letters.
func TestAKeyThatIsTheNameOfAHeaderIsTakenOut(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nabc-0123456789: x\r\nX-Fine: x\r\nContent-Length: 0\r\n\r\n"
	a, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := clean(a, leak.New(map[string]string{"k": "abc-0123456789"}), "h.test"); err != nil || len(a.Header) != 2 || a.Header.Get("X-Fine") != "x" {
		t.Errorf("%v, %v", a.Header, err)
	}
}
