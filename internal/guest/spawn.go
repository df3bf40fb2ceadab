package guest

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// mergeEnv returns the environment base with the variables of extra added or replaced.
func mergeEnv(base, extra []string) []string {
	at := map[string]int{}
	var out []string
	for _, list := range [][]string{base, extra} {
		for _, kv := range list {
			name, _, _ := strings.Cut(kv, "=")
			if i, ok := at[name]; ok {
				out[i] = kv
				continue
			}
			at[name] = len(out)
			out = append(out, kv)
		}
	}
	return out
}

// lookPath returns the path of a program as execvp finds it, in the PATH of env. A name
// that is not found is code not_found.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok || name == "" {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			full := filepath.Join(dir, name)
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && unix.Access(full, unix.X_OK) == nil {
				return full, nil
			}
		}
	}
	return "", &choir.Error{Op: "guest.exec", Code: choir.CodeNotFound, Path: "argv[0]",
		Msg: "no program " + clip(name, 200) + " is in the PATH of the sandbox"}
}

// workingFolder returns the absolute folder in which a command starts. A relative cwd is
// below the workspace; an empty one means the workspace, or / without one.
func (s *Server) workingFolder(cwd string) string {
	if cwd == "" {
		cwd = s.cfg.Workspace
	}
	if cwd == "" {
		cwd = "/"
	}
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(s.cfg.Workspace, cwd)
	}
	return cwd
}

// checkFolder returns an error if dir is not an existing folder.
func checkFolder(dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return pathError("exec", "cwd", err)
	} else if !info.IsDir() {
		return choir.Invalid("cwd", "%s is not a folder", clip(dir, 200))
	}
	return nil
}
