// Package webui carries the built user interfaces. `make build` puts them into
// dist; they are never tracked.
package webui

import (
	"embed"
	"io"
	"io/fs"

	"choiros/internal/choir"
)

//go:embed all:dist
var files embed.FS

// Shell is the built trusted shell; code unavailable when this build has none.
func Shell() (fs.FS, error) { return built("shell") }

// Desktop is the built desktop; code unavailable when this build has none.
func Desktop() (fs.FS, error) { return built("desktop") }

// Names of the files that tools/packdesktop leaves beside the bundles.
const (
	sourceName  = "dist/desktop-source.tar"
	modulesName = "dist/desktop-modules.tar.zst"
	toolsName   = "dist/desktop-tools.tar.zst"
	sumSuffix   = ".sha256"
)

// DesktopSource is the source that new workspaces begin with, as a tar; nil when
// this build has none.
func DesktopSource() []byte {
	raw, err := files.ReadFile(sourceName)
	if err != nil {
		return nil
	}
	return raw
}

// DesktopModules returns the packages that serve a changed source, and the packages that lint and test it,
// as compressed tars, and their joint digest, which is empty when this build has none.
func DesktopModules() (digest string, packages, tools func() (io.ReadCloser, error)) {
	sum, err := files.ReadFile(modulesName + sumSuffix)
	if err != nil {
		return "", nil, nil
	}
	opener := func(name string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return files.Open(name) }
	}
	return string(sum), opener(modulesName), opener(toolsName)
}

func built(name string) (fs.FS, error) {
	sub, err := fs.Sub(files, "dist/"+name)
	if err == nil {
		_, err = fs.Stat(sub, "index.html")
	}
	if err != nil {
		return nil, choir.Refuse("webui."+name, choir.ReasonNotInBuild, choir.TextOf("what", name))
	}
	return sub, nil
}
