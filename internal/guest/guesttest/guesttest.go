// Package guesttest serves a folder with choir-init's server in a test's own process:
// a client has a tree to scan and to write to, and no sandbox is around it.
package guesttest

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/guest"
)

// Serve runs a server with a folder as its workspace until the test ends, and returns a
// client of it. Programs run outside of any sandbox, with the rights of the test and with
// the environment of a sandbox.
func Serve(t testing.TB, workspace string) *guest.Client {
	t.Helper()
	// Not below the test's own folder: a socket's path is short.
	folder, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	door := filepath.Join(folder, "control")
	listener, err := net.Listen("unix", door)
	if err != nil {
		t.Fatal(err)
	}
	server := guest.NewServer(guest.Config{
		Version: "lab", Listener: listener, Workspace: workspace, Worktrees: Worktrees(workspace),
		Allow: func(net.Conn) error { return nil }, Env: guest.Environment(nil, ""), Programs: guest.NewReaper(false),
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		<-served
	})
	return guest.NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", door)
	})
}

// Worktrees returns the folder of the worktrees beside a workspace that Serve serves.
func Worktrees(workspace string) string { return workspace + "-worktrees" }
