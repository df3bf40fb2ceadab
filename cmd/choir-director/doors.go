package main

import (
	"context"
	"net"
	"net/http"

	"choiros/internal/guest/roledoor"
)

// egress returns an HTTP client that sends every request to the egress door, whatever its address.
func egress(door *roledoor.Dialer) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return door.Dial(ctx, roledoor.Egress) },
	}}
}
