package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// leastSecret is the minimum length of a secret, in bytes. Shorter ones occur in other
// words by chance.
const leastSecret = 6

// withheld is the text that replaces a secret.
const withheld = "[withheld]"

// scrubber replaces secrets in texts.
type scrubber struct{ all *strings.Replacer }

// newScrubber returns a scrubber of secrets, of each of their lines, and of both as JSON
// and Go escape them. A secret that contains another is replaced first. Texts in words
// are not secrets.
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

// isSecret reports whether a text is long enough for a secret, and not a number of fewer
// than 16 digits, which occur in every report.
func isSecret(form string) bool {
	number := !strings.ContainsFunc(form, func(r rune) bool { return r < '0' || r > '9' }) && len(form) < 16
	return len(form) >= leastSecret && !number
}

// text returns t with secrets replaced.
func (s *scrubber) text(t string) string { return s.all.Replace(t) }

func (s *scrubber) bytes(b []byte) []byte { return []byte(s.all.Replace(string(b))) }

// lines returns the lines of a text with several, such as a key file; nil for one line.
func lines(s string) []string {
	if !strings.Contains(s, "\n") {
		return nil
	}
	return strings.Split(s, "\n")
}

// inJSON returns a text as JSON escapes it, without quotes.
func inJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return trimQuotes(string(raw))
}

// trimQuotes returns a quoted text without its first and last byte.
func trimQuotes(s string) string { return s[1 : len(s)-1] }
