package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// pkg is one package as `go list` describes it, without its tests: a test may
// import any part it needs. Names within the module have lost its prefix.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string
	Standard   bool
	Module     struct{ Path string }
}

func list(root string) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,Deps,Standard,Module", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var out []pkg
	for dec := json.NewDecoder(strings.NewReader(string(stdout))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		shorten(&p)
		out = append(out, p)
	}
}

// shorten writes the module's own packages as ./internal/x, so that they can be
// told from the standard library and from other modules.
func shorten(p *pkg) {
	own := func(path string) string {
		if rest, ok := strings.CutPrefix(path, p.Module.Path+"/"); ok {
			return "./" + rest
		}
		return path
	}
	p.ImportPath = own(p.ImportPath)
	for i := range p.Imports {
		p.Imports[i] = own(p.Imports[i])
	}
	for i := range p.Deps {
		p.Deps[i] = own(p.Deps[i])
	}
}

// isStandard reports whether a path is of the standard library.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// under reports whether a package is the folder or lies below it.
func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func underAny(path string, folders []string) bool {
	for _, f := range folders {
		if under(path, f) {
			return true
		}
	}
	return false
}
