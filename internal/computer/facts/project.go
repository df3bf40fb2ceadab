package facts

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/associate/verify"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// project describes one project.
type project struct {
	dir       string
	names     []string // of its folder, folders with the number of their files
	files     int
	partly    bool // the project has more folders than were looked into
	languages []string
	checks    []string
	commits   []string // subjects, the newest first
	readme    string
	agents    string
}

// readProject reads the facts of the project in a folder; nil if there is no such folder.
func readProject(tree *snapshot.FS, dir string) *project {
	top, err := tree.Folder(dir)
	if err != nil {
		return nil
	}
	p := &project{dir: dir}
	p.count(top)
	p.checks = checks(top)
	p.commits = commits(top)
	entries, _ := top.ReadDir(".")
	for _, e := range entries {
		switch name := strings.ToLower(e.Name()); {
		case e.IsDir():
		case p.readme == "" && (name == "readme" || strings.HasPrefix(name, "readme.")):
			p.readme = head(top, e.Name())
		case e.Name() == "AGENTS.md":
			p.agents = head(top, e.Name())
		}
	}
	return p
}

// languagesOf names the language of a file by its extension.
var languagesOf = map[string]string{
	".go": "Go", ".rs": "Rust", ".py": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".cs": "C#", ".swift": "Swift",
	".sh": "Shell", ".lua": "Lua", ".pl": "Perl", ".ex": "Elixir", ".hs": "Haskell", ".scala": "Scala", ".zig": "Zig", ".r": "R", ".jl": "Julia", ".html": "HTML", ".css": "CSS", ".vue": "Vue", ".svelte": "Svelte",
}

// apart are folders whose files are not the project's own.
var apart = map[string]bool{".git": true, "node_modules": true, "vendor": true, "target": true, ".venv": true, "venv": true, "__pycache__": true}

// count lists the names in the project's folder, and counts its files by language.
func (p *project) count(top *snapshot.FS) {
	below, by := map[string]int{}, map[string]int{}
	_ = fs.WalkDir(top, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			p.partly = true
			return fs.SkipDir
		case d.IsDir() && apart[d.Name()]:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		p.files++
		first, _, _ := strings.Cut(file, "/")
		below[first]++
		if l := languagesOf[strings.ToLower(path.Ext(file))]; l != "" {
			by[l]++
		}
		return nil
	})
	entries, _ := top.ReadDir(".")
	for _, e := range entries {
		name := plain(e.Name())
		switch {
		case e.Name() == ".git":
			continue
		case e.IsDir() && apart[e.Name()]:
			name += "/"
		case e.IsDir():
			name += "/ (" + strconv.Itoa(below[e.Name()]) + ")"
		}
		p.names = append(p.names, name)
	}
	for l := range by {
		p.languages = append(p.languages, l)
	}
	slices.SortFunc(p.languages, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	p.languages = p.languages[:min(len(p.languages), 3)]
}

// everything is a machine that lacks nothing: which programs there are is known only in
// the sandbox.
type everything struct{}

func (everything) Has(string) bool               { return true }
func (everything) HasModule(string, string) bool { return true }

// checks returns the checks that verification would discover: those of the project's
// folder, or of the folders in it when it has none itself.
func checks(top *snapshot.FS) (out []string) {
	found := verify.DiscoverIn(top, nil, choir.VerifySmoke, everything{})
	if len(found) == 0 {
		entries, _ := top.ReadDir(".")
		var inside []string
		for _, e := range entries {
			if e.IsDir() && !apart[e.Name()] {
				inside = append(inside, e.Name()+"/.")
			}
		}
		if len(inside) > 0 {
			found = verify.DiscoverIn(top, inside, choir.VerifySmoke, everything{})
		}
	}
	for _, c := range found {
		text := strings.Join(c.Command.Argv, " ")
		if c.Dir != "." {
			text += " in " + plain(c.Dir)
		}
		if slices.Contains(c.Command.Argv, "pytest") {
			text += " (if pytest is on this machine)"
		}
		if c.Missing != "" {
			text += " (" + c.Missing + ")"
		}
		out = append(out, text)
	}
	return out
}

// maxCommits is the maximum of commits that are listed.
const maxCommits = 5

// commits returns the subjects of the newest commits that git noted here in its record
// of HEAD, the newest first. Commits that came with a clone are not in it.
func commits(top *snapshot.FS) (out []string) {
	raw, err := top.ReadFile(".git/logs/HEAD")
	if err != nil {
		return nil
	}
	for _, line := range slices.Backward(strings.Split(string(raw), "\n")) {
		_, said, _ := strings.Cut(line, "\t")
		kind, subject, _ := strings.Cut(said, ": ")
		if strings.HasPrefix(kind, "commit") && subject != "" && len(out) < maxCommits {
			out = append(out, clip(plain(subject), 70))
		}
	}
	return out
}

// head returns the first lines of a text file that say something, on one line.
func head(top *snapshot.FS, name string) string {
	raw, err := top.ReadFile(name)
	if err != nil {
		return ""
	}
	var said []string
	for line := range strings.Lines(string(raw[:min(len(raw), 4<<10)])) {
		line = plain(line)
		if line != "" && !strings.HasPrefix(line, "[![") && !strings.HasPrefix(line, "![") && !strings.HasPrefix(line, "<") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " / ")
}

// lines returns the facts of a project, one on each line, each part within its share.
func (p *project) lines(s shares) string {
	var b strings.Builder
	b.WriteString(p.dir + "/: ")
	if p.partly {
		b.WriteString("more than ")
	}
	b.WriteString(count(p.files, "file"))
	if len(p.languages) > 0 {
		b.WriteString("; " + strings.Join(p.languages, ", "))
	}
	b.WriteString("\n")
	for _, part := range []struct {
		name, text string
		share      int
	}{
		{"in it", strings.Join(p.names, ", "), s.names},
		{"check", strings.Join(p.checks, "; "), s.checks},
		{"commits here, the newest first", strings.Join(p.commits, "; "), s.commits},
		{"README", p.readme, s.readme},
		{"AGENTS.md", p.agents, s.agents},
	} {
		if part.text != "" && part.share > 0 {
			b.WriteString("  " + part.name + ": " + clip(part.text, part.share) + "\n")
		}
	}
	return b.String()
}

// plain returns text on one line, without control characters and broken ones.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.Join(strings.Fields(s), " ")
}

// clip returns at most limit bytes, whole characters, with dots where something is left
// out.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-3], "") + "..."
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
