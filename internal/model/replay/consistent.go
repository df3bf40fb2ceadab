package replay

import (
	"encoding/json"
	"regexp"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// consistent holds the answers against the requests that repeat them: an
// exchange whose answer a later request of its caller tells differently was
// changed after it was made.
func (r *Recording) consistent() error {
	answers := map[choir.Digest][]*Exchange{}
	for i := range r.exchanges {
		e := &r.exchanges[i]
		prefixes, err := prefixes(e)
		if err != nil {
			return err
		}
		answers[prefixes[len(e.Request.Messages)]] = append(answers[prefixes[len(e.Request.Messages)]], e)
		for m, msg := range e.Request.Messages {
			said := answers[prefixes[m]]
			if msg.Role != model.Assistant || len(said) == 0 || e == said[0] {
				continue
			}
			if !anySaid(said, msg) {
				return choir.E("replay.load", choir.CodeCorrupt, "the answer of exchange %d is not the one that exchange %d tells", said[0].N, e.N)
			}
		}
	}
	return nil
}

func anySaid(exchanges []*Exchange, m model.Message) bool {
	for _, e := range exchanges {
		if plain(e.Response.Final.Content) == plain(m.Content) {
			return true
		}
	}
	return false
}

// prefixes are digests of the conversation up to each message.
func prefixes(e *Exchange) ([]choir.Digest, error) {
	head := e.Request
	head.Messages = nil
	raw, err := choir.Canonical(head)
	if err != nil {
		return nil, err
	}
	out := []choir.Digest{choir.DigestOf(append(raw, e.Caller...))}
	for i, m := range e.Request.Messages {
		raw, err := choir.Canonical(m)
		if err != nil {
			return nil, err
		}
		out = append(out, choir.DigestOf(append(raw, out[i]...)))
	}
	return out, nil
}

var numbered = regexp.MustCompile(`‹([a-z]+)-\d+›`)

// plain is what an assistant said without ids and the numbers of marks: an
// answer has ids of its own where the request that repeats it has marks.
func plain(content []model.Block) string {
	n := &names{marks: map[string]string{}, counts: map[string]int{}}
	text := func(s string) string {
		for _, r := range rules {
			if r.pattern != nil && r.where&words != 0 {
				s = n.apply(r, s)
			}
		}
		return numbered.ReplaceAllString(s, "‹$1›")
	}
	out := ""
	for _, b := range content {
		out += "\n" + string(b.Kind) + " " + b.Tool + " " + text(b.Text)
		if b.Kind == model.ToolCall {
			raw, err := choir.Canonicalize(b.Input)
			if err != nil {
				raw = b.Input
			}
			out += string(mapStrings(json.RawMessage(raw), text))
		}
	}
	return out
}
