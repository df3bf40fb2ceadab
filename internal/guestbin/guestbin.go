// Package guestbin carries the three binaries that run inside sandboxes. `make
// build` puts them into bin before it builds choir; they are never tracked.
package guestbin

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"sync"

	"choiros/internal/choir"
)

//go:embed all:bin
var files embed.FS

// Names of the binaries.
const (
	Init      = "choir-init"
	Director  = "choir-director"
	Associate = "choir-associate"
)

// Names lists the binaries that a complete build carries.
func Names() []string { return []string{Init, Director, Associate} }

// Read returns a copy of one binary; code unavailable when this build carries none.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile("bin/" + name)
	if err != nil {
		return nil, notInBuild(name)
	}
	return b, nil
}

// Open returns one binary to be read, without a copy of it; code unavailable when this build
// carries none. The caller closes it.
func Open(name string) (fs.File, error) {
	f, err := files.Open("bin/" + name)
	if err != nil {
		return nil, notInBuild(name)
	}
	return f, nil
}

func notInBuild(name string) error {
	return choir.Refuse("guestbin.read", choir.ReasonProgramNotInBuild, choir.TextOf("name", name))
}

// Checksum returns the SHA-256 of all binaries in hex, one after the other as Names lists them.
// It is computed once in a process. Code unavailable: this build does not carry all.
func Checksum() (string, error) { return checksum() }

var checksum = sync.OnceValues(func() (string, error) {
	h := sha256.New()
	for _, name := range Names() {
		f, err := Open(name)
		if err == nil {
			_, err = io.Copy(h, f)
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})
