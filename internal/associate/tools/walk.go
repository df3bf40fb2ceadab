package tools

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"choiros/internal/choir"
)

// Limits of the tools list_files and search_files.
const (
	defaultList    = 500
	defaultMatches = 200
	maxResults     = 5000
	maxVisited     = 500_000
	maxSearchBytes = 8 << 20 // larger files are not searched
	maxLeftOut     = 8       // names of what was left out in one answer
)

// nonBlocking keeps an open from waiting on a named pipe.
const nonBlocking = syscall.O_NONBLOCK

type listFiles struct {
	Path    string `json:"path,omitempty" choir:"len=0..4096"`
	Pattern string `json:"pattern,omitempty" choir:"len=0..4096"`
	Limit   int    `json:"limit,omitempty" choir:"range=1..5000"`
	Ignored bool   `json:"ignored,omitempty"`
	Symbols bool   `json:"symbols,omitempty"`
}

func (in *listFiles) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Pattern: in.Pattern, Limit: in.Limit, Ignored: in.Ignored, Symbols: in.Symbols}
}

func (in *listFiles) run(ctx context.Context, k *Kit) (Output, error) {
	match, err := glob(in.Pattern)
	if err != nil {
		return Output{}, err
	}
	r := results{limit: in.Limit, fallback: defaultList}
	left, err := k.Files.walk(ctx, in.Path, in.Ignored, func(f found) error {
		if f.entry.IsDir() {
			if in.Pattern == "" {
				return r.add(f.shown + "/")
			}
			return nil
		}
		if in.Pattern != "" && !match.MatchString(f.rel) {
			return nil
		}
		return r.add(in.line(k, f))
	})
	return r.output("no files", left, err)
}

// line returns the line of a file: its path, with what it declares if that is asked for.
func (in *listFiles) line(k *Kit, f found) string {
	if !in.Symbols || !f.entry.Type().IsRegular() || outlineOf(f.rel) == nil {
		return f.shown
	}
	content, _, err := k.Files.slurp(f.abs, maxOutlined)
	if err != nil {
		return f.shown // too large, gone or unreadable
	}
	if symbols := outline(f.rel, content); symbols != "" {
		return f.shown + ": " + symbols
	}
	return f.shown
}

// results collects lines up to a limit.
type results struct {
	limit, fallback int
	found           int // lines that count
	size            int // bytes of all lines
	lines           []string
	cut             bool
}

// add adds a line that counts. It returns fs.SkipAll once the limit is reached.
func (r *results) add(line string) error {
	if r.isFull() {
		return fs.SkipAll
	}
	r.found++
	r.addBeside(line)
	return nil
}

// isFull reports whether no further line is added, and then marks the results as cut.
func (r *results) isFull() bool {
	limit := r.limit
	if limit == 0 {
		limit = r.fallback
	}
	r.cut = r.found >= min(limit, maxResults) || r.size > maxReadBytes
	return r.cut
}

// addBeside adds a line that does not count.
func (r *results) addBeside(line string) {
	r.lines = append(r.lines, strings.ToValidUTF8(line, "\uFFFD"))
	r.size += len(line) + 1
}

// output returns the lines as a tool output, or the text none if there are none, and what was
// left out; err if not nil.
func (r *results) output(none string, left []string, err error) (Output, error) {
	if err != nil {
		return Output{}, err
	}
	text := none
	if len(r.lines) > 0 {
		text = strings.Join(r.lines, "\n") + "\n"
	}
	if r.cut {
		text += fmt.Sprintf("[only the first %d; narrow the pattern or the path]\n", r.found)
	}
	if len(left) > 0 {
		some := strings.Join(left[:min(len(left), maxLeftOut)], ", ")
		if more := len(left) - maxLeftOut; more > 0 {
			some += fmt.Sprintf(" and %d more", more)
		}
		text = strings.TrimSuffix(text, "\n") + "\n[left out, because git ignores it or it is a cache: " + strings.ToValidUTF8(some, "\uFFFD") + "; ignored true has it too]\n"
	}
	return Output{Text: text, OK: true}, nil
}

// found is a file or folder that a walk visits.
type found struct {
	rel   string // relative to where the walk began
	shown string // as the other tools take it: relative to the task's folder
	abs   string
	entry fs.DirEntry
}

