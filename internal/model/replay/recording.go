// Package replay records real exchanges with a model and serves them again, so that the
// demo, the tests and the benchmarks run with no key and no network.
//
// A recorded answer is served only when the canonical form of the request is identical
// to the recorded one: the order of the requests alone never selects an answer. Within
// a run and a caller the exchanges are served in order; a served one may be asked for
// again, after a crash. Everything else is refused with code unmatched and a diff of
// the request.
//
// A recording is a file of lines, each canonical JSON: a header with the version, a
// note that says what it is, and the rules of the canonical form; one line for each
// exchange; and an end that counts them. Each line holds the SHA-256 of the line before
// it (prev) and of itself without that field (sha256), so that no byte can change
// unseen.
package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

const (
	format  = "choir-recording"
	version = 1
	note    = "This is a recording: the model's words were said earlier, to exactly these requests."
	// maxLine bounds one line, in bytes.
	maxLine = 32 << 20
)

type header struct {
	Format  string       `json:"format" choir:"enum=choir-recording"`
	Version int          `json:"version" choir:"range=1..1"`
	Note    string       `json:"note"`
	Rules   []Rule       `json:"rules"`
	Prev    choir.Digest `json:"prev" choir:"digest"`
	SHA256  choir.Digest `json:"sha256,omitempty" choir:"digest"`
}

// Exchange is one request in canonical form and its answer, which uses the request's
// placeholders.
type Exchange struct {
	N             int           `json:"n" choir:"range=1..1000000"`
	Caller        string        `json:"caller"`
	Request       model.Request `json:"request"`
	RequestSHA256 choir.Digest  `json:"request_sha256" choir:"digest"`
	Response      Answer        `json:"response"`
	Prev          choir.Digest  `json:"prev" choir:"digest"`
	SHA256        choir.Digest  `json:"sha256,omitempty" choir:"digest"`
}

// Answer is an answer, whole and in the pieces in which it was streamed.
type Answer struct {
	Deltas []model.Delta  `json:"deltas"`
	Final  model.Response `json:"final"`
}

type footer struct {
	Exchanges int          `json:"exchanges" choir:"range=0..1000000"`
	Prev      choir.Digest `json:"prev" choir:"digest"`
	SHA256    choir.Digest `json:"sha256,omitempty" choir:"digest"`
}

// Recording is a verified recording. It is immutable.
type Recording struct {
	exchanges []Exchange
	byCaller  map[string][]*Exchange
}

// Len returns the number of exchanges.
func (r *Recording) Len() int { return len(r.exchanges) }

// Model returns the name of the model that a caller used; "" for a caller that the
// recording does not contain.
func (r *Recording) Model(caller string) string {
	if list := r.byCaller[caller]; len(list) > 0 {
		return list[0].Request.Model
	}
	return ""
}

// Requests returns the requests of a caller in the order in which they were made.
func (r *Recording) Requests(caller string) []model.Request {
	var out []model.Request
	for _, e := range r.byCaller[caller] {
		out = append(out, e.Request)
	}
	return out
}

// Load reads and verifies a recording. Code corrupt: it is damaged at the named line;
// invalid: it was made with other rules of the canonical form.
func Load(r io.Reader) (*Recording, error) {
	l := loader{rec: &Recording{byCaller: map[string][]*Exchange{}}, prev: choir.ZeroHash}
	lines := bufio.NewReader(r)
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		l.line++
		if err == nil {
			err = l.parseLine(line)
		}
		if err != nil {
			return nil, choir.Wrap("replay.load", choir.CodeCorrupt, err, "line %d of the recording is damaged", l.line)
		}
		if l.other {
			return nil, choir.Refuse("replay.load", choir.ReasonRecordingOtherRules)
		}
	}
	if !l.ended {
		return nil, choir.Refuse("replay.load", choir.ReasonRecordingBreaksOff, choir.TextOf("line", l.line))
	}
	for i := range l.rec.exchanges {
		e := &l.rec.exchanges[i]
		l.rec.byCaller[e.Caller] = append(l.rec.byCaller[e.Caller], e)
	}
	if err := l.rec.consistent(); err != nil {
		return nil, err
	}
	return l.rec, nil
}

// readLine returns the next line without its end. io.EOF: there is none; other errors
// describe the damage.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, choir.E("", choir.CodeTooLarge, "it has more than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, choir.E("", choir.CodeCorrupt, "it has no end")
		case err != nil:
			return nil, err
		default:
			return line[:len(line)-1], nil
		}
	}
}

