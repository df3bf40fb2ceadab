// Package packages keeps content of package registries that never changes, for all computers of a
// choir: tarballs of npm, files of PyPI, modules of Go, crates of cargo.
//
// A sandbox gives the cache nothing but the host and the path of a request that the policy let
// out. The cache fetches the content itself, learns its digest from the registry itself, and keeps
// only what has that digest. So a task can have content fetched, and can change none of it.
package packages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
)

// Fetcher asks hosts. Its methods may be called by any goroutine.
type Fetcher interface {
	// Fetch asks a host over TLS on port 443 for a path that has no escapes. It follows no
	// redirect and decodes nothing. The caller closes the body of the answer, which ends with an
	// error unless it is whole.
	Fetch(ctx context.Context, host, path, accept string) (Answer, error)
}

// Answer is the answer of a host.
type Answer struct {
	Status  int
	Header  http.Header
	Size    int64 // of the body; -1 if the host does not say
	Body    io.ReadCloser
	Address netip.Addr // that was dialled
}

// Registry knows the content of one registry. Its methods may be called by any goroutine.
type Registry interface {
	// Hosts returns the hosts whose requests are looked at.
	Hosts() []string
	// Item returns the item at a path of one of the hosts. ok is false for all that can change,
	// or whose digest no one says.
	Item(host, path string) (item Item, ok bool)
}

// Item is content that never changes.
type Item struct {
	Host, Path string
	Type       string // for the header Content-Type
	// Asks are other hosts that the cache asks for the digest.
	Asks []string
	// learn returns the check of the content, by what the registry says of it.
	learn func(context.Context, Fetcher) (check, error)
}

// check reports whether a file has the content that the registry promised.
type check func(*os.File) (bool, error)

// ErrPass is the error of a request that the cache does not answer, and the host has to: its
// content is not there, has no known digest or no room.
var ErrPass = errors.New("packages: not of the cache")

// ErrFalse is the error of content that has another digest than the registry says.
var ErrFalse = errors.New("packages: the content has another digest than its registry says")

// maxPage is the most bytes of a page that says digests.
const maxPage = 64 << 20

// readPage returns a page of a host.
func readPage(ctx context.Context, from Fetcher, host, path, accept string) ([]byte, error) {
	a, err := from.Fetch(ctx, host, path, accept)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.Status != http.StatusOK || encoded(a.Header) {
		return nil, fmt.Errorf("%s%s: status %d: %w", host, path, a.Status, ErrPass)
	}
	page, err := io.ReadAll(io.LimitReader(a.Body, maxPage+1))
	if err == nil && len(page) > maxPage {
		err = fmt.Errorf("%s%s: more than %d bytes: %w", host, path, maxPage, ErrPass)
	}
	return page, err
}

// encoded reports whether an answer is encoded, so that its bytes are not the content.
func encoded(h http.Header) bool {
	return slices.ContainsFunc(h["Content-Encoding"], func(e string) bool { return e != "" && e != "identity" })
}
