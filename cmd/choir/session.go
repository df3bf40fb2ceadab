package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/supervisor"
)

// fdPath returns a path to a file in an open folder through /proc, short enough for a socket.
func fdPath(dir *os.File, name string) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), name)
}

// withComputer calls f with a client of the running choir; if none runs, it starts one for the time of
// the call and says so.
func (a *app) withComputer(ctx context.Context, f func(context.Context, *client) error) error {
	c, err := a.dial(ctx)
	if err == nil {
		return f(ctx, c)
	}
	if choir.CodeOf(err) != choir.CodeUnavailable {
		return err
	}
	a.sayAside("session.starting", "data", a.data)
	return a.temporarily(ctx, f)
}

// temporarily starts a control plane that listens at the CLI's socket only, calls f with its client
// and stops it.
func (a *app) temporarily(ctx context.Context, f func(context.Context, *client) error) error {
	s, listeners, err := openServer(ctx, a, false)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- s.serve(serving, listeners) }()
	c, err := a.dial(ctx)
	if err == nil {
		err = f(ctx, c)
	}
	stop()
	served := <-done
	if rm := os.Remove(filepath.Join(a.data, socketName)); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		served = errors.Join(served, rm)
	}
	if err != nil {
		return err
	}
	return served
}

// reading calls f with a client of the running choir, or, if none runs, of a reader of the data
// folder.
func (a *app) reading(ctx context.Context, f func(context.Context, *client) error) error {
	c, err := a.dial(ctx)
	if err == nil {
		return f(ctx, c)
	}
	if choir.CodeOf(err) != choir.CodeUnavailable {
		return err
	}
	err = a.withReader(ctx, func(_ *supervisor.Reader, c *client) error { return f(ctx, c) })
	var p *api.Problem
	if errors.As(err, &p) && p.Code == choir.CodeCorrupt && p.Field == "store.sqlite" {
		// What only reads restores nothing, however often it is tried.
		p.Remedy = "no choir is running here that would rebuild it from the journal; to do that: choir log --repair"
	}
	return err
}

// withReader calls f with a reader of the data folder, on which no choir runs.
func (a *app) withReader(ctx context.Context, f func(*supervisor.Reader, *client) error) error {
	file, from, err := a.loadConfig()
	if err != nil {
		return err
	}
	return a.withReaderOf(ctx, file, from, f)
}

// withReaderOf does the same as withReader with the configuration file, read from the path from.
func (a *app) withReaderOf(ctx context.Context, file config.Config, from string, f func(*supervisor.Reader, *client) error) error {
	models, err := a.connections(file.Models)
	if err != nil {
		return err
	}
	cfg := supervisor.Config{Data: a.data, File: file, From: from, Connections: models, OpenBlobs: openBlobs, Cluster: clusterOf(file, nil), Version: version, Now: now}
	r, err := supervisor.OpenReader(ctx, cfg)
	if err != nil {
		return err
	}
	c := &client{http: &http.Client{Transport: inProcess{asCLI(r.User(), newAPI(r.Edge(), cfg))}}}
	if err = c.pick(ctx, a.computer); err == nil {
		err = f(r, c)
	}
	return errors.Join(err, r.Close())
}
