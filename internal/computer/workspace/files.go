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

// Expect says what must be at a path for a write to go ahead.
type Expect struct {
	Digest choir.Digest // a file with this content
	Absent bool         // nothing
	// With neither, anything may be there.
}

// files is what people do with files and folders.
type files struct {
	tree    *tree
	edits   *edits
	trash   *trash
	remover *remover
	blobs   blob.Store
}

// WriteFile makes a file of the workspace what a person wrote, with the folders
// it needs. When something else is there than was expected, the code is conflict
// and the state says what. Paths are escaped as in file events.
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
	return f.edit(ctx, role, path, want, func(client *guest.Client) error {
		if err := makeParents(ctx, client, path); err != nil {
			return err
		}
		_, err := client.WriteFile(ctx, path, 0, body)
		return err
	})
}

// RemoveFile removes a path of the workspace and everything below it. Code
// not_found when nothing is there; otherwise as WriteFile.
func (f *files) RemoveFile(ctx context.Context, role choir.Role, path string, want Expect) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	return f.edit(ctx, role, path, want, func(client *guest.Client) error {
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
		return choir.Invalid("path", "must have 1 to 4096 characters")
	}
	for _, part := range strings.Split(string(raw), "/") {
		if part == "" || part == "." || part == ".." || len(part) > snapshot.MaxName {
			return choir.Invalid("path", "%q is no path below the workspace", path)
		}
	}
	if InGit(path) {
		// File events leave these out, so a rollback could not keep them.
		return &choir.Error{Op: "computer.file", Code: choir.CodeRefused, Path: path, Msg: "lies in git's own folder"}
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

// edit lets a person change one path.
func (f *files) edit(ctx context.Context, role choir.Role, path string, want Expect, do func(*guest.Client) error) (choir.FileState, error) {
	var there *snapshot.Entry
	after, err := f.edits.change(ctx, role, change{
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

// check holds what is at a path against what was expected.
func (w Expect) check(path string, there *snapshot.Entry) error {
	conflict := func(format string, args ...any) error {
		e := choir.E("computer.file", choir.CodeConflict, format, args...)
		e.Path = path
		return e
	}
	switch {
	case w.Absent && there != nil:
		return conflict("exists already")
	case w.Digest != "" && there == nil:
		return conflict("does not exist any more")
	case w.Digest != "" && (there.Kind != snapshot.File || there.Digest() != w.Digest):
		return conflict("was changed meanwhile")
	}
	return nil
}

func stateOf(path string, e *snapshot.Entry) choir.FileState {
	if e == nil {
		return choir.FileState{}
	}
	return e.State(path)
}
