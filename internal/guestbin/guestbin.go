// Package guestbin carries the three binaries that run inside sandboxes. `make
// build` puts them into bin before it builds choir; they are never tracked.
package guestbin

import (
	"embed"
	"io/fs"

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

// Read returns one binary; code unavailable when this build carries none.
func Read(name string) ([]byte, error) {
	b, err := fs.ReadFile(files, "bin/"+name)
	if err != nil {
		return nil, choir.Refuse("guestbin.read", choir.ReasonProgramNotInBuild, choir.TextOf("name", name))
	}
	return b, nil
}
