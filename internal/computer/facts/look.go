package facts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/snapshot"
)

// Bounds of one look: the folders and files that a search reads, and the lines that it
// finds.
const (
	maxLookFolders = 4_000
	maxLookFiles   = 4_000
	maxFound       = 100
)

// LookAtWorkspace lists a folder, reads lines of a file or searches below a path, in the
// newest snapshot before a run's prompt, or after a task of the run when one is named. The text
// is the same whenever it is asked for, as long as the snapshot is kept. Code invalid,
// with the field's path: the request is wrong. Code not_found: there is no such run, no
// such task of it, or no snapshot.
func (f *Facts) LookAtWorkspace(ctx context.Context, r choir.LookRequest) (out choir.LookReply, err error) {
	root, err := f.rootFor(ctx, r)
	if err != nil {
		return out, err
	}
	tree := snapshot.NewFS(ctx, f.content, root, maxLookFolders)
	at := path.Clean("/" + r.Path)[1:]
	if at == "" {
		at = "."
	}
	st, err := tree.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return out, choir.Invalid("path", "there is no file or folder %q; look with \"list\" at the folder it should be in", r.Path)
	}
	if err != nil {
		return out, err
	}
	switch r.What {
	case choir.LookList:
		out.Text, err = list(tree, at, st)
	case choir.LookRead:
		out.Text, err = lines(tree, at, st, r)
	case choir.LookSearch:
		out.Text, err = search(ctx, tree, at, r)
	}
	out.Text = clip(strings.ToValidUTF8(out.Text, "\uFFFD"), choir.MaxLook)
	return out, err
}

// rootFor returns the snapshot that a look is at.
func (f *Facts) rootFor(ctx context.Context, r choir.LookRequest) (choir.Digest, error) {
	t, subject := choir.TypePromptSubmitted, r.Run
	if r.Task != "" {
		t, subject = choir.TypeTaskReturned, r.Task
	}
	e, err := f.log.First(ctx, t, string(subject))
	if err != nil {
		return "", err
	}
	if r.Task != "" && e.Run != r.Run {
		return "", choir.E("look", choir.CodeNotFound, "the run has no task %s", r.Task)
	}
	return f.tree(ctx, e.Seq)
}

// list returns the names in a folder, or the one of a file, with sizes.
func list(tree *snapshot.FS, at string, st fs.FileInfo) (string, error) {
	if !st.IsDir() {
		return fmt.Sprintf("%s  %d bytes\n", at, st.Size()), nil
	}
	entries, err := tree.ReadDir(at)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "The folder is empty.\n", nil
	}
	var b strings.Builder
	for i, e := range entries {
		if b.Len() > choir.MaxLook-300 {
			fmt.Fprintf(&b, "and %d more\n", len(entries)-i)
			break
		}
		info, err := e.Info()
		switch {
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", plain(e.Name()))
		case err == nil && e.Type().IsRegular():
			fmt.Fprintf(&b, "%s  %d bytes\n", plain(e.Name()), info.Size())
		default:
			fmt.Fprintf(&b, "%s  no regular file\n", plain(e.Name()))
		}
	}
	return b.String(), nil
}

// text returns the content of a file of text. Code invalid: it is a folder, too large or
// no text.
func text(tree *snapshot.FS, at string, st fs.FileInfo) ([]byte, error) {
	if st.IsDir() {
		return nil, choir.Invalid("path", "%q is a folder; look with \"list\"", at)
	}
	raw, err := tree.ReadFile(at)
	switch {
	case choir.CodeOf(err) == choir.CodeTooLarge:
		return nil, choir.Invalid("path", "%q has %d bytes, too many to read here; a task of kind inspect can", at, st.Size())
	case errors.Is(err, fs.ErrNotExist):
		return nil, choir.Invalid("path", "%q is no regular file", at)
	case err == nil && bytes.IndexByte(raw[:min(len(raw), 8<<10)], 0) >= 0:
		return nil, choir.Invalid("path", "%q has %d bytes that are no text", at, len(raw))
	}
	return raw, err
}

// lines returns numbered lines of a file.
func lines(tree *snapshot.FS, at string, st fs.FileInfo, r choir.LookRequest) (string, error) {
	raw, err := text(tree, at, st)
	if err != nil {
		return "", err
	}
	shown, total := excerpt.Lines(string(raw), r.From, r.Lines, choir.MaxLook)
	switch {
	case total == 0:
		return "The file is empty.\n", nil
	case shown == "":
		return "", choir.Invalid("from", "%q has %d lines", at, total)
	}
	return shown, nil
}

// search returns the lines below a path that a pattern matches.
func search(ctx context.Context, tree *snapshot.FS, at string, r choir.LookRequest) (string, error) {
	pattern, err := regexp.Compile(r.Pattern)
	if err != nil {
		return "", choir.Invalid("pattern", "%v", err)
	}
	s := searching{ctx: ctx, tree: tree, at: at, pattern: pattern}
	err = fs.WalkDir(tree, at, s.visit)
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return "", err
	}
	if s.found == 0 {
		s.b.WriteString("Nothing was found.\n")
	}
	for _, note := range s.notes {
		s.b.WriteString(note + "\n")
	}
	return s.b.String(), nil
}

// searching is the state of a search.
type searching struct {
	ctx     context.Context
	tree    *snapshot.FS
	at      string // the path that is searched
	pattern *regexp.Regexp
	b       strings.Builder
	files   int
	found   int
	notes   []string // sentences about what was left out
}

// visit implements fs.WalkDirFunc.
func (s *searching) visit(file string, d fs.DirEntry, err error) error {
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case choir.CodeOf(err) == choir.CodeTooLarge:
		s.notes = append(s.notes, fmt.Sprintf("Only %d folders were searched; search a smaller one.", maxLookFolders))
		return fs.SkipAll
	case err != nil:
		return err
	case d.IsDir() && apart[d.Name()] && file != s.at:
		return fs.SkipDir
	case d.IsDir() || !d.Type().IsRegular():
		return nil
	}
	if s.files++; s.files > maxLookFiles {
		s.notes = append(s.notes, fmt.Sprintf("Only %d files were searched; search a smaller folder.", maxLookFiles))
		return fs.SkipAll
	}
	st, err := d.Info()
	if err != nil {
		return err
	}
	raw, err := text(s.tree, file, st)
	if choir.CodeOf(err) == choir.CodeInvalid {
		return nil // too large, or no text
	}
	if err != nil {
		return err
	}
	return s.match(file, string(raw))
}

// match writes the lines of a file that the pattern matches.
func (s *searching) match(file, content string) error {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if !s.pattern.MatchString(line) {
			continue
		}
		if s.found == maxFound || s.b.Len() > choir.MaxLook-2*excerpt.MaxLine {
			s.notes = append(s.notes, fmt.Sprintf("Only the first %d lines are shown; narrow the pattern or the path.", s.found))
			return fs.SkipAll
		}
		s.found++
		fmt.Fprintf(&s.b, "%s:%d: %s\n", plain(file), n, excerpt.Line(line))
	}
	return nil
}
