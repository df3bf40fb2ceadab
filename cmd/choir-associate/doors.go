package main

import (
	"context"
	"net"
	"net/http"

	"choiros/internal/guest/roledoor"
)

// egress is an HTTP client whose every connection goes to the egress door,
// whatever the address says.
func egress(door *roledoor.Dialer) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return door.Dial(ctx, roledoor.Egress) },
	}}
}
