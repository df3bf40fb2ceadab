package main

import (
	"context"
	"net"
	"net/http"
	"path"

	"choiros/internal/sandbox"
)

// dialer opens one of the sandbox's doors.
func dialer(socket string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path.Join(sandbox.DoorsInside, socket))
	}
}

// egress is an HTTP client whose every connection goes to the egress door,
// whatever the address says.
func egress() *http.Client {
	dial := dialer(sandbox.EgressSocket)
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
}
