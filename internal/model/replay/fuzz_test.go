package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Reseal writes a recording anew with other rules in its header.
func Reseal(t *testing.T, rec []byte, change func([]Rule) []Rule) []byte {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(rec), []byte("\n"))
	var h header
	if err := json.Unmarshal(lines[0], &h); err != nil {
		t.Fatal(err)
	}
	h.Rules = change(h.Rules)
	raw, err := seal(&h, &h.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	lines[0] = raw
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

// FuzzLoad: whatever is no recording is refused with a typed error.
func FuzzLoad(f *testing.F) {
	var out bytes.Buffer
	r := Record(nil, &out)
	req := model.Request{Model: "m", MaxTokens: 1, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "hi"}}}}}
	if err := r.write("director", req, model.Response{Model: "m", Content: []model.Block{{Kind: model.Text, Text: "Hello."}}}, 3); err != nil {
		f.Fatal(err)
	}
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rec, err := Load(bytes.NewReader(raw))
		if err == nil {
			if rec.Len() != bytes.Count(raw, []byte("\n"))-2 {
				t.Fatalf("%d exchanges were read of %d lines", rec.Len(), bytes.Count(raw, []byte("\n")))
			}
			return
		}
		if code := choir.CodeOf(err); code != choir.CodeCorrupt && code != choir.CodeInvalid {
			t.Fatalf("code %s: %v", code, err)
		}
	})
}

// FuzzMarks: what the rules for words replace can be put back, exactly.
func FuzzMarks(f *testing.F) {
	f.Add("in 01939b3e-7c00-7000-8000-0000000000aa and /tmp/a/b, ‹id-1› ‹= ‹‹", "1111111111111111111111111111111111111111 /tmp/a /tmp/ab", 3)
	f.Add("‹", "›‹=", 1)
	f.Fuzz(func(t *testing.T, before, s string, pieces int) {
		before, s = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(s, "?")
		n := &names{marks: map[string]string{}, counts: map[string]int{}}
		first := n.text(before, words)
		for _, where := range []place{words, files} {
			marked := n.text(s, where)
			if got := n.back().Replace(marked); got != s {
				t.Fatalf("%q became %q, back it is %q", s, marked, got)
			}
			joined := ""
			for _, p := range chop(marked, max(1, pieces)) {
				joined += n.back().Replace(p)
			}
			if joined != s {
				t.Fatalf("%q piece by piece is %q", s, joined)
			}
		}
		if got := n.back().Replace(first); got != before {
			t.Fatalf("%q became %q, back it is %q", before, first, got)
		}
	})
}
