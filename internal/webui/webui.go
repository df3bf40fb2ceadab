// Package webui carries the built user interfaces. `make build` puts them into
// dist; they are never tracked.
package webui

import (
	"embed"
	"io/fs"

	"choiros/internal/choir"
)

//go:embed all:dist
var files embed.FS

// Shell is the built trusted shell; code unavailable when this build has none.
func Shell() (fs.FS, error) {
	sub, err := fs.Sub(files, "dist/shell")
	if err == nil {
		_, err = fs.Stat(sub, "index.html")
	}
	if err != nil {
		return nil, choir.E("webui.shell", choir.CodeUnavailable, "this build of choir does not carry the shell").
			WithRemedy("build it with: make build")
	}
	return sub, nil
}
