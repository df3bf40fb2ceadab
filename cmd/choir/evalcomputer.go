package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/projects"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/demo"
	"choiros/internal/eval"
	"choiros/internal/model/replay"
	"choiros/internal/snapshot"
)

// evalComputer is a computer in a data folder of its own with the choir that runs it.
type evalComputer struct {
	app      *app
	dir      string
	client   *client
	computer *computer.Computer
	models   api.ModelState
	stop     func() error
}

// open starts a choir on a new data folder of the evaluation. Its models are those of the owner's
// configuration, or the recording of the named task.
func (e *evaluation) open(ctx context.Context, folder, task string) (*evalComputer, error) {
	q := *e.app
	q.console, q.json, q.computer, q.recording, q.record = newConsole(io.Discard, io.Discard), false, "", nil, ""
	q.data, q.config, q.modelsData = filepath.Join(e.dir, folder), e.config, e.app.data
	if err := os.Mkdir(q.data, 0o711); err != nil {
		return nil, choir.Refuse("", choir.ReasonEvalNoFolder, choir.TextOf("why", err))
	}
	c := &evalComputer{app: &q, dir: q.data}
	err := e.setModels(&q, task)
	if err == nil {
		err = c.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, removeFolder(q.data))
	}
	if task == "" {
		return c, nil
	}
	m := c.models
	e.models = "Director " + cmp.Or(m.Director, "none") + ", Associate " + cmp.Or(m.Associate, "none")
	if e.options.program == "" && !m.Connected {
		return nil, errors.Join(choir.Refuse("", choir.ReasonEvalNoModel), c.close())
	}
	return c, nil
}

// setModels makes q play or write the recording of a task, if that is wanted, and gives it the models that
// the owner connected on the shell's page.
func (e *evaluation) setModels(q *app, task string) error {
	if task != "" && e.options.recording != "" {
		f, err := os.Open(filepath.Join(e.options.recording, task+".jsonl"))
		if err != nil {
			return choir.Refuse("", choir.ReasonRecordingUnreadable, choir.TextOf("why", err))
		}
		defer f.Close()
		q.playing, err = replay.Load(f)
		return err
	}
	if task != "" && e.options.record != "" {
		q.record = filepath.Join(e.options.record, task+".jsonl")
		if err := os.Remove(q.record); err != nil && !errors.Is(err, os.ErrNotExist) {
			return choir.Refuse("", choir.ReasonRecordingNotReplaced, choir.TextOf("why", err))
		}
	}
	raw, err := os.ReadFile(filepath.Join(e.app.data, config.ConnectedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(q.data, config.ConnectedFile), raw, 0o600)
	}
	return choir.Wrap("", choir.CodeUnavailable, err, "copy the names of the models")
}

// start starts the control plane. close stops it.
func (c *evalComputer) start(ctx context.Context) error {
	s, listeners, err := openServer(ctx, c.app, false)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- s.serve(serving, listeners) }()
	c.stop = func() error {
		stop()
		err := <-done
		if c.app.recording != nil {
			err = errors.Join(err, c.app.recording())
		}
		return err
	}
	if c.client, err = c.app.dial(ctx); err != nil {
		return errors.Join(err, c.stop())
	}
	c.computer, c.models = s.sys.Computers()[0], s.sys.Models()
	return nil
}

// close stops the choir, which ends all processes of its sandboxes, and removes its data folder.
func (c *evalComputer) close() error {
	return errors.Join(c.stop(), removeFolder(c.dir))
}

// add brings a project in, with one commit, in place of one of the same name.
func (c *evalComputer) add(ctx context.Context, name string, t eval.Tree) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(t.WriteTar(w, demo.Stamp())) }()
	defer r.Close()
	p := projects.NewProject{Name: name, Replace: true, Commit: &projects.FirstCommit{Message: "Begin", At: demo.Stamp()}}
	_, err := c.computer.Projects().Add(ctx, choir.RoleCLI, p, r)
	return err
}

// maxListed is how many files a page of a listing has.
const maxListed = 1000

// tree returns the files of a project as the log knows them. Content that base has is not read again.
func (c *evalComputer) tree(ctx context.Context, name string, base eval.Tree) (eval.Tree, error) {
	known := map[choir.Digest][]byte{}
	for _, f := range base {
		known[choir.DigestOf(f.Content)] = f.Content
	}
	prefix := projects.Folder + "/" + name + "/"
	out := eval.Tree{}
	for after := ""; ; {
		var page []choir.FileState
		q := url.Values{"prefix": {prefix}, "after": {after}, "limit": {strconv.Itoa(maxListed)}}
		if err := c.client.get(ctx, c.client.path("/files?"+q.Encode()), &page); err != nil {
			return nil, err
		}
		for _, f := range page {
			after = f.Path
			if err := c.readInto(ctx, out, strings.TrimPrefix(f.Path, prefix), f, known); err != nil {
				return nil, err
			}
		}
		if len(page) < maxListed {
			return out, nil
		}
	}
}

// readInto puts one file into a tree, at its unescaped path.
func (c *evalComputer) readInto(ctx context.Context, out eval.Tree, path string, f choir.FileState, known map[choir.Digest][]byte) error {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return err
	}
	file := eval.File{Exec: f.Mode&0o100 != 0}
	switch f.Kind {
	case "symlink":
		target, err := snapshot.UnescapePath(f.Target)
		if err != nil {
			return err
		}
		file.Target = string(target)
	case "file":
		content, ok := known[f.Digest]
		if !ok {
			if content, err = c.blob(ctx, f.Digest); err != nil {
				return err
			}
		}
		file.Content = content
	default:
		return nil
	}
	out[string(raw)] = file
	return nil
}

// blob reads content by its digest.
func (c *evalComputer) blob(ctx context.Context, digest choir.Digest) ([]byte, error) {
	res, err := c.client.do(ctx, http.MethodGet, c.client.path("/blobs/"+string(digest)), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	return b.Bytes(), choir.Wrap("", cmp.Or(choir.CodeOf(err), choir.CodeUnavailable), err, "read a file of the result")
}
