package replay

import (
	"regexp"
)

// place is the kind of text in a request to which a rule applies. File contents and the
// model's own words are kept literally; rules replace only what differs between runs by
// nature, where it can occur.
type place int

const (
	// prompts are the system prompt and the user's texts.
	prompts place = 1 << iota
	// output are the results of tools that run commands.
	output
	// words are the model's own texts and the inputs of its tool calls.
	words
	// files are the results of tools that show files. Only texts that already have a
	// placeholder are replaced there.
	files
)

// fileTools are the tools whose results are contents of files.
var fileTools = map[string]bool{"read_file": true, "search_files": true, "list_files": true}

// Rule converts one kind of text into canonical form. It replaces the group of its
// pattern by ‹Kind-1›, ‹Kind-2›, ... in order of first appearance in the request, or by
// ‹Kind› if it is not numbered. Numbered texts are put back into the recorded answer.
type Rule struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Numbered bool   `json:"numbered,omitempty"`
	Pattern  string `json:"pattern,omitempty"`
	Doc      string `json:"doc"`

	where   place
	pattern *regexp.Regexp
}

// rules are all rules in the order in which they are applied. A recording contains those
// it was made with; Load refuses it if they differ.
var rules = compile([]Rule{
	{Name: "literal", Kind: "=", where: prompts | output | words | files,
		Doc: "the character ‹ of the text itself becomes ‹=, so that no text can look like one of these marks"},
	{Name: "tool-call", Kind: "call", Numbered: true,
		Doc: "the id of a tool call, in the call and in its result"},
	{Name: "uuid", Kind: "id", Numbered: true, where: prompts | output | words,
		Pattern: `\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`,
		Doc:     "ids of computers, runs, tasks and documents"},
	{Name: "commit", Kind: "commit", Numbered: true, where: prompts | output | words,
		Pattern: `\b([0-9a-f]{40})\b`,
		Doc:     "git's full hashes: they depend on the time of the commit"},
	{Name: "commit-short", Kind: "commit", Numbered: true, where: prompts | output,
		Pattern: `(?m)(?:\[[\w./-]+ (?:\(root-commit\) )?|\bcommit |\bHEAD is now at |\bUpdating |\bcheckpoint )([0-9a-f]{7,12})\b`,
		Doc:     "git's shortened hashes, where git writes one"},
	{Name: "snapshot", Kind: "snapshot", Numbered: true, where: prompts | output,
		Pattern: `\b(?:snapshot|base|tree)(?:"?[:=] ?"?| )([0-9a-f]{64})\b`,
		Doc:     "ids of snapshots: they depend on the times of files"},
	{Name: "folder", Kind: "folder", Numbered: true, where: prompts | output | words,
		Pattern: `(/tmp/[A-Za-z0-9._-]+)`,
		Doc:     "temporary folders with names made up for the run"},
	{Name: "time", Kind: "time", where: prompts | output,
		Pattern: `\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)?)`,
		Doc:     "moments as RFC 3339 and ISO 8601 write them"},
	{Name: "time-git", Kind: "time", where: prompts | output,
		Pattern: `\b((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d:\d\d(?: \d{4}(?: [+-]\d{4})?)?)`,
		Doc:     "moments as git and date write them"},
	{Name: "time-checkpoint", Kind: "time", where: prompts | output,
		Pattern: `\bcheckpoint: (\d{8}-\d{6})\b`,
		Doc:     "moments in the subjects of checkpoints"},
	{Name: "duration", Kind: "duration", where: prompts | output,
		Pattern: `(?m)(?:^|[\t(\[]|[,;] |\b(?:in|took|after|real|user|sys|[Tt]ime:?|[Dd]uration:?)[ \t]+)(\d+(?:\.\d+)?(?:m\d+(?:\.\d+)?s| ?(?:ns|µs|us|ms|s|seconds?|sec)))\b`,
		Doc:     "how long something took, where tools report it"},
	{Name: "measured", Kind: "measured", where: prompts | output,
		Pattern: `\b(?:duration_ms|wall_ms|cpu_ms|max_rss_bytes)"?[:= ] ?(\d+(?:\.\d+)?)\b`,
		Doc:     "what the kernel measured of a command"},
	{Name: "address", Kind: "address", where: prompts | output,
		Pattern: `\b(0x[0-9a-f]{8,16})\b`,
		Doc:     "addresses in memory"},
})

// compile compiles the patterns of rules.
func compile(rs []Rule) []Rule {
	for i := range rs {
		if rs[i].Pattern != "" {
			rs[i].pattern = regexp.MustCompile(rs[i].Pattern)
		}
	}
	return rs
}

// Rules returns all rules in the order in which they are applied.
func Rules() []Rule { return append([]Rule(nil), rules...) }
