package proctree

import (
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
)

// LookPath returns the path of a program, found as a shell in dir with the environment env
// would. A name with a slash is returned as is. Code not_found: there is none.
func LookPath(program, dir string, env []string) (string, error) { return lookPath(program, dir, env) }

func lookPath(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	var path string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		full := filepath.Join(d, program)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	return "", choir.E("proctree.run", choir.CodeNotFound, "there is no program %q on the path", program)
}