// walker walks below a folder.
type walker struct {
	*Workspace
	ctx     context.Context
	visit   func(found) error
	left    int // entries that it still visits
	all     bool
	leftOut []later
}

// later is an entry that git ignores, or a folder that is a cache.
type later struct {
	name, rel string
	entry     fs.DirEntry
}

// walk calls visit for everything below the folder p, sorted, or for p itself if it is a
// file. It skips .git and does not follow links. What git ignores, and caches, comes last, with
// ignored or if p itself is that, or else not at all: then their names are returned.
func (w *Workspace) walk(ctx context.Context, p string, ignored bool, visit func(found) error) ([]string, error) {
	name, err := w.resolve(p)
	if err != nil {
		return nil, err
	}
	info, err := w.root.Stat(name)
	if err != nil {
		return nil, fault(p, err)
	}
	k := &walker{Workspace: w, ctx: ctx, visit: visit, left: maxVisited}
	if !info.IsDir() {
		_, err = k.see(name, path.Base(name), fs.FileInfoToDirEntry(info))
		return nil, unlessAll(err)
	}
	rules, inIgnored := w.rulesAt(name)
	k.all = inIgnored || IsCache(name)
	if err = k.dir(name, "", rules, nil); err != nil || k.all {
		return nil, unlessAll(err)
	}
	if !ignored {
		names := make([]string, len(k.leftOut))
		for i, l := range k.leftOut {
			if names[i] = w.shown(l.name); l.entry.IsDir() {
				names[i] += "/"
			}
		}
		return names, nil
	}
	k.all = true
	for _, l := range k.leftOut {
		down, err := k.see(l.name, l.rel, l.entry)
		if err == nil && down {
			err = k.dir(l.name, l.rel, nil, nil)
		}
		if err != nil {
			return nil, unlessAll(err)
		}
	}
	return nil, nil
}

func unlessAll(err error) error {
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// shown returns a path below the workspace as the tools take it.
func (w *Workspace) shown(name string) string {
	rel, err := filepath.Rel(w.base, name)
	if err != nil {
		return path.Join(w.dir, name)
	}
	return filepath.ToSlash(rel)
}

// rulesAt returns the ignore rules of the folders above name, and whether they ignore it.
func (w *Workspace) rulesAt(name string) (rules *ignoreRules, ignored bool) {
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		if at == name {
			break
		}
		rules = rules.below(w.root, at, w.entries(at))
		if at = path.Join(at, part); rules.ignores(at, true) {
			return nil, true
		}
	}
	return rules, false
}

// entries returns what a folder has, sorted; nothing if it cannot be read.
func (w *Workspace) entries(name string) []fs.DirEntry {
	dir, err := w.root.Open(name)
	if err != nil {
		return nil // gone or unreadable since it was listed
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// see visits one entry; down reports whether it is a folder.
func (k *walker) see(name, rel string, d fs.DirEntry) (down bool, err error) {
	if k.left--; k.left < 0 || k.ctx.Err() != nil {
		return false, fs.SkipAll
	}
	return d.IsDir(), k.visit(found{rel: rel, shown: k.shown(name), abs: path.Join(k.Workspace.dir, name), entry: d})
}

// dir visits everything below the folder name. above are the rules of the folders that it lies in,
// self is its entry, nil where the walk began.
func (k *walker) dir(name, rel string, above *ignoreRules, self fs.DirEntry) error {
	entries := k.entries(name)
	if self != nil {
		if !k.all && marksCache(entries) {
			k.leftOut = append(k.leftOut, later{name, rel, self})
			return nil
		}
		if _, err := k.see(name, rel, self); err != nil {
			return err
		}
	}
	rules := above.below(k.root, name, entries)
	for _, d := range entries {
		if d.Name() == ".git" {
			continue
		}
		at, below := path.Join(name, d.Name()), path.Join(rel, d.Name())
		switch {
		case !k.all && (d.IsDir() && slices.Contains(caches, d.Name()) || rules.ignores(at, d.IsDir())):
			k.leftOut = append(k.leftOut, later{at, below, d})
		case d.IsDir():
			if err := k.dir(at, below, rules, d); err != nil {
				return err
			}
		default:
			if _, err := k.see(at, below, d); err != nil {
				return err
			}
		}
	}
	return nil
}
