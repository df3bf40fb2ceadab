package guest

import (
	"context"
	"io"

	"choiros/internal/choir"
)

// Stat describes a path without following a last link. Here as in all
// operations on files, paths are escaped (snapshot.EscapePath) and relative to
// the workspace, "" being the workspace; links on the way are resolved, and
// refused (code refused) when they lead out of it.
func (c *Client) Stat(ctx context.Context, path string) (choir.FileState, error) {
	var state choir.FileState
	err := c.call(ctx, &request{Op: opStat, Path: path}, &state)
	return state, err
}

// List is one page of a folder, names in byte order, beginning after a name;
// limit 0 is 1000. Sockets and devices are left out.
func (c *Client) List(ctx context.Context, path, after string, limit int) (Listing, error) {
	var page Listing
	err := c.call(ctx, &request{Op: opList, Path: path, After: after, Limit: limit}, &page)
	return page, err
}

// ReadFile opens a file for reading; the caller closes.
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

// FileReader reads a file inside, as long as it was when it was opened.
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

// WriteFile replaces or creates a file, whole or not at all. mode 0 keeps the
// file's mode, or is 0644 for a new one. An error of content leaves everything
// as it was.
func (c *Client) WriteFile(ctx context.Context, path string, mode uint32, content io.Reader) (choir.FileState, error) {
	var state choir.FileState
	err := c.upload(ctx, &request{Op: opWrite, Path: path, Mode: mode}, content, &state)
	return state, err
}

// upload is an operation with a stream behind its request.
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

// Mkdir makes a folder; code conflict when something is there. mode 0 is 0755.
func (c *Client) Mkdir(ctx context.Context, path string, mode uint32) error {
	return c.call(ctx, &request{Op: opMkdir, Path: path, Mode: mode}, &done{})
}

// Rename moves a path; code conflict when something is at the new one.
func (c *Client) Rename(ctx context.Context, from, to string) error {
	return c.call(ctx, &request{Op: opRename, Path: from, To: to}, &done{})
}

// Remove deletes a path and, with all, everything below it; code conflict for a
// folder that is not empty.
func (c *Client) Remove(ctx context.Context, path string, all bool) error {
	if all {
		return c.RemoveTree(ctx, path, nil)
	}
	return c.call(ctx, &request{Op: opRemove, Path: path}, &done{})
}

// RemoveTree deletes a path and everything below it; report, which may be nil, is
// told how many paths are gone, now and then and at the end. A path that holds
// nothing counts as none.
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

// Unpack stores a tar stream as the new folder dest, whole or not at all; code
// conflict when dest exists, refused for entries that lead out or are devices.
// Hard links become copies.
func (c *Client) Unpack(ctx context.Context, dest string, tar io.Reader) (files, bytes int64, err error) {
	var d done
	err = c.upload(ctx, &request{Op: opUnpack, Path: dest}, tar, &d)
	return d.Files, d.Bytes, err
}

// Copy copies a file, a link itself, or a folder with all that is in it, to a
// path where nothing is (code conflict otherwise), whole or not at all. Modes and
// times come along. Code too_large beyond 100,000 entries or 4 GiB, refused for
// what is neither file, folder nor link.
func (c *Client) Copy(ctx context.Context, from, to string) (files, bytes int64, err error) {
	var d done
	err = c.call(ctx, &request{Op: opCopy, Path: from, To: to}, &d)
	return d.Files, d.Bytes, err
}

// Find looks below a folder, links not followed, and not in .git or in the
// folders of skip (names). It stops at limit matches (0 is 1000) and at bounds on
// entries and bytes looked at.
func (c *Client) Find(ctx context.Context, path string, spec FindSpec, skip []string, limit int) (Found, error) {
	var found Found
	err := c.call(ctx, &request{Op: opFind, Path: path, Find: &spec, Only: skip, Limit: limit}, &found)
	return found, err
}
