package container_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/sandboxtest"
)

// forgetful returns the socket of a proxy before an engine that keeps the answers about containers
// that were created to itself. made receives when one was.
func forgetful(t *testing.T, socket string) (at string, made <-chan struct{}) {
	t.Helper()
	at = filepath.Join(sandboxtest.DataDir(t), "engine.sock")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	created := make(chan struct{}, 1)
	to := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(to.CloseIdleConnections)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = to
	proxy.ModifyResponse = func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "/containers/create") && r.StatusCode == http.StatusCreated {
			created <- struct{}{}
			<-r.Request.Context().Done()
		}
		return nil
	}
	server := httptest.NewUnstartedServer(proxy)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return at, created
}

// TestAContainerWhoseMakerLeavesIsRemoved ends the context of a creation when the engine has made
// the container and has not answered.
func TestAContainerWhoseMakerLeavesIsRemoved(t *testing.T) {
	spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
	err := callAndLeave(t, func(ctx context.Context, d *container.Driver) error {
		_, err := d.Create(ctx, spec)
		return err
	})
	if choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// TestATrialWhoseMakerLeavesIsRemoved does the same with a probe, as choir doctor makes one.
func TestATrialWhoseMakerLeavesIsRemoved(t *testing.T) {
	var report sandbox.Report
	callAndLeave(t, func(ctx context.Context, d *container.Driver) error {
		report = d.Probe(ctx)
		return nil
	})
	if report.Usable {
		t.Errorf("an engine that does not answer is called usable: %+v", report)
	}
}

// callAndLeave ends the context of a call when the engine has made a container for it and has not answered.
// It returns the error of the call, after which nothing may be left of the container.
func callAndLeave(t *testing.T, call func(context.Context, *container.Driver) error) error {
	t.Helper()
	socket, state := engine(t), sandboxtest.DataDir(t)
	at, made := forgetful(t, socket)
	d := container.New(container.Config{StateDir: state, Socket: at})
	defer d.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- call(ctx, d) }()
	select {
	case <-made:
	case err := <-failed:
		t.Fatalf("the engine made nothing: %v", err)
	}
	cancel()
	failure := <-failed
	api, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	ours := make(client.Filters).Add("label", "choir.data="+host.GroupLabel(state))
	if left, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: ours}); err != nil || len(left.Items) > 0 {
		t.Errorf("%d containers are left, %v", len(left.Items), err)
	}
	if left, err := os.ReadDir(filepath.Join(state, "boxes")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	return failure
}
