package workspace

import (
	"context"
	"io"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Expect is the precondition of a write: what the path contains now. The zero value
// allows anything.
type Expect struct {
	Digest choir.Digest // a file with this content
	Absent bool         // nothing
	// With neither, anything may be there.
}

// files makes changes to files and folders on behalf of people.
type files struct {
	tree    *tree
	edits   *edits
	trash   *trash
	remover *remover
	blobs   blob.Store
}

// WriteFile writes a person's content to a file of the workspace and creates missing
// parent folders. It returns the state of the path. Code conflict: the path has other
// content than want, and the state describes it. Paths are escaped as in file events.
func (f *files) WriteFile(ctx context.Context, role choir.Role, path string, content io.Reader, want Expect) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	// Whoever sends slowly must not hold the workspace meanwhile.
	body, err := f.Spool(content)
	if err != nil {
		return choir.FileState{}, err
	}
	defer body.Close()
	return f.editPath(ctx, role, path, want, func(client *guest.Client) error {
		if err := makeParents(ctx, client, path); err != nil {
			return err
		}
		_, err := client.WriteFile(ctx, path, 0, body)
		return err
	})
}

// RemoveFile removes a path of the workspace with everything below it. Code not_found:
// nothing is there. Other errors are as for WriteFile.
func (f *files) RemoveFile(ctx context.Context, role choir.Role, path string, want Expect) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	return f.editPath(ctx, role, path, want, func(client *guest.Client) error {
		err := client.Remove(ctx, path, false)
		if choir.CodeOf(err) == choir.CodeConflict {
			err = f.remover.removeLater(ctx, client, path)
		}
		return err
	})
}

func checkPath(path string) error {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return choir.Under("path", err)
	}
	if len(raw) == 0 || len(path) > 4096 {
		return choir.Refuse("computer.file", choir.ReasonPathLength).At("path")
	}
	for _, part := range strings.Split(string(raw), "/") {
		if part == "" || part == "." || part == ".." || len(part) > snapshot.MaxName {
			return choir.Refuse("computer.file", choir.ReasonPathOutside, choir.TextOf("path", path)).At("path")
		}
	}
	if InGit(path) {
		// File events leave these out, so a rollback could not keep them.
		return choir.Refuse("computer.file", choir.ReasonPathInGit, choir.TextOf("path", path)).At(path)
	}
	return nil
}

func makeParents(ctx context.Context, client *guest.Client, path string) error {
	for i, r := range path {
		if r != '/' {
			continue
		}
		if err := client.Mkdir(ctx, path[:i], 0); err != nil && choir.CodeOf(err) != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// editPath checks the precondition of a person's change of one path, makes the change
// with do and returns the path's new state.
func (f *files) editPath(ctx context.Context, role choir.Role, path string, want Expect, do func(*guest.Client) error) (choir.FileState, error) {
	var there *snapshot.Entry
	after, err := f.edits.applyEdit(ctx, role, change{
		paths: []string{path},
		check: func(root choir.Digest) (err error) {
			if there, err = f.tree.Lookup(ctx, root, path); err == nil {
				err = want.check(path, there)
			}
			return err
		},
		do: do,
	})
	if err != nil {
		return stateOf(path, there), err
	}
	now, err := f.tree.Lookup(ctx, after.Root, path)
	return stateOf(path, now), err
}

// check compares the entry at a path with the expectation; there is nil for nothing.
// Code conflict: they differ.
func (w Expect) check(path string, there *snapshot.Entry) error {
	conflict := func(why choir.Reason) error {
		return choir.Refuse("computer.file", why, choir.TextOf("path", path)).At(path)
	}
	switch {
	case w.Absent && there != nil:
		return conflict(choir.ReasonPathExists)
	case w.Digest != "" && there == nil:
		return conflict(choir.ReasonPathVanished)
	case w.Digest != "" && (there.Kind != snapshot.File || there.Digest() != w.Digest):
		return conflict(choir.ReasonPathChanged)
	}
	return nil
}

func stateOf(path string, e *snapshot.Entry) choir.FileState {
	if e == nil {
		return choir.FileState{}
	}
	return e.State(path)
}
