package tools

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxIgnoreBytes limits what is read of one file of ignore rules.
const maxIgnoreBytes = 256 << 10

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	match   *regexp.Regexp // of the path below the file's folder
	keep    bool           // the line began with !: what matches is not ignored
	folders bool           // it is about folders only
}

// ignoreRules are the rules of one folder and, in above, of the folders above it.
type ignoreRules struct {
	folder string // relative to the workspace
	rules  []ignoreRule
	above  *ignoreRules
}

// below returns the rules for the folder name, given those of its parent. A folder with a .git
// begins anew: it is a repository of its own.
func (r *ignoreRules) below(root *os.Root, name string, entries []fs.DirEntry) *ignoreRules {
	has := func(file string) bool {
		return slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == file })
	}
	if has(".git") {
		r = (&ignoreRules{}).with(root, name, ".git/info/exclude")
	}
	if has(".gitignore") {
		r = r.with(root, name, ".gitignore")
	}
	return r
}

// with returns the rules with those of a file in the folder name added. A file that cannot be
// read has none.
func (r *ignoreRules) with(root *os.Root, name, file string) *ignoreRules {
	f, err := root.OpenFile(path.Join(name, file), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return r
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreBytes))
	if err != nil {
		return r
	}
	more := &ignoreRules{folder: name, above: r}
	for line := range bytes.Lines(text) {
		if rule, ok := parseIgnore(string(line)); ok {
			more.rules = append(more.rules, rule)
		}
	}
	return more
}

// ignores reports whether git ignores the file or folder name, relative to the workspace, of
// a folder that is not ignored: the last rule that matches decides, the nearest file first.
func (r *ignoreRules) ignores(name string, isFolder bool) bool {
	for ; r != nil; r = r.above {
		rel := strings.TrimPrefix(name, r.folder+"/")
		if r.folder == "." || r.folder == "" {
			rel = name
		}
		for _, rule := range slices.Backward(r.rules) {
			if (isFolder || !rule.folders) && rule.match.MatchString(rel) {
				return !rule.keep
			}
		}
	}
	return false
}

// parseIgnore returns the rule of a line in gitignore's syntax; ok is false if it has none.
func parseIgnore(line string) (rule ignoreRule, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule, false
	}
	line, rule.keep = strings.CutPrefix(line, "!")
	line, rule.folders = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule, false
	}
	if !anchored {
		line = "**/" + line
	}
	re, err := regexp.Compile("(?s)^" + ignorePattern(line) + "$")
	rule.match = re
	return rule, err == nil
}

// ignorePattern returns the regular expression of a pattern of gitignore.
func ignorePattern(p string) string {
	var b strings.Builder
	for p != "" {
		n := 1
		switch end := strings.IndexByte(p, ']'); {
		case strings.HasPrefix(p, "**/"):
			b.WriteString("(?:.*/)?")
			n = 3
		case strings.HasPrefix(p, "/**") && len(p) == 3:
			b.WriteString("/.+")
			n = 3
		case p[0] == '*':
			b.WriteString("[^/]*")
			n = len(p) - len(strings.TrimLeft(p, "*"))
		case p[0] == '?':
			b.WriteString("[^/]")
		case p[0] == '[' && end > 1:
			b.WriteString("[" + strings.ReplaceAll(strings.Replace(p[1:end], "!", "^", 1), "[", `\[`) + "]")
			n = end + 1
		case p[0] == '\\' && len(p) > 1:
			b.WriteString(regexp.QuoteMeta(p[1:2]))
			n = 2
		case p[0] < 0x80:
			b.WriteString(regexp.QuoteMeta(p[:1]))
		default:
			n = max(1, len(p)-len(strings.TrimLeftFunc(p, func(r rune) bool { return r >= 0x80 })))
			b.WriteString(strings.ToValidUTF8(p[:n], "."))
		}
		p = p[n:]
	}
	return b.String()
}

// caches are folders of dependencies and of tools' caches, which nobody means by a project's files.
var caches = []string{
	"node_modules", "bower_components", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox",
	".venv", "venv", ".gradle", ".yarn", ".pnpm-store", ".parcel-cache", ".turbo", ".next", ".nuxt", ".svelte-kit", ".terraform", ".svn", ".hg",
}

// IsCache reports whether a path lies in, or is, a folder of dependencies or of a tool's cache.
func IsCache(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(caches, part) })
}

// marksCache reports whether a folder with these entries says itself that it is a cache or a
// virtual environment.
func marksCache(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == "CACHEDIR.TAG" || d.Name() == "pyvenv.cfg" })
}
