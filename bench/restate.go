package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
)

// The peer of task, below the repository; `make peers` installs its packages.
const (
	restateFolder  = "bench/peers/restate"
	restateService = "steps.mjs"
	restateServer  = "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server"
	// restatePatience is how long the server may take to start and to end.
	restatePatience = 60 * time.Second
)

// restate is a Restate server of one node, with its store in the lab, and a service
// of its SDK that runs empty durable steps.
type restate struct {
	server, service *exec.Cmd
	ingress, admin  string // addresses
}

// startRestate starts the peer; why says what is missing for it here.
func (l *lab) startRestate(ctx context.Context) (r *restate, why string, err error) {
	folder := findUpwards(restateFolder, restateService)
	if folder == "" {
		return nil, "the peer is started from choir's repository (" + restateFolder + "), which is not here: run it there", nil
	}
	program, err := exec.LookPath("restate-server")
	if err != nil {
		program = filepath.Join(folder, restateServer)
	}
	for _, needed := range []string{program, filepath.Join(folder, "node_modules/@restatedev/restate-sdk")} {
		if _, err := os.Stat(needed); err != nil {
			return nil, "the Restate server or its SDK is not installed: make peers", nil
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "node is not installed: " + err.Error(), nil
	}
	data, err := l.folder()
	if err != nil {
		return nil, "", err
	}
	var at [4]string // service, ingress, admin, node
	if err := freeAddresses(at[:]); err != nil {
		return nil, "", err
	}
	_, port, _ := net.SplitHostPort(at[0]) // the kernel wrote it
	r = &restate{ingress: at[1], admin: at[2]}
	r.service = quiet(ctx, data, node, filepath.Join(folder, restateService), port)
	r.server = quiet(ctx, data, program, "--base-dir", data)
	r.server.Env = append(r.server.Env, "RESTATE_INGRESS__BIND_ADDRESS="+at[1], "RESTATE_ADMIN__BIND_ADDRESS="+at[2], "RESTATE_BIND_ADDRESS="+at[3])
	for _, c := range []**exec.Cmd{&r.service, &r.server} {
		if err := (*c).Start(); err != nil {
			*c = nil
			r.close()
			return nil, "", choir.Wrap("bench.restate", choir.CodeUnavailable, err, "start the peer")
		}
	}
	if err := r.register(ctx, "http://"+at[0]); err != nil {
		r.close()
		return nil, "", err
	}
	return r, "", nil
}

// freeAddresses fills in addresses of the loopback that nothing listens on.
func freeAddresses(at []string) error {
	for i := range at {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return choir.Wrap("bench.restate", choir.CodeUnavailable, err, "find a free port")
		}
		defer l.Close()
		at[i] = l.Addr().String()
	}
	return nil
}

// register tells the server of the service, and asks again until both have started.
func (r *restate) register(ctx context.Context, service string) error {
	ctx, cancel := context.WithTimeout(ctx, restatePatience)
	defer cancel()
	for {
		err := post(ctx, "http://"+r.admin+"/deployments", fmt.Sprintf(`{"uri":%q}`, service))
		if err == nil {
			err = r.flow(ctx, 1)
		}
		if err == nil {
			return nil
		}
		if sleep(ctx, 100*time.Millisecond) != nil {
			return choir.Wrap("bench.restate", choir.CodeUnavailable, err, "register the peer's service")
		}
	}
}

// flow runs so many durable steps one after the other and returns after the last.
func (r *restate) flow(ctx context.Context, steps int) error {
	return post(ctx, "http://"+r.ingress+"/steps/flow", strconv.Itoa(steps))
}

// sample runs a flow of so many steps.
func (r *restate) sample(steps int) sample {
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		err := r.flow(ctx, steps)
		return millis(time.Since(began)), err
	}
}

// peerClient keeps no connection to a server that is gone.
var peerClient = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConns: 1, IdleConnTimeout: time.Second}}

// post sends JSON and reads the answer.
func post(ctx context.Context, url, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return choir.Wrap("bench.restate", choir.CodeInternal, err, "make a request")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := peerClient.Do(req)
	if err != nil {
		return choir.Wrap("bench.restate", choir.CodeUnavailable, err, "ask the peer")
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && resp.StatusCode >= 300 {
		err = choir.E("bench.restate", choir.CodeUnavailable, "the peer answered %s: %s", resp.Status, said)
	}
	return err
}

// close ends the server and its service.
func (r *restate) close() {
	peerClient.CloseIdleConnections()
	for _, c := range []*exec.Cmd{r.server, r.service} {
		if c == nil || c.Process == nil {
			continue
		}
		// Their store goes with the lab: nothing in it is to be saved. However they
		// ended, they are gone.
		_ = errors.Join(c.Process.Kill(), c.Wait())
	}
}
