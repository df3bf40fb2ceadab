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
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
)

// Fetcher asks hosts. Its methods may be called by any goroutine.
type Fetcher interface {
	// Fetch asks a host over TLS on port 443. It follows no redirect and decodes nothing. The
	// caller closes the body of the answer, which ends with an error unless it is whole.
	Fetch(context.Context, Request) (Answer, error)
}

// Request is a GET of the cache's own.
type Request struct {
	Host, Path string // a path without escapes
	Accept     string
	Gzip       bool   // the answer may be encoded so
	ETag       string // of the answer that is known; "" for none
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
	// Page returns the media type for which the cache asks when a program asks for a page of
	// one of the hosts with a header Accept. ok is false for all that is no list of versions, or
	// a media type that is not known.
	Page(host, path, accept string) (kind string, ok bool)
}

// Item is content that never changes.
type Item struct {
	Host, Path string
	Type       string // for the header Content-Type
	// Asks are other hosts that the cache asks for the digest.
	Asks []string
	// findCheck returns the check of the content, by what the registry says of it.
	findCheck func(context.Context, pageReader) (check, error)
}

// check reports whether a file has the content that the registry promised.
type check func(*os.File) (bool, error)

// ErrPass is the error of a request that the cache does not answer, and the host has to: its
// content is not there, has no known digest or no room.
var ErrPass = errors.New("packages: not of the cache")

// ErrFalse is the error of content that has another digest than the registry says.
var ErrFalse = errors.New("packages: the content has another digest than its registry says")

// encoded reports whether an answer is encoded, so that its bytes are not the content.
func encoded(h http.Header) bool {
	return slices.ContainsFunc(h["Content-Encoding"], func(e string) bool { return e != "" && e != "identity" })
}
