package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/control/metrics"
)

// client calls the HTTP API for one computer, through the data folder's socket or in process.
type client struct {
	http     *http.Client
	computer choir.ID
	close    func() error
	data     string // the data folder, named in errors
}

const socketName = "choir.sock"

// dial returns a client of the choir that runs on the data folder. Code unavailable: none runs.
func (a *app) dial(ctx context.Context) (*client, error) {
	dir, err := os.Open(a.data)
	if err != nil {
		return nil, notRunning(a.data, err)
	}
	defer dir.Close()
	dialer := func(ctx context.Context, _, _ string) (net.Conn, error) {
		// Through the folder's descriptor, because a socket address is short.
		d, err := os.Open(a.data)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		var nd net.Dialer
		return nd.DialContext(ctx, "unix", fdPath(d, socketName))
	}
	c := &client{http: &http.Client{Transport: &http.Transport{DialContext: dialer}}, close: func() error { return nil }, data: a.data}
	if err := c.pick(ctx, a.computer); err != nil {
		return nil, notRunning(a.data, err)
	}
	return c, nil
}

// notRunning returns the error that no choir runs on the data folder, or err if choir answered.
func notRunning(data string, err error) error {
	var p *api.Problem
	var e *choir.Error
	var gone *lostError
	if !errors.As(err, &gone) && (errors.As(err, &p) || errors.As(err, &e)) {
		return err
	}
	return choir.Refuse("", choir.ReasonNotRunning, choir.TextOf("data", data))
}

// pick sets the computer of later calls: the one with the id or name want, or the first.
func (c *client) pick(ctx context.Context, want string) (err error) {
	c.computer, err = c.find(ctx, want)
	return err
}

// find returns the id of the computer with the id or name want, of the first for "". Code
// not_found: there is none.
func (c *client) find(ctx context.Context, want string) (choir.ID, error) {
	var list []api.ComputerView
	if err := c.get(ctx, "/api/computers", &list); err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", choir.Refuse("", choir.ReasonNoComputerYet)
	}
	if want == "" && list[0].Failed != "" {
		return "", choir.Refuse("", choir.ReasonComputerFailed, choir.TextOf("why", list[0].Failed))
	}
	if want == "" {
		return list[0].ID, nil
	}
	known := make([]string, len(list))
	for i, v := range list {
		if string(v.ID) == want || v.Name == want {
			return v.ID, nil
		}
		known[i] = strconv.Quote(v.Name)
	}
	return "", choir.Refuse("", choir.ReasonNoComputerHere, choir.TextOf("name", want), choir.TextOf("known", strings.Join(known, ", ")))
}

// path returns the API path of a resource of the client's computer.
func (c *client) path(rest string) string { return "/api/computers/" + string(c.computer) + rest }

// get sends a GET request and decodes the response into into.
func (c *client) get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, path, nil, into)
}

// post sends a POST request with body as JSON and decodes the response into into.
func (c *client) post(ctx context.Context, path string, body, into any) error {
	var r io.Reader
	if raw, ok := body.(json.RawMessage); ok {
		r = bytes.NewReader(raw)
	} else if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(raw)
	}
	return c.call(ctx, http.MethodPost, path, r, into)
}

// put sends a JSON body and decodes the answer.
func (c *client) put(ctx context.Context, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPut, path, bytes.NewReader(raw), into)
}

// call sends one request and decodes the response into into, which may be nil. A problem document is
// returned as an *api.Problem.
func (c *client) call(ctx context.Context, method, path string, body io.Reader, into any) error {
	res, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return c.lost(ctx, err)
	}
	return nil
}

// lost returns the error for a request that got no complete answer: a *lostError, since choir has
// stopped, or err itself if ctx ended.
func (c *client) lost(ctx context.Context, err error) error {
	var e *choir.Error
	if ctx.Err() != nil || errors.As(err, &e) {
		return err
	}
	return &lostError{choir.Refuse("", choir.ReasonStopped, choir.TextOf("data", c.data))}
}

// lostError is the error for a request that was not answered because choir stopped.
type lostError struct{ said *choir.Error }

func (e *lostError) Error() string { return e.said.Error() }

func (e *lostError) Unwrap() error { return e.said }

// do sends one request and returns the response, whose body the caller closes. A status of 400 or
// more is returned as an *api.Problem.
func (c *client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://choir"+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	if res.StatusCode >= 400 {
		defer res.Body.Close()
		p := &api.Problem{Status: res.StatusCode, Detail: res.Status, Code: choir.CodeInternal}
		// A body that is no problem document leaves the status line.
		_ = json.NewDecoder(res.Body).Decode(p)
		return nil, p
	}
	return res, nil
}

// asCLI returns a handler that serves requests as the user's CLI.
func asCLI(user choir.ID, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Role: choir.RoleCLI, User: user})))
	})
}

// socketHandler returns the handler of the CLI's socket: the API as the user's CLI, and the figures,
// which count these requests too.
func socketHandler(user choir.ID, operations *api.API, figures *metrics.Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", figures)
	mux.Handle("/", asCLI(user, operations))
	route := func(r *http.Request) string {
		if _, pattern := mux.Handler(r); pattern == "GET /metrics" {
			return pattern
		}
		return operations.Route(r)
	}
	return figures.Requests("socket", route, mux)
}

// inProcess is an http.RoundTripper that calls a handler without a network. It buffers the response.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answer is an http.ResponseWriter that buffers the response.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// listenSocket listens at the CLI's socket in the data folder, which only the owner can use.
func listenSocket(data string) (net.Listener, error) {
	path := filepath.Join(data, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, choir.Wrap("choir.up", choir.CodeUnavailable, err, "replace the old socket")
	}
	d, err := os.Open(data)
	if err != nil {
		return nil, choir.Wrap("choir.up", choir.CodeUnavailable, err, "open the data folder")
	}
	defer d.Close()
	ln, err := net.Listen("unix", fdPath(d, socketName))
	if err != nil {
		return nil, choir.Wrap("choir.up", choir.CodeUnavailable, err, "listen at %s", path)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	return ln, choir.Wrap("choir.up", choir.CodeUnavailable, os.Chmod(path, 0o600), "protect %s", path)
}
