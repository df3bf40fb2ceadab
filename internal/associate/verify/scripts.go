package verify

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
)

// maxScripts limits the scripts that are read for one check, which may call each other.
const maxScripts = 50

// scripts returns a function that returns the script of a project's package.json, or the
// recipe of its makefile, by the tool and the name; "" if there is none.
func (p project) scripts() func(tool, name string) string {
	left := maxScripts
	return func(tool, name string) string {
		if left--; left < 0 {
			return ""
		}
		if tool == "make" {
			return p.recipe(name)
		}
		raw, err := fs.ReadFile(p.tree, p.at("package.json"))
		var pkg struct {
			Scripts map[string]string `json:"scripts"`
		}
		if err != nil || json.Unmarshal(raw, &pkg) != nil {
			return ""
		}
		return pkg.Scripts[name]
	}
}

// recipe returns the lines of the recipe of a target in the project's makefile, and of
// the targets that it needs.
func (p project) recipe(target string) string {
	for _, name := range markers[4].files {
		raw, err := fs.ReadFile(p.tree, p.at(name))
		if err == nil {
			return recipe(string(raw), target, map[string]bool{})
		}
	}
	return ""
}

// recipe returns that of a target, without the targets that were seen.
func recipe(makefile, target string, seen map[string]bool) string {
	rule, err := regexp.Compile(`(?m)^` + regexp.QuoteMeta(target) + `[ \t]*::?([^=\n][^\n]*)?$`)
	if err != nil || seen[target] || len(seen) == maxScripts {
		return "" // a name that is not UTF-8, which make has no rule for either
	}
	seen[target] = true
	head := rule.FindStringSubmatchIndex(makefile)
	if head == nil {
		return ""
	}
	var lines []string
	if head[2] >= 0 {
		needs, inline, _ := strings.Cut(makefile[head[2]:head[3]], ";")
		for _, need := range strings.Fields(needs) {
			if line := recipe(makefile, need, seen); line != "" {
				lines = append(lines, line)
			}
		}
		lines = append(lines, inline)
	}
	for line := range strings.Lines(strings.TrimPrefix(makefile[head[1]:], "\n")) {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		lines = append(lines, strings.TrimLeft(strings.TrimSpace(line), "@-+"))
	}
	return strings.Join(lines, "\n")
}
