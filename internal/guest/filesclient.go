package guest

import (
	"context"
	"io"

	"choiros/internal/choir"
)

// Stat returns the state of a path; a symbolic link is not followed if it is the last
// element. In all file operations paths are escaped (snapshot.EscapePath) and relative to
// the workspace, which is "". Links in the path are resolved, and are code refused if
// they lead out of the workspace.
func (c *Client) Stat(ctx context.Context, path string) (choir.FileState, error) {
	var state choir.FileState
	err := c.call(ctx, &request{Op: opStat, Path: path}, &state)
	return state, err
}

// List returns one page of a folder, in byte order of the names, beginning after the name
// after. limit is the number of entries, 1000 if it is 0. Sockets and devices are left
// out.
func (c *Client) List(ctx context.Context, path, after string, limit int) (Listing, error) {
	var page Listing
	err := c.call(ctx, &request{Op: opList, Path: path, After: after, Limit: limit}, &page)
	return page, err
}

// ReadFile opens a file for reading. The caller must close the reader.
func (c *Client) ReadFile(ctx context.Context, path string) (*FileReader, error) {
	s, err := c.open(ctx, &request{Op: opRead, Path: path})
	if err != nil {
		return nil, err
	}
	f := &FileReader{session: s, stream: streamReader{w: s.wire}}
	if err := s.reply(opRead, &f.State); err != nil {
		s.close()
		return nil, err
	}
	return f, nil
}

// FileReader reads a file in the sandbox, up to its length when it was opened.
type FileReader struct {
	State   choir.FileState
	session *session
	stream  streamReader
}

// Read implements io.Reader.
func (f *FileReader) Read(b []byte) (int, error) {
	n, err := f.stream.Read(b)
	if err != nil && err != io.EOF {
		err = f.session.fail(opRead, err)
	}
	return n, err
}

// Close implements io.Closer.
func (f *FileReader) Close() error {
	f.session.close()
	return nil
}

// WriteFile creates or replaces a file atomically and returns its new state. mode 0 keeps
// the file's mode, or means 0644 for a new file. An error of content leaves the file
// unchanged.
func (c *Client) WriteFile(ctx context.Context, path string, mode uint32, content io.Reader) (choir.FileState, error) {
	var state choir.FileState
	err := c.upload(ctx, &request{Op: opWrite, Path: path, Mode: mode}, content, &state)
	return state, err
}

// upload performs an operation that sends content as a stream after the request, and
// decodes the reply into into.
func (c *Client) upload(ctx context.Context, r *request, content io.Reader, into any) error {
	s, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer s.close()
	tracked := &readErrors{r: content}
	err = s.sendStream(frameData, tracked)
	switch {
	case tracked.err != nil:
		return choir.Wrap("guest."+string(r.Op), codeOf(tracked.err), tracked.err, "read what was to be sent")
	case err != nil:
		return s.refused(r.Op, err)
	}
	return s.reply(r.Op, into)
}

// Mkdir creates a folder; mode 0 means 0755. An existing path is code conflict.
func (c *Client) Mkdir(ctx context.Context, path string, mode uint32) error {
	return c.call(ctx, &request{Op: opMkdir, Path: path, Mode: mode}, &done{})
}

// Rename moves a path. An existing destination is code conflict.
func (c *Client) Rename(ctx context.Context, from, to string) error {
	return c.call(ctx, &request{Op: opRename, Path: from, To: to}, &done{})
}

// Remove deletes a path, with everything below it if all is true. Otherwise a folder that
// is not empty is code conflict.
func (c *Client) Remove(ctx context.Context, path string, all bool) error {
	if all {
		return c.RemoveTree(ctx, path, nil)
	}
	return c.call(ctx, &request{Op: opRemove, Path: path}, &done{})
}

// RemoveTree deletes a path and everything below it. It calls report, which may be nil,
// with the number of paths removed so far, from time to time and at the end.
func (c *Client) RemoveTree(ctx context.Context, path string, report func(int64)) error {
	s, err := c.open(ctx, &request{Op: opRemove, Path: path, All: true})
	if err != nil {
		return err
	}
	defer s.close()
	for {
		t, payload, err := s.read()
		if err != nil {
			return s.fail(opRemove, err)
		}
		var d done
		p := progress{}
		if t != frameAt {
			if err := s.decode(opRemove, t, payload, &d); err != nil {
				return err
			}
			p.Entries = d.Files
		} else if err := choir.DecodeStrict(payload, &p); err != nil {
			return choir.Under("progress", err)
		}
		if report != nil {
			report(p.Entries)
		}
		if t != frameAt {
			return nil
		}
	}
}

// Unpack extracts a tar stream into the new folder dest, all or nothing, and returns the
// number of its files, not counting a git history, and of all bytes. An existing dest is
// code conflict; an entry that leads out of dest or is a device is code refused. Hard
// links become copies.
func (c *Client) Unpack(ctx context.Context, dest string, tar io.Reader) (files, bytes int64, err error) {
	var d done
	err = c.upload(ctx, &request{Op: opUnpack, Path: dest}, tar, &d)
	return d.Files, d.Bytes, err
}

// Copy copies a file, a link itself or a folder with everything in it, all or nothing,
// with modes and times, and returns the number of entries and bytes. An existing
// destination is code conflict, more than 100,000 entries or 4 GiB code too_large, a path
// of another kind code refused.
func (c *Client) Copy(ctx context.Context, from, to string) (files, bytes int64, err error) {
	var d done
	err = c.call(ctx, &request{Op: opCopy, Path: from, To: to}, &d)
	return d.Files, d.Bytes, err
}

// Find searches a folder and everything below it, see FindSpec, without following links
// and without .git and the folders with a name in skip. It stops at limit matches (0
// means 1000) and at bounds on the entries and bytes examined; Found.Cut reports that.
func (c *Client) Find(ctx context.Context, path string, spec FindSpec, skip []string, limit int) (Found, error) {
	var found Found
	err := c.call(ctx, &request{Op: opFind, Path: path, Find: &spec, Only: skip, Limit: limit}, &found)
	return found, err
}
