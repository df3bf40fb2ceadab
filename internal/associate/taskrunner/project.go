package taskrunner

import (
	"fmt"
	"regexp"
	"strings"

	"choiros/internal/associate/tools"
	"choiros/internal/excerpt"
)

// Bounds of what a project says about itself in the first message of a task.
const (
	maxAgentsBytes = 12_000
	maxNested      = 20
	nestedDepth    = 4
)

// endOfData matches what would end a text that is marked as data as a model may read it: in any
// case, with white space and invisible characters in between.
var endOfData = regexp.MustCompile(`(?i)(<[\s\p{Z}\p{C}\p{M}]*)(/[\s\p{Z}\p{C}\p{M}]*data)`)

// projectWords returns what the project tells agents: its AGENTS.md, or CLAUDE.md without one, the
// paths of those in folders below, and its skills. It is marked as the project's words.
func projectWords(files *tools.Workspace) string {
	var b strings.Builder
	name := "AGENTS.md"
	text, cut := files.Head(name, maxAgentsBytes)
	if text == "" {
		name = "CLAUDE.md"
		text, cut = files.Head(name, maxAgentsBytes)
	}
	if text = strings.TrimSpace(text); text != "" {
		if cut {
			text += "\n[cut here; read_file has the rest]"
		}
		b.WriteString("The project says in " + name + ", which holds as far as your task and these conditions do not say otherwise:\n" + asData(name, text))
	} else {
		name = "AGENTS.md"
	}
	if nested := files.Named(name, nestedDepth, maxNested); len(nested) > 0 {
		b.WriteString("Before you change something in one of these folders, read what it says:\n" + asData("nested", strings.Join(nested, "\n")))
	}
	if skills := files.Skills(); len(skills) > 0 {
		var list []string
		for _, s := range skills {
			list = append(list, fmt.Sprintf("%s (%s): %s", s.Name, s.Path, s.Description))
		}
		b.WriteString("The project describes how to do these things; read the file when your task is one of them:\n" + asData("skills", strings.Join(list, "\n")))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n" + strings.TrimRight(b.String(), "\n")
}

// asData returns a text marked as data that nobody's instructions are.
func asData(name, text string) string {
	return fmt.Sprintf("<data name=%q>\n%s\n</data>\n", name, endOfData.ReplaceAllString(excerpt.Text([]byte(text)), `${1}\${2}`))
}
