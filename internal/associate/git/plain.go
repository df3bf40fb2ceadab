package git

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// plainSections are the sections of a git configuration that do not affect the content
// of commits.
var plainSections = []string{"user", "author", "committer", "init", "remote", "branch", "alias", "color", "pull", "push", "fetch", "log", "diff", "advice", "credential", "safe", "url"}

// plainCore are the settings of section core in a newly created repository.
var plainCore = []string{"repositoryformatversion=0", "filemode=true", "bare=false", "logallrefupdates=true"}

// plain reports whether a commit of the paths contains their bytes unconverted, in loose
// SHA-1 objects: the configuration is ordinary, and no attributes, replacements or
// alternates exist.
func (g *Git) plain(dir string, paths []string) bool {
	gitDir := filepath.Join(dir, ".git")
	if raw, err := os.ReadFile(filepath.Join(gitDir, "config")); err != nil || !plainConfig(raw) {
		return false
	}
	for _, unusual := range []string{"info/attributes", "info/grafts", "refs/replace", "config.worktree", "objects/info/alternates"} {
		if exists(filepath.Join(gitDir, unusual)) {
			return false
		}
	}
	return g.plainUser() && !hasAttributes(dir, paths)
}

// plainUser reports the same as plain, of the settings in the environment and the home
// folder.
func (g *Git) plainUser() bool {
	home, config := "", ""
	for _, v := range g.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "GIT_SSL_CAINFO": // concerns connections only
		case strings.HasPrefix(name, "GIT_"):
			return false
		case name == "HOME":
			home = value
		case name == "XDG_CONFIG_HOME":
			config = value
		}
	}
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git/config")} {
		raw, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) || !plainConfig(raw) {
			return false
		}
	}
	return !exists(filepath.Join(config, "git/attributes"))
}

// plainConfig reports whether a git configuration has only settings that do not affect
// the content of commits. Anything it does not recognise makes it false.
func plainConfig(raw []byte) bool {
	section := ""
	for line := range bytes.Lines(raw) {
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasSuffix(text, `\`):
			return false // goes on in the next line
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[':
			name, ok := strings.CutSuffix(text[1:], "]")
			if !ok {
				return false
			}
			name, _, _ = strings.Cut(name, " ")
			section = strings.ToLower(name)
		case section == "core":
			key, value, _ := strings.Cut(text, "=")
			if !slices.Contains(plainCore, strings.ToLower(strings.TrimSpace(key)+"="+strings.TrimSpace(value))) {
				return false
			}
		case !slices.Contains(plainSections, section):
			return false
		}
	}
	return true
}

const attributesFile = ".gitattributes"

// hasAttributes reports whether a .gitattributes lies in a folder above the paths.
func hasAttributes(dir string, paths []string) bool {
	return slices.ContainsFunc(foldersOf(paths), func(folder string) bool {
		return exists(filepath.Join(dir, folder, attributesFile))
	})
}

// foldersOf returns the folders above the paths, each once, including ".".
func foldersOf(paths []string) []string {
	var folders []string
	seen := map[string]bool{}
	for _, p := range paths {
		for d := path.Dir(p); !seen[d]; d = path.Dir(d) {
			seen[d] = true
			folders = append(folders, d)
		}
	}
	return folders
}
