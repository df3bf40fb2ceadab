package guest

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Bounds of one search.
const (
	maxFindEntries = 200_000
	maxFindBytes   = 512 << 20 // of content, in all files
	maxFindFile    = 4 << 20   // of content, in one file
	maxFindText    = 200       // characters of a line that is shown
)

func (s *Server) find(ctx context.Context, _ *wire, r *request) (any, error) {
	if r.Find == nil || r.Find.Name == "" && r.Find.Content == "" {
		return nil, choir.Invalid("find", "say what to look for: a part of the name, or of the content")
	}
	fd, err := s.openPath(r.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	limit := r.Limit
	if limit == 0 {
		limit = defaultPage
	}
	f := finding{
		ctx: ctx, name: strings.ToLower(r.Find.Name), content: []byte(r.Find.Content), skip: r.Only,
		limit: limit, room: maxPageSize, found: Found{Matches: []Match{}},
	}
	if err := f.folder(dir, r.Path); err != nil && err != errEnough {
		return nil, err
	}
	return &f.found, nil
}

// finding is one search under way.
type finding struct {
	ctx     context.Context
	name    string // in lower case
	content []byte
	skip    []string // names of folders
	limit   int
	room    int // bytes left in the answer
	entries int
	read    int64
	found   Found
}

// errEnough ends a search at one of its bounds.
var errEnough = choir.E("guest.find", choir.CodeInternal, "enough")

// folder looks at what is in a folder. What cannot be read is passed over: it may
// be gone by now.
func (f *finding) folder(dir *os.File, path string) error {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if f.entries++; f.entries > maxFindEntries {
			return f.enough()
		}
		below := snapshot.EscapePath([]byte(name))
		if path != "" {
			below = path + "/" + below
		}
		state, err := stateAt(int(dir.Fd()), name, below)
		if err != nil {
			continue
		}
		if err := f.entry(dir, name, state); err != nil {
			return err
		}
	}
	return nil
}

func (f *finding) entry(dir *os.File, name string, state choir.FileState) error {
	isDir := state.Kind == "dir"
	if isDir && (name == ".git" || slices.Contains(f.skip, name)) {
		return nil
	}
	if strings.Contains(strings.ToLower(name), f.name) {
		if err := f.consider(dir, name, state); err != nil {
			return err
		}
	}
	if !isDir {
		return nil
	}
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	child := os.NewFile(uintptr(fd), "")
	defer child.Close()
	return f.folder(child, state.Path)
}

// consider takes an entry with the right name when it has the content, too.
func (f *finding) consider(dir *os.File, name string, state choir.FileState) error {
	m := Match{File: state}
	if len(f.content) > 0 {
		if state.Kind != "file" || state.Size > maxFindFile {
			return nil
		}
		if f.read += state.Size; f.read > maxFindBytes {
			return f.enough()
		}
		var ok bool
		if m.Line, m.Text, ok = f.within(dir, name); !ok {
			return nil
		}
	}
	if f.room -= len(state.Path) + len(state.Target) + len(m.Text) + 200; len(f.found.Matches) == f.limit || f.room < 0 {
		return f.enough()
	}
	f.found.Matches = append(f.found.Matches, m)
	return nil
}

func (f *finding) enough() error {
	f.found.Cut = true
	return errEnough
}

// within finds the first line with the content in a text file.
func (f *finding) within(dir *os.File, name string) (line int, text string, ok bool) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, "", false
	}
	file := os.NewFile(uintptr(fd), "")
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFindFile))
	at := bytes.Index(raw, f.content)
	if err != nil || at < 0 || bytes.IndexByte(raw[:min(len(raw), 8<<10)], 0) >= 0 {
		return 0, "", false
	}
	begin := bytes.LastIndexByte(raw[:at], '\n') + 1
	end := len(raw)
	if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
		end = at + i
	}
	if at-begin > maxFindText/2 {
		begin = at - maxFindText/2
		for begin < at && !utf8.RuneStart(raw[begin]) {
			begin++
		}
	}
	text = clip(strings.ToValidUTF8(string(raw[begin:end]), "\uFFFD"), maxFindText)
	return bytes.Count(raw[:at], []byte{'\n'}) + 1, strings.TrimSpace(text), true
}
