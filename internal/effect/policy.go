// Package effect decides which results of tasks need the owner's approval before they land in
// the workspace: by rules on tools, paths, commands, the size of the change and the hosts that
// were wanted, held against what a finished task did.
//
// It is pure: it knows neither the log nor the workspace.
package effect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// Rule demands an approval for the results that meet all of its conditions. A condition that is
// empty is met by every result.
type Rule struct {
	Name    string // why, for the owner; may be empty
	Tool    string // name of a tool that was called
	Path    string // glob of a changed path; a new link at a folder that it names leads there too
	Command string // text of a command that ran, in which * stands for any text
	Lines   int    // more added and removed lines than this
	Files   int    // more changed files than this
	Egress  string // host that was wanted: its name, *.example.com, or * for any
}

// Facts are what a finished task did.
type Facts struct {
	Tools    []string
	Commands []string
	Paths    []string // changed paths, relative to the projects' folder, former ones too
	Files    int64    // changed files outside of .git folders
	Lines    int64    // added and removed lines of them
	Links    []string // those of Paths that are a symbolic link now
	Hosts    []string // that it wanted, whether or not it reached them
	AnyHost  bool     // it can have wanted any host besides
}

// Policy is the rules of a computer. The zero value demands no approval.
type Policy struct{ rules []rule }

// rule is a Rule with its patterns compiled; a pattern that the rule has not is nil.
type rule struct {
	Rule
	path, command *regexp.Regexp
	folders       []*regexp.Regexp // the folders that the glob names, where a link would lead below it
}

// tools are the names that a rule's tool may have.
var tools = []choir.Tool{choir.ToolReadFile, choir.ToolWriteFile, choir.ToolEditFile, choir.ToolListFiles, choir.ToolSearchFiles, choir.ToolBash, choir.ToolFetchURL, choir.ToolScreenshot}

// NewPolicy returns the policy of a list of rules. Code invalid, with the path of the entry: a
// rule without a condition, a tool that there is not, a size below 0, or a host that is none.
func NewPolicy(rules []Rule) (Policy, error) {
	var p Policy
	for i, r := range rules {
		one, err := compile(r)
		if err != nil {
			return Policy{}, choir.Under("["+strconv.Itoa(i)+"]", err)
		}
		p.rules = append(p.rules, one)
	}
	return p, nil
}

// maxPattern is the maximum length of a name and a pattern, in bytes.
const maxPattern = 200

func compile(r Rule) (rule, error) {
	out := rule{Rule: r}
	if r == (Rule{Name: r.Name}) {
		return out, choir.RefuseField("", choir.ReasonApproveNoCondition)
	}
	for name, text := range map[string]string{"name": r.Name, "path": r.Path, "command": r.Command, "egress": r.Egress} {
		if len(text) > maxPattern || strings.ContainsAny(text, "\n\x00") {
			return out, choir.RefuseField(name, choir.ReasonApproveOneLine, choir.CountOf("most", maxPattern))
		}
	}
	switch {
	case r.Tool != "" && !knownTool(r.Tool):
		return out, choir.RefuseField("tool", choir.ReasonApproveNoTool, choir.TextOf("given", r.Tool), choir.TextOf("names", toolNames()))
	case r.Lines < 0:
		return out, choir.RefuseField("lines", choir.ReasonApproveLeastOne, choir.TextOf("given", r.Lines))
	case r.Files < 0:
		return out, choir.RefuseField("files", choir.ReasonApproveLeastOne, choir.TextOf("given", r.Files))
	case r.Egress != "" && !validHost(r.Egress):
		return out, choir.RefuseField("egress", choir.ReasonApproveNoHost, choir.TextOf("given", r.Egress))
	}
	if r.Path != "" {
		out.path, out.folders = compilePath(r.Path)
	}
	if r.Command != "" {
		out.command = compileText(r.Command)
	}
	return out, nil
}

func knownTool(name string) bool {
	for _, t := range tools {
		if string(t) == name {
			return true
		}
	}
	return false
}

