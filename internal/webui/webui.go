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
func Shell() (fs.FS, error) { return built("shell") }

// Desktop is the built desktop; code unavailable when this build has none.
func Desktop() (fs.FS, error) { return built("desktop") }

func built(name string) (fs.FS, error) {
	sub, err := fs.Sub(files, "dist/"+name)
	if err == nil {
		_, err = fs.Stat(sub, "index.html")
	}
	if err != nil {
		return nil, choir.E("webui."+name, choir.CodeUnavailable, "this build of choir does not carry the %s", name).
			WithRemedy("build it with: make build")
	}
	return sub, nil
}
