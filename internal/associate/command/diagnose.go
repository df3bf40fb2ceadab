package command

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// Bounds of what language servers say of one edit.
const (
	diagnoseWait = 10 * time.Second // of all files together
	maxDiagnosed = 3                // files
	maxDiagnosis = 4 << 10          // bytes
)

// servers are the programs that check one file as their language servers do, by the ends of
// its name; the file's path is their last argument.
var servers = map[string][]string{
	".go": {"gopls", "check"}, ".py": {"pyright"}, ".pyi": {"pyright"},
	".c": {"clangd", "--log=error", "--check"}, ".cc": {"clangd", "--log=error", "--check"}, ".cpp": {"clangd", "--log=error", "--check"},
}

// Diagnose returns what the installed language servers say of the files that a call changed, as a note
// for the model; "" where none is installed, in time or has anything to say. It changes nothing.
func (p *Programs) Diagnose(ctx context.Context, tool string, in choir.ToolInput) string {
	if tool != string(choir.ToolEditFile) && tool != string(choir.ToolWriteFile) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, diagnoseWait)
	defer cancel()
	var notes []string
	for _, file := range changedFiles(in) {
		argv := servers[filepath.Ext(file)]
		if argv == nil || len(notes) == maxDiagnosed {
			continue
		}
		program, err := p.place.FindProgram(argv[0])
		if err != nil {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.place.Root(), file)
		}
		args := append(slices.Clone(argv), file)
		if last := argv[len(argv)-1]; strings.HasPrefix(last, "--") {
			args = append(slices.Clone(argv[:len(argv)-1]), last+"="+file)
		}
		args[0] = program
		rec := &recorder{live: NewLive(func(string) {})}
		exit, err := p.place.Tree().Run(ctx, proctree.Spec{Argv: args, Dir: filepath.Dir(file), Env: p.place.Environment(p.call(), nil), Stdout: rec})
		said := strings.TrimSpace(strings.ReplaceAll(excerpt.Text(rec.whole()), p.place.Root()+"/", ""))
		if err == nil && said != "" && (exit.Code != 0 || argv[0] == "gopls") {
			notes = append(notes, "["+argv[0]+" says: "+tools.Cut(said, maxDiagnosis)+"]")
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return "\n" + strings.Join(notes, "\n")
}

var patched = regexp.MustCompile(`(?m)^\*\*\* (?:Update|Add) File: (.+)$`)

// changedFiles returns the paths of the files that an edit changed, as the model wrote them.
func changedFiles(in choir.ToolInput) []string {
	files := []string{in.Path}
	for _, e := range in.Edits {
		files = append(files, e.Path)
	}
	for _, m := range patched.FindAllStringSubmatch(in.Patch, -1) {
		files = append(files, strings.TrimSpace(m[1]))
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(f string) bool { return f == "" })
}
