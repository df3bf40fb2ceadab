package guest

import (
	"context"
	"io"
	"net"

	"choiros/internal/choir"
)

var errTODO = choir.E("guest", choir.CodeUnavailable, "not built yet")

// Client speaks to one choir-init. It may be used by many goroutines; each
// operation has a connection of its own and ends when its context does.
type Client struct {
	dial func(context.Context) (net.Conn, error)
}

// NewClient uses dial to reach the control door.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client { return &Client{dial: dial} }

// Hello asks init who it is.
func (c *Client) Hello(ctx context.Context) (Info, error) {
	var info Info
	err := c.call(ctx, &request{Op: opHello}, &info)
	return info, err
}

// Stat describes a path without following a last link. All paths of files are
// escaped (snapshot.EscapePath) and relative to the workspace; links on the way
// are resolved, and refused (code refused) when they lead out of it.
func (c *Client) Stat(ctx context.Context, path string) (choir.FileState, error) {
	return choir.FileState{}, errTODO
}

// List is one page of a folder, names in byte order, beginning after a name.
func (c *Client) List(ctx context.Context, path, after string, limit int) (Listing, error) {
	return Listing{}, errTODO
}

// ReadFile opens a file for reading; the caller closes.
func (c *Client) ReadFile(ctx context.Context, path string) (*FileReader, error) { return nil, errTODO }

// FileReader reads a file inside.
type FileReader struct{ State choir.FileState }

// Read implements io.Reader.
func (f *FileReader) Read(b []byte) (int, error) { return 0, errTODO }

// Close implements io.Closer.
func (f *FileReader) Close() error { return nil }

// WriteFile replaces or creates a file, whole or not at all. mode 0 keeps the
// file's mode, or is 0644 for a new one.
func (c *Client) WriteFile(ctx context.Context, path string, mode uint32, content io.Reader) (choir.FileState, error) {
	return choir.FileState{}, errTODO
}

// Mkdir makes a folder; code conflict when something is there.
func (c *Client) Mkdir(ctx context.Context, path string, mode uint32) error { return errTODO }

// Rename moves a path; code conflict when something is at the new one.
func (c *Client) Rename(ctx context.Context, from, to string) error { return errTODO }

// Remove deletes a path and, with all, everything below it.
func (c *Client) Remove(ctx context.Context, path string, all bool) error { return errTODO }

// Unpack stores a tar stream as the new folder dest, whole or not at all; code
// conflict when dest exists, refused for entries that lead out or are devices.
func (c *Client) Unpack(ctx context.Context, dest string, tar io.Reader) (files, bytes int64, err error) {
	return 0, 0, errTODO
}

// DialPort connects to a port on the sandbox's loopback; code unavailable when
// nothing listens there.
func (c *Client) DialPort(ctx context.Context, port int) (net.Conn, error) { return nil, errTODO }
