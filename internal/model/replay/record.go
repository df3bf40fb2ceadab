package replay

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Recorder is a provider that records every exchange of another provider.
type Recorder struct {
	next model.Provider

	mu   sync.Mutex // guards the fields below, and keeps lines whole
	w    io.Writer
	n    int
	prev choir.Digest // empty before the header
	err  error        // the first failure to write; nothing is written after it
}

// Record returns a provider that passes calls to next and writes successful exchanges to
// w. The recording is complete only after Close.
func Record(next model.Provider, w io.Writer) *Recorder { return &Recorder{next: next, w: w} }

// Name implements model.Provider.
func (r *Recorder) Name() string { return r.next.Name() }

// Stream calls the next provider and records the exchange. It fails if that cannot be
// written, although the model has answered.
func (r *Recorder) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	pieces := 0
	resp, err := r.next.Stream(ctx, req, func(d model.Delta) {
		pieces++
		if on != nil {
			on(d)
		}
	})
	if err != nil {
		return resp, err
	}
	return resp, r.write(model.InfoOf(ctx).Caller, req, resp, pieces)
}

// write appends an exchange to the recording. pieces is the number of streamed pieces.
func (r *Recorder) write(caller string, req model.Request, resp model.Response, pieces int) error {
	form, names, err := canonical(req)
	if err != nil {
		return err
	}
	digest, _, err := digestOf(form)
	if err != nil {
		return err
	}
	final, err := compact(names.encode(resp))
	if err != nil {
		return err
	}
	e := Exchange{Caller: caller, Request: form, RequestSHA256: digest, Response: Answer{Deltas: splitDeltas(final, pieces), Final: final}}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeHeader(); err != nil {
		return err
	}
	r.n++
	e.N, e.Prev = r.n, r.prev
	return r.line(&e, &e.SHA256)
}

// compact returns an answer with tool inputs as canonical JSON, which the recorded
// pieces must concatenate to.
func compact(r model.Response) (model.Response, error) {
	r.Content = slices.Clone(r.Content)
	for i, b := range r.Content {
		if b.Kind != model.ToolCall {
			continue
		}
		input, err := choir.Canonicalize(b.Input)
		if err != nil {
			return r, choir.Under("input", err)
		}
		r.Content[i].Input = input
	}
	return r, nil
}

// Close writes the footer of the recording. It does not close the writer.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeHeader(); err != nil {
		return err
	}
	f := footer{Exchanges: r.n, Prev: r.prev}
	return r.line(&f, &f.SHA256)
}

// writeHeader writes the recording's header unless it was written. The caller holds mu.
func (r *Recorder) writeHeader() error {
	if r.prev != "" {
		return r.err
	}
	h := header{Format: format, Version: version, Note: note, Rules: rules, Prev: choir.ZeroHash}
	return r.line(&h, &h.SHA256)
}

// line sets a line's digest through sum and writes it. After a failure nothing more is
// written. The caller holds mu.
func (r *Recorder) line(v any, sum *choir.Digest) error {
	if r.err != nil {
		return r.err
	}
	raw, err := seal(v, sum)
	if err != nil {
		return err
	}
	r.prev = *sum
	if _, err := r.w.Write(append(raw, '\n')); err != nil {
		r.err = choir.Wrap("replay.record", choir.CodeUnavailable, err, "write the recording")
	}
	return r.err
}

// seal sets the digest of a line through sum and returns the line's JSON.
func seal(v any, sum *choir.Digest) ([]byte, error) {
	*sum = ""
	bare, err := choir.Canonical(v)
	if err != nil {
		return nil, err
	}
	*sum = choir.DigestOf(bare)
	return choir.Canonical(v)
}

// splitDeltas splits an answer into about as many pieces as were streamed. No piece ends
// within a character or a placeholder, so that placeholders can be replaced piece by
// piece.
func splitDeltas(r model.Response, pieces int) []model.Delta {
	total := 0
	for _, b := range r.Content {
		total += len(b.Text) + len(b.Input)
	}
	size := max(1, total/max(1, pieces))
	out := []model.Delta{}
	for _, b := range r.Content {
		switch {
		case b.Kind == model.Thinking:
			out = append(out, model.Delta{Thinking: &b})
			continue
		case b.Kind == model.ToolCall:
			out = append(out, model.Delta{Tool: b.Tool})
			for _, p := range chop(inputOf(b), size) {
				out = append(out, model.Delta{Input: p})
			}
			continue
		}
		for _, p := range chop(b.Text, size) {
			out = append(out, model.Delta{Text: p})
		}
	}
	return out
}

// inputOf returns the input of a tool call as it was streamed, which of a marked call is
// half of one.
func inputOf(b model.Block) string {
	if b.IsError {
		return b.Text
	}
	return string(b.Input)
}

const (
	markOpens  = '‹'
	markCloses = '›'
	literal    = '='
)

// chop splits a text into pieces of at least size bytes, except the last, that end
// neither within a character nor within a placeholder.
func chop(s string, size int) []string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	var out []string
	start, inside := 0, false
	for i, c := range s {
		next := i + utf8.RuneLen(c)
		switch {
		case c == markOpens:
			inside = true
		case inside && (c == markCloses || c == literal):
			inside = false
		}
		if !inside && next-start >= size {
			out = append(out, s[start:next])
			start = next
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
