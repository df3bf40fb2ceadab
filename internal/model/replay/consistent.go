package replay

import (
	"encoding/json"
	"regexp"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// consistent checks the recorded answers against later requests of the same caller that
// repeat them. Code corrupt: a request repeats an answer differently, so that one was
// changed after recording.
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
			if !anyAnswered(said, msg) {
				return choir.Refuse("replay.load", choir.ReasonRecordingInconsistent, choir.CountOf("n", said[0].N), choir.TextOf("other", e.N))
			}
		}
	}
	return nil
}

// anyAnswered reports whether one of the exchanges has the message as its answer.
func anyAnswered(exchanges []*Exchange, m model.Message) bool {
	for _, e := range exchanges {
		if plain(e.Response.Final.Content) == plain(m.Content) {
			return true
		}
	}
	return false
}

// prefixes returns the digests of the conversation before each message, and of the
// whole.
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

// plain returns an assistant message as text without call ids and placeholder numbers,
// which differ between an answer and a request that repeats it.
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
