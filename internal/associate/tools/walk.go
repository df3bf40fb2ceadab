package tools

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Limits of the tools list_files and search_files.
const (
	defaultList    = 500
	defaultMatches = 200
	maxResults     = 5000
	maxVisited     = 500_000
	maxSearchBytes = 8 << 20 // larger files are not searched
	maxLineShown   = 400
)

type listFiles struct {
	Path    string `json:"path,omitempty" choir:"len=0..4096"`
	Pattern string `json:"pattern,omitempty" choir:"len=0..4096"`
	Limit   int    `json:"limit,omitempty" choir:"range=1..5000"`
}

func (in *listFiles) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Pattern: in.Pattern, Limit: in.Limit}
}

func (in *listFiles) run(ctx context.Context, k *Kit) (Output, error) {
	match, err := glob(in.Pattern)
	if err != nil {
		return Output{}, err
	}
	r := results{limit: in.Limit, fallback: defaultList}
	err = k.Files.walk(ctx, in.Path, func(rel, _ string, d fs.DirEntry) error {
		if d.IsDir() {
			if in.Pattern == "" {
				return r.add(rel + "/")
			}
			return nil
		}
		if in.Pattern != "" && !match.MatchString(rel) {
			return nil
		}
		return r.add(rel)
	})
	return r.output("no files", err)
}

type searchFiles struct {
	Pattern string `json:"pattern" choir:"len=1..4096"`
	Path    string `json:"path,omitempty" choir:"len=0..4096"`
	Limit   int    `json:"limit,omitempty" choir:"range=1..5000"`
}

func (in *searchFiles) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Pattern: in.Pattern, Limit: in.Limit}
}

func (in *searchFiles) run(ctx context.Context, k *Kit) (Output, error) {
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return Output{}, choir.Invalid("pattern", "is not a regular expression: %v", err)
	}
	r := results{limit: in.Limit, fallback: defaultMatches}
	err = k.Files.walk(ctx, in.Path, func(rel, abs string, d fs.DirEntry) error {
		if !d.Type().IsRegular() {
			return nil
		}
		content, _, err := k.Files.slurp(abs, maxSearchBytes)
		if err != nil || bytes.IndexByte(content[:min(len(content), sniffBytes)], 0) >= 0 {
			return nil // too large, gone, unreadable or binary: not searched
		}
		return r.grep(re, rel, content)
	})
	return r.output("no matches", err)
}

// results collects lines up to a limit.
type results struct {
	limit, fallback int
	lines           []string
	cut             bool
}

// add adds a line. It returns fs.SkipAll once the limit is reached.
func (r *results) add(line string) error {
	limit := r.limit
	if limit == 0 {
		limit = r.fallback
	}
	if len(r.lines) >= min(limit, maxResults) {
		r.cut = true
		return fs.SkipAll
	}
	r.lines = append(r.lines, strings.ToValidUTF8(line, "\uFFFD"))
	return nil
}

// grep adds the lines of content that match re. It returns fs.SkipAll at the limit.
func (r *results) grep(re *regexp.Regexp, rel string, content []byte) error {
	n := 0
	for line := range bytes.Lines(content) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if !re.Match(line) {
			continue
		}
		if err := r.add(fmt.Sprintf("%s:%d: %s", rel, n, Cut(string(line), maxLineShown))); err != nil {
			return err
		}
	}
	return nil
}

// output returns the lines as a tool output, or the text none if there are none; err if not nil.
func (r *results) output(none string, err error) (Output, error) {
	if err != nil {
		return Output{}, err
	}
	if len(r.lines) == 0 {
		return Output{Text: none, OK: true}, nil
	}
	text := strings.Join(r.lines, "\n") + "\n"
	if r.cut {
		text += fmt.Sprintf("[only the first %d; narrow the pattern or the path]\n", len(r.lines))
	}
	shown := Cut(text, maxReadBytes)
	return Output{Text: shown, OK: true, Full: wholeIfCut(text, shown)}, nil
}

// walk calls visit for everything below the folder p, sorted, or for p itself if it is a
// file. It skips .git and does not follow links. rel is relative to p, abs absolute.
func (w *Workspace) walk(ctx context.Context, p string, visit func(rel, abs string, d fs.DirEntry) error) error {
	name, err := w.resolve(p)
	if err != nil {
		return err
	}
	info, err := w.root.Stat(name)
	if err != nil {
		return fault(p, err)
	}
	left := maxVisited
	if !info.IsDir() {
		err = visit(path.Base(name), path.Join(w.dir, name), fs.FileInfoToDirEntry(info))
	} else {
		err = w.walkDir(ctx, name, "", &left, visit)
	}
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// walkDir calls visit for everything below the folder name, until *left entries are visited.
func (w *Workspace) walkDir(ctx context.Context, name, rel string, left *int, visit func(rel, abs string, d fs.DirEntry) error) error {
	dir, err := w.root.Open(name)
	if err != nil {
		return nil // gone or unreadable since it was listed
	}
	entries, err := dir.ReadDir(-1)
	dir.Close()
	if err != nil {
		return fault(name, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range entries {
		if d.Name() == ".git" {
			continue
		}
		if *left--; *left < 0 || ctx.Err() != nil {
			return fs.SkipAll
		}
		at := path.Join(rel, d.Name())
		if err := visit(at, path.Join(w.dir, name, d.Name()), d); err != nil {
			return err
		}
		if d.IsDir() {
			if err := w.walkDir(ctx, path.Join(name, d.Name()), at, left, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