func toolNames() string {
	var names []string
	for _, t := range tools {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// validHost reports whether a pattern of a rule is a host name or address in lower case, or *
// or *. before one.
func validHost(pattern string) bool {
	name := strings.TrimPrefix(pattern, "*.")
	return pattern == "*" || name != "" && name == strings.ToLower(name) && !strings.ContainsAny(name, " /*@?#[]") && !strings.HasSuffix(name, ".")
}

// compilePath compiles a glob of paths and the globs of the folders that it names. A pattern
// without a slash matches a name at any depth.
func compilePath(pattern string) (path *regexp.Regexp, folders []*regexp.Regexp) {
	p := strings.TrimPrefix(pattern, "/")
	if !strings.Contains(pattern, "/") {
		p = "**/" + p
	}
	parts := strings.Split(p, "/")
	for i, name := range parts[:len(parts)-1] {
		if strings.Trim(name, "*?") != "" { // every link would be in a folder of any name
			folders = append(folders, compileGlob(strings.Join(parts[:i+1], "/")))
		}
	}
	return compileGlob(p), folders
}

// compileGlob compiles a glob of paths: * and ? stay within a folder, ** crosses folders.
func compileGlob(p string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)^")
	for p != "" {
		switch {
		case strings.HasPrefix(p, "**/"):
			b.WriteString("(?:.*/)?")
			p = p[3:]
		case strings.HasPrefix(p, "**"):
			b.WriteString(".*")
			p = p[2:]
		case p[0] == '*':
			b.WriteString("[^/]*")
			p = p[1:]
		case p[0] == '?':
			b.WriteString("[^/]")
			p = p[1:]
		default:
			n := strings.IndexAny(p[1:], "*?") + 1
			if n == 0 {
				n = len(p)
			}
			b.WriteString(regexp.QuoteMeta(p[:n]))
			p = p[n:]
		}
	}
	return regexp.MustCompile(b.String() + "$")
}

// compileText compiles a pattern that is looked for anywhere in a command line, in which * stands
// for any text.
func compileText(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)" + strings.Join(parts, ".*"))
}

// Empty reports whether the policy demands no approval of anything.
func (p Policy) Empty() bool { return len(p.rules) == 0 }

// Holds reports whether a rule names a host, so that nothing is sent there for a task.
func (p Policy) Holds(host string) bool {
	for i := range p.rules {
		if p.rules[i].names(host) {
			return true
		}
	}
	return false
}

// Demands returns the rules that a task's facts meet, in words and in the order of the file. It
// is empty where no approval is needed.
func (p Policy) Demands(f Facts) []string {
	var out []string
	for i := range p.rules {
		if r := &p.rules[i]; r.met(f) {
			out = append(out, r.String())
		}
	}
	return out
}

// Ahead describes a task before it works.
type Ahead struct {
	Project string   // its folder below the projects' folder; empty for all of them
	Tools   []string // the only tools that it may call; empty for all
}

// MayDemand reports whether a task could meet a rule.
func (p Policy) MayDemand(a Ahead) bool {
	for i := range p.rules {
		if p.rules[i].mayBeMet(a) {
			return true
		}
	}
	return false
}

// mayBeMet reports whether a task could meet the conditions on its tools and paths.
func (r *rule) mayBeMet(a Ahead) bool {
	if r.Tool != "" && len(a.Tools) > 0 && !contains(a.Tools, func(s string) bool { return s == r.Tool }) {
		return false
	}
	first, _, below := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	return !below || a.Project == "" || strings.ContainsAny(first, "*?") || first == a.Project
}

// met reports whether all conditions of the rule are.
func (r *rule) met(f Facts) bool {
	return (r.Tool == "" || contains(f.Tools, func(s string) bool { return s == r.Tool })) &&
		(r.path == nil || contains(f.Paths, r.path.MatchString) || contains(f.Links, r.isFolder)) &&
		(r.command == nil || contains(f.Commands, r.command.MatchString)) &&
		(r.Lines == 0 || f.Lines > int64(r.Lines)) &&
		(r.Files == 0 || f.Files > int64(r.Files)) &&
		(r.Egress == "" || f.AnyHost || contains(f.Hosts, r.names))
}

// isFolder reports whether the rule's glob names a folder of this path.
func (r *rule) isFolder(path string) bool {
	return slices.ContainsFunc(r.folders, func(f *regexp.Regexp) bool { return f.MatchString(path) })
}

func contains(all []string, is func(string) bool) bool {
	for _, s := range all {
		if is(s) {
			return true
		}
	}
	return false
}

// names reports whether the rule's host is host or stands for it.
func (r *rule) names(host string) bool {
	if r.Egress == "*" {
		return true
	}
	if below, ok := strings.CutPrefix(r.Egress, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return r.Egress != "" && r.Egress == host
}

// String returns the rule's name and conditions on one line.
func (r *rule) String() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+" "+value)
		}
	}
	add("tool", r.Tool)
	add("path", r.Path)
	add("command", r.Command)
	if r.Lines > 0 {
		parts = append(parts, fmt.Sprintf("more than %d lines", r.Lines))
	}
	if r.Files > 0 {
		parts = append(parts, fmt.Sprintf("more than %d files", r.Files))
	}
	add("egress", r.Egress)
	said := strings.Join(parts, ", ")
	if r.Name != "" {
		said = r.Name + " (" + said + ")"
	}
	return clip(said, 400)
}

// clip returns at most max bytes of a text, at the end of a character.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "")
}
