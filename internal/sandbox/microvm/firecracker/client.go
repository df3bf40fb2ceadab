// Package firecracker makes requests to one Firecracker process by the API on its unix
// socket, and reads the version of its program. testdata has Firecracker's own description
// of that API, which the tests hold every request against.
package firecracker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"choiros/internal/choir"
)

// Client makes requests to one process. It is safe for concurrent use; Close it.
type Client struct {
	http *http.Client
}

// NewClient returns a client whose connections are opened by dial.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	return &Client{&http.Client{Transport: &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true, MaxConnsPerHost: 1,
	}}}
}

// Close closes the connections that are kept for the next request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Fault is the refusal of a request.
type Fault struct {
	Request string // such as "PUT /vsock"
	Status  int
	Message string // Firecracker's fault_message
}

// Error implements error.
func (f *Fault) Error() string {
	return "Firecracker refuses " + f.Request + ": " + f.Message
}

// mostAnswer bounds the bytes of an answer.
const mostAnswer = 1 << 20

// do makes a request and decodes its answer to into, unless that is nil. Code unavailable: it
// was refused, and the cause is a Fault, or there was no answer.
func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	op, request := "firecracker.request", method+" "+path
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return choir.Wrap(op, choir.CodeInternal, err, "encode %s", request)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(raw))
	if err != nil {
		return choir.Wrap(op, choir.CodeInternal, err, "make %s", request)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return noAnswer(request, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return noAnswer(request, err)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return choir.Wrap(op, choir.CodeUnavailable, faultOf(request, answer.StatusCode, text), "configure a machine")
	}
	if into == nil {
		return nil
	}
	return choir.Wrap(op, choir.CodeUnavailable, json.Unmarshal(text, into), "read the answer to %s", request)
}

// noAnswer names the request that a process did not answer.
func noAnswer(request string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the method and the address
	}
	return choir.Wrap("firecracker.request", choir.CodeUnavailable, err, "Firecracker does not answer %s", request)
}

func faultOf(request string, status int, text []byte) *Fault {
	f := &Fault{Request: request, Status: status}
	var said struct {
		Message string `json:"fault_message"`
	}
	if json.Unmarshal(text, &said) == nil {
		f.Message = said.Message
	}
	if f.Message = strings.TrimSpace(f.Message); f.Message == "" {
		f.Message = http.StatusText(status) + " " + strings.TrimSpace(string(text))
	}
	return f
}

// Info returns what the process says of itself.
func (c *Client) Info(ctx context.Context) (i InstanceInfo, err error) {
	return i, c.do(ctx, http.MethodGet, "/", nil, &i)
}

// Version returns the version of the process, such as 1.16.1.
func (c *Client) Version(ctx context.Context) (string, error) {
	var said struct {
		Version string `json:"firecracker_version"`
	}
	err := c.do(ctx, http.MethodGet, "/version", nil, &said)
	return said.Version, err
}

// SetMachine sets the processors and the memory of the machine, before it is started.
func (c *Client) SetMachine(ctx context.Context, m MachineConfig) error {
	return c.do(ctx, http.MethodPut, "/machine-config", m, nil)
}

// SetBoot sets the kernel, its initial file system and its command line, before the machine
// is started.
func (c *Client) SetBoot(ctx context.Context, b BootSource) error {
	return c.do(ctx, http.MethodPut, "/boot-source", b, nil)
}

// AddDrive adds a disk, before the machine is started. The machine has its disks in the
// order of these calls.
func (c *Client) AddDrive(ctx context.Context, d Drive) error {
	return c.do(ctx, http.MethodPut, "/drives/"+url.PathEscape(d.ID), d, nil)
}

// SetVsock adds the vsock, before the machine is started.
func (c *Client) SetVsock(ctx context.Context, v Vsock) error {
	return c.do(ctx, http.MethodPut, "/vsock", v, nil)
}

// Act does something to the machine.
func (c *Client) Act(ctx context.Context, a Action) error {
	return c.do(ctx, http.MethodPut, "/actions", struct {
		Action Action `json:"action_type"`
	}{a}, nil)
}

// SetState pauses or resumes a machine that was started.
func (c *Client) SetState(ctx context.Context, s VMState) error {
	return c.do(ctx, http.MethodPatch, "/vm", struct {
		State VMState `json:"state"`
	}{s}, nil)
}

// TakeSnapshot writes the state and the memory of a paused machine to two files.
func (c *Client) TakeSnapshot(ctx context.Context, s SnapshotTo) error {
	return c.do(ctx, http.MethodPut, "/snapshot/create", s, nil)
}

// LoadSnapshot makes the machine of a snapshot, in a process that was not configured.
func (c *Client) LoadSnapshot(ctx context.Context, s SnapshotFrom) error {
	return c.do(ctx, http.MethodPut, "/snapshot/load", s, nil)
}