// loader is the state of reading a recording line by line.
type loader struct {
	rec   *Recording
	line  int
	prev  choir.Digest
	other bool // the rules are others than ours
	ended bool
}

// parseLine parses and verifies the next line of a recording: the header, an exchange or
// the footer.
func (l *loader) parseLine(line []byte) error {
	switch {
	case l.ended:
		return choir.E("", choir.CodeCorrupt, "it comes after the end")
	case l.line == 1:
		var h header
		if err := l.verify(line, &h, &h.Prev, &h.SHA256); err != nil {
			return err
		}
		l.other = !sameRules(h.Rules)
		return nil
	case bytes.HasPrefix(line, []byte(`{"exchanges":`)):
		var f footer
		if err := l.verify(line, &f, &f.Prev, &f.SHA256); err != nil {
			return err
		}
		if f.Exchanges != len(l.rec.exchanges) {
			return choir.E("", choir.CodeCorrupt, "it counts %d exchanges, there are %d", f.Exchanges, len(l.rec.exchanges))
		}
		l.ended = true
		return nil
	}
	var e Exchange
	if err := l.verify(line, &e, &e.Prev, &e.SHA256); err != nil {
		return err
	}
	if e.N != len(l.rec.exchanges)+1 {
		return choir.E("", choir.CodeCorrupt, "it is exchange %d, not %d", e.N, len(l.rec.exchanges)+1)
	}
	if digest, _, err := digestOf(e.Request); err != nil || digest != e.RequestSHA256 {
		return choir.E("", choir.CodeCorrupt, "the request is not the one its digest names")
	}
	if !e.Response.whole() {
		return choir.E("", choir.CodeCorrupt, "the pieces of the answer are not the answer")
	}
	l.rec.exchanges = append(l.rec.exchanges, e)
	return nil
}

// verify decodes a line into into and checks its digest, its link to the line before it,
// and that it is canonical JSON. prev and sum point into into.
func (l *loader) verify(line []byte, into any, prev, sum *choir.Digest) error {
	if err := choir.DecodeStrict(line, into); err != nil {
		return err
	}
	written, said := *prev, *sum
	if again, err := choir.Canonical(into); err != nil || !bytes.Equal(again, line) {
		return choir.E("", choir.CodeCorrupt, "it is not canonical JSON")
	}
	if written != l.prev {
		return choir.E("", choir.CodeCorrupt, "it does not follow the line before it")
	}
	*sum = ""
	bare, err := choir.Canonical(into)
	if err != nil {
		return err
	}
	*sum = said
	if choir.DigestOf(bare) != said {
		return choir.E("", choir.CodeCorrupt, "its digest does not match")
	}
	l.prev = said
	return nil
}

// sameRules reports whether a recording's rules equal those of this build.
func sameRules(said []Rule) bool {
	if len(said) != len(rules) {
		return false
	}
	for i, r := range rules {
		s := said[i]
		if s.Name != r.Name || s.Kind != r.Kind || s.Numbered != r.Numbered || s.Pattern != r.Pattern {
			return false
		}
	}
	return true
}

// whole reports whether the pieces concatenate to the answer.
func (a Answer) whole() bool {
	var got, want sum
	for _, d := range a.Deltas {
		got.add(d)
	}
	for _, b := range a.Final.Content {
		switch b.Kind {
		case model.Thinking:
			want.add(model.Delta{Thinking: &b})
		case model.ToolCall:
			want.add(model.Delta{Tool: b.Tool, Input: inputOf(b)})
		default:
			want.add(model.Delta{Text: b.Text})
		}
	}
	return got.text.String() == want.text.String() && got.tools.String() == want.tools.String() &&
		got.input.String() == want.input.String() && got.thinking.String() == want.thinking.String()
}

// sum concatenates the pieces of an answer.
type sum struct{ text, tools, input, thinking strings.Builder }

func (s *sum) add(d model.Delta) {
	if d.Thinking != nil {
		s.thinking.WriteString(d.Thinking.Text)
	}
	s.text.WriteString(d.Text)
	s.tools.WriteString(d.Tool)
	s.input.WriteString(d.Input)
}

// digestOf returns the digest of a request, and its canonical JSON.
func digestOf(req model.Request) (choir.Digest, []byte, error) {
	raw, err := choir.Canonical(req)
	return choir.DigestOf(raw), raw, err
}
