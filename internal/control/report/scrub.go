package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// leastSecret is the length from which a text counts as a secret, in bytes: shorter ones
// are in other words by chance.
const leastSecret = 6

// withheld stands where a secret was.
const withheld = "[withheld]"

// scrubber takes secrets out of texts.
type scrubber struct{ all *strings.Replacer }

// newScrubber takes secrets out, also as JSON and Go write them, and those that are
// within others after these. Words that may be shown are no secrets.
func newScrubber(secrets, words []string) *scrubber {
	var forms []string
	for _, s := range secrets {
		for _, form := range append(lines(s), s) {
			if form = strings.TrimSpace(form); isSecret(form) && !slices.Contains(words, form) {
				forms = append(forms, form, inJSON(form), trimQuotes(strconv.Quote(form)))
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, withheld)
	}
	return &scrubber{strings.NewReplacer(pairs...)}
}

// isSecret is false for what is short, and for numbers, which are in every report.
func isSecret(form string) bool {
	number := !strings.ContainsFunc(form, func(r rune) bool { return r < '0' || r > '9' }) && len(form) < 16
	return len(form) >= leastSecret && !number
}

func (s *scrubber) text(t string) string { return s.all.Replace(t) }

func (s *scrubber) bytes(b []byte) []byte { return []byte(s.all.Replace(string(b))) }

// lines are the lines of a text with several, such as a key in a file.
func lines(s string) []string {
	if !strings.Contains(s, "\n") {
		return nil
	}
	return strings.Split(s, "\n")
}

// inJSON is a text as a JSON document has it.
func inJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return trimQuotes(string(raw))
}

func trimQuotes(s string) string { return s[1 : len(s)-1] }
