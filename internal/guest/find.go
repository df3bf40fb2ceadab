package guest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// maxFindEntries and the following constants bound one search.
const (
	maxFindEntries = 200_000
	maxFindBytes   = 512 << 20 // of content, in all files
	maxFindFile    = 4 << 20   // of content, in one file
	maxFindText    = 200       // characters of a line that is shown
	bestSpare      = 100       // matches kept before the best are chosen, above twice the limit
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
		limit: limit, room: maxPageSize, best: r.Find.Best, found: Found{Matches: []Match{}},
	}
	if err := f.folder(dir, r.Path); err != nil && err != errEnough {
		return nil, err
	}
	if f.best {
		f.keepBest()
	}
	return &f.found, nil
}

// finding is the state of one search.
type finding struct {
	ctx     context.Context
	name    string // in lower case
	content []byte
	skip    []string // names of folders
	limit   int
	best    bool // all are looked at, and the best names kept
	room    int  // bytes left in the answer
	entries int
	depth   int
	read    int64
	found   Found
}

// errEnough ends a search that has reached one of its bounds.
var errEnough = choir.E("guest.find", choir.CodeInternal, "enough")

// maxFindPath is the length in bytes of the escaped path of a folder beyond which nothing below it is
// searched. The paths of all folders above are in memory meanwhile.
const maxFindPath = 3 * unix.PathMax

// folder searches the open folder dir, which has the escaped path path. Entries that
// cannot be read are skipped, because they may have vanished.
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
	if !isDir || f.depth >= snapshot.MaxDepth || len(state.Path) > maxFindPath {
		return nil
	}
	f.depth++
	defer func() { f.depth-- }()
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	child := os.NewFile(uintptr(fd), "")
	defer child.Close()
	return f.folder(child, state.Path)
}

// consider adds an entry whose name matches to the result if its content matches too,
// where content is searched.
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
		if m.Line, m.Text, ok = f.firstLineWith(dir, name); !ok {
			return nil
		}
	}
	if f.best {
		if f.found.Matches = append(f.found.Matches, m); len(f.found.Matches) >= 2*f.limit+bestSpare {
			f.keepBest()
		}
		return nil
	}
	if f.room -= sizeInAnswer(m); len(f.found.Matches) == f.limit || f.room < 0 {
		return f.enough()
	}
	f.found.Matches = append(f.found.Matches, m)
	return nil
}

// keepBest sorts the matches by nameFit and drops those beyond the limit or beyond the
// size of an answer.
func (f *finding) keepBest() {
	slices.SortFunc(f.found.Matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(nameFit(a.File.Path, f.name), nameFit(b.File.Path, f.name)), cmp.Compare(len(a.File.Path), len(b.File.Path)), cmp.Compare(a.File.Path, b.File.Path))
	})
	if len(f.found.Matches) > f.limit {
		f.found.Matches, f.found.Cut = f.found.Matches[:f.limit], true
	}
	room := maxPageSize
	for i, m := range f.found.Matches {
		if room -= sizeInAnswer(m); room < 0 {
			f.found.Matches, f.found.Cut = f.found.Matches[:i], true
			break
		}
	}
}

// sizeInAnswer returns the approximate size of a match in the answer, in bytes.
func sizeInAnswer(m Match) int { return len(m.File.Path) + len(m.File.Target) + len(m.Text) + 200 }

// nameFit ranks how well a path's last name matches wanted, which is in lower case: 0 the
// whole name, with or without its extension; 1 a prefix; 2 the beginning of a word; 3 any
// other position.
func nameFit(path, wanted string) int {
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	at := strings.Index(name, wanted)
	switch {
	case name == wanted || at == 0 && strings.LastIndexByte(name, '.') == len(wanted):
		return 0
	case at == 0:
		return 1
	}
	for ; at > 0; at = next(name, wanted, at) {
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		if !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return 2
		}
	}
	return 3
}

// next returns the next index of wanted in name after an index, or -1.
func next(name, wanted string, after int) int {
	if at := strings.Index(name[after+1:], wanted); at >= 0 {
		return after + 1 + at
	}
	return -1
}

func (f *finding) enough() error {
	f.found.Cut = true
	return errEnough
}

// firstLineWith returns the first line of a text file that contains f.content: its number
// from 1 and its text, shortened around the match. ok is false without a match and for a
// binary file.
func (f *finding) firstLineWith(dir *os.File, name string) (line int, text string, ok bool) {
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
