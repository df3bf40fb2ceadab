package main

import (
	"context"
	"net"
	"net/http"
)

// The doors of the sandbox.
const (
	busSocket    = "/run/choir/bus.sock"
	egressSocket = "/run/choir/egress.sock"
)

func dialer(path string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}

// egress is an HTTP client whose every connection goes to the egress socket,
// whatever the address says.
func egress() *http.Client {
	dial := dialer(egressSocket)
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
}
