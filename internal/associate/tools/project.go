package tools

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Head returns the first max bytes of a file, as far as they are text; "" if it cannot be read.
// cut reports whether it has more.
func (w *Workspace) Head(p string, max int) (text string, cut bool) {
	f, info, err := w.open(p)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head := make([]byte, min(int64(max), info.Size()))
	n, _ := f.ReadAt(head, 0)
	if head = head[:n]; bytes.IndexByte(head, 0) >= 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(head), ""), info.Size() > int64(n)
}

// Skill is a description of how to do something, which a project has in a folder.
type Skill struct {
	Path, Name, Description string
}

// Bounds of the skills of a project.
const (
	maxSkills      = 40
	maxSkillHead   = 4096
	maxDescription = 400
)

// Skills returns the skills in .agents/skills and .claude/skills of the task's folder, sorted
// by their path.
func (w *Workspace) Skills() []Skill {
	var all []Skill
	for _, folder := range []string{".agents/skills", ".claude/skills"} {
		name, err := w.resolve(folder)
		if err != nil {
			continue
		}
		for _, d := range w.entries(name) {
			at := path.Join(folder, d.Name(), "SKILL.md")
			if head, _ := w.Head(at, maxSkillHead); head != "" && len(all) < maxSkills {
				all = append(all, parseSkill(at, d.Name(), head))
			}
		}
	}
	return all
}

// parseSkill returns the skill of a SKILL.md, whose front matter has its name and description.
func parseSkill(at, name, head string) Skill {
	s := Skill{Path: at, Name: name}
	front, _, ok := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(head, "\r\n", "\n"), "---\n"), "\n---")
	if !ok {
		return s
	}
	var key string
	for line := range strings.Lines(front) {
		k, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if strings.HasPrefix(line, " ") || !found {
			value = strings.TrimSpace(line) // goes on with the line before
		} else {
			key, value = k, strings.Trim(strings.TrimSpace(value), `"'|>`)
		}
		switch key {
		case "name":
			s.Name = strings.TrimSpace(value)
		case "description":
			s.Description = strings.TrimSpace(s.Description + " " + value)
		}
	}
	if r := []rune(s.Description); len(r) > maxDescription {
		s.Description = string(r[:maxDescription-1]) + "…"
	}
	return s
}

// Named returns the paths of the files called name below the task's folder, without that in the
// folder itself and without caches, at most max of them and depth folders deep, sorted.
func (w *Workspace) Named(name string, depth, max int) []string {
	var all []string
	var look func(at string, depth int)
	look = func(at string, depth int) {
		for _, d := range w.entries(path.Join(w.base, at)) {
			switch {
			case len(all) >= max:
				return
			case d.Name() == name && at != "" && d.Type()&fs.ModeType == 0:
				all = append(all, path.Join(at, name))
			case d.IsDir() && depth > 0 && !strings.HasPrefix(d.Name(), ".") && !slices.Contains(caches, d.Name()):
				look(path.Join(at, d.Name()), depth-1)
			}
		}
	}
	look("", depth)
	slices.Sort(all)
	return all
}
