// Package sprites is the rung of the isolation ladder on which a sandbox is a sprite of
// Fly.io: a virtual machine of somebody else's, far away, reached by REST and WebSocket
// (https://docs.sprites.dev). docs/THREATS.md says what it protects, and from whom it does
// not.
//
// # How the parts fit
//
// A sandbox is one sprite, made for it and deleted with it. The driver uploads a parcel,
// the guest binaries and the scripts of this package, whose digest the sprite checks. A
// script there, as the sprite's root, makes namespaces without a network, in them a
// read-only root folder out of the sprite's programs, and becomes choir-init: a user without
// capabilities, with the filter of system calls that all rungs have. Fly's own policy
// of the network refuses everything besides.
//
// # The control door
//
// The socket of choir-init is in a folder of the sprite outside of the sandbox. A stream to
// it is a program that is run in the sprite (choir-init join), whose standard input and
// output are the stream: a WebSocket each. So the sandbox goes on when a connection is cut,
// and a further stream reaches the same choir-init, also from another control plane.
//
// # The end
//
// The program that started the sandbox stays until that has ended, and one like it is run
// when its connection was cut. A sprite whose sandbox has ended is deleted. The names of the
// sprites say whose they are, so that a driver finds the sprites that an earlier one could
// not delete.
package sprites

import (
	"context"
	"net/http"
	"strings"
	"time"

	"choiros/internal/sandbox"
)

// Name is the rung of this driver.
const Name = "sprites"

// DefaultURL is the address of Fly's own service.
const DefaultURL = "https://api.sprites.dev"

// Config configures the driver; StateDir and Token are required.
type Config struct {
	// StateDir is a folder of the driver's own below the data folder. Its path also tells
	// the sprites of this data folder from those of another. Nothing is written there.
	StateDir string
	// URL is the address of the service; empty is DefaultURL.
	URL string
	// Token returns the access token, at each request. Its error is shown to the user.
	Token func(context.Context) (string, error)
	// Region is where sprites are made; empty leaves it to Fly.
	Region string
	// DiskGB is the size of a sprite's disk; 0 leaves it to Fly.
	DiskGB int
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
	// BootTimeout ends a Create that does not get an answer; zero means three minutes.
	BootTimeout time.Duration
	// CallTimeout ends any other request that does not get an answer; zero means 30 s.
	CallTimeout time.Duration
	// Transport carries the requests; nil is that of net/http, with the proxy of the
	// environment.
	Transport http.RoundTripper
}

func (c Config) withDefaults() Config {
	if c.URL == "" {
		c.URL = DefaultURL
	}
	c.URL = strings.TrimRight(c.URL, "/")
	if c.Orphan == 0 {
		c.Orphan = sandbox.OrphanSeconds * time.Second
	}
	if c.BootTimeout == 0 {
		c.BootTimeout = 3 * time.Minute
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = 30 * time.Second
	}
	return c
}
