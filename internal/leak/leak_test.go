package leak_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"choiros/internal/leak"
)

const secret = "ghp_a/secret+that=is&long~enough"

// forms returns a text with the secret in each form, in each alignment.
func forms() map[leak.Form][]string {
	out := map[leak.Form][]string{
		leak.Raw: {secret}, leak.Hex: {hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))},
		leak.Percent: {url.QueryEscape(secret), url.PathEscape(secret), "ghp_a%2fsecret%2bthat%3dis%26long~enough"},
		leak.Escaped: {`ghp_a\/secret+that=is&long~enough`, `ghp_a/secret+that=is\u0026long~enough`, `ghp_a/secret\u002Bthat=is\u0026long~enough`, `ghp_a/secret+that=is&amp;long~enough`},
	}
	for _, user := range []string{"", "u:", "us:", "use:", "user:"} {
		for _, after := range []string{"", "!", "!!"} {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				text := enc.EncodeToString([]byte(user + secret + after))
				out[leak.Base64] = append(out[leak.Base64], text, broken(text, 19, "\r\n"), broken(text, 7, `\n`), url.QueryEscape(text), strings.ReplaceAll(text, "/", `\/`))
			}
		}
	}
	return out
}

// broken returns a text in lines of a width.
func broken(text string, width int, ends string) string {
	var lines []string
	for ; len(text) > width; text = text[width:] {
		lines = append(lines, text[:width])
	}
	return strings.Join(append(lines, text), ends)
}

// TestLineBreaksHoldNoStreamBack begins a secret and sends no more than line breaks, without end.
func TestLineBreaksHoldNoStreamBack(t *testing.T) {
	s := leak.New(map[string]string{"forge": secret})
	in := secret[:10] + strings.Repeat("\n", 1<<20)
	r := iotest.OneByteReader(strings.NewReader(in[:len(in)/2]))
	got, limit := 0, 8<<10
	for read, p := s.Reader(io.TeeReader(r, counter(func(n int) { got -= n }))), make([]byte, 100); ; {
		n, err := read.Read(p)
		if err != nil {
			break
		}
		if got += n; got < -limit {
			t.Fatalf("%d bytes are held back", -got)
		}
	}
	if got != 0 {
		t.Errorf("%d bytes are missing", -got)
	}
}

// counter is told of what is written.
type counter func(int)

func (c counter) Write(p []byte) (int, error) { c(len(p)); return len(p), nil }

// TestASecretIsFoundInTheNameOfAHeader, whose letters readers of HTTP write in another case.
func TestASecretIsFoundInTheNameOfAHeader(t *testing.T) {
	s := leak.New(map[string]string{"forge": "ab-cd3f0123"})
	for name, want := range map[string]bool{"Ab-Cd3f0123": true, "X-Ab-Cd3f0123": true, "Ab-Cd3f012": false, "61622D636433663031323": false, "61622D6364336630313233": true} {
		if got := s.InAnyCase(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestASecretIsFoundInEachForm(t *testing.T) {
	s := leak.New(map[string]string{"forge": secret, "short": "abc"})
	for form, texts := range forms() {
		for _, text := range texts {
			for _, before := range []int{0, 300} {
				in := strings.Repeat("x", before) + " " + text + " and more"
				hits, err := s.Find(strings.NewReader(in))
				if err != nil || len(hits) != 1 || hits[0].Name != "forge" || hits[0].Form != form {
					t.Fatalf("%s as %q behind %d bytes: %+v, %v", form, text, before, hits, err)
				}
			}
		}
	}
	for _, kilobytes := range []int{4, 12, 252, 508} { // across two reads, also long ones
		at := kilobytes<<10 - 5
		hits, err := s.Find(strings.NewReader(strings.Repeat("x", at) + secret))
		if err != nil || len(hits) != 1 || hits[0].Offset != int64(at) {
			t.Errorf("at %d: %+v, %v", at, hits, err)
		}
	}
	if hits, err := s.Find(strings.NewReader(strings.Repeat("abc ghp_a secret base64 ", 5_000))); len(hits) > 0 || err != nil {
		t.Errorf("found where there is none: %+v, %v", hits, err)
	}
}

// TestAStrippedStreamHasNoSecret cuts a stream anywhere and holds that it keeps its length, has
// the secret in no form, and is the same elsewhere.
func TestAStrippedStreamHasNoSecret(t *testing.T) {
	s := leak.New(map[string]string{"forge": secret})
	var all []string
	for _, texts := range forms() {
		all = append(all, texts...)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(all), rapid.SampledFrom([]string{"ghp_", "ghp_a/secret", "\x00\xff", "plain ", secret[:len(secret)-1]})), 0, 8).Draw(t, "parts")
		in := strings.Join(parts, "|")
		var r io.Reader = strings.NewReader(in)
		if rapid.Bool().Draw(t, "bytewise") {
			r = iotest.OneByteReader(r)
		} else {
			r = iotest.DataErrReader(r)
		}
		out, err := io.ReadAll(s.Reader(r))
		if err != nil || len(out) != len(in) {
			t.Fatalf("%d bytes of %d, %v", len(out), len(in), err)
		}
		if hits, _ := s.Find(bytes.NewReader(out)); len(hits) > 0 {
			t.Fatalf("%q has %+v", out, hits)
		}
		for i := range out {
			if out[i] != in[i] && out[i] != '*' {
				t.Fatalf("byte %d became %q", i, out[i])
			}
		}
	})
}

// TestAStreamIsNotHeldBack gives a part that cannot begin a secret at once.
func TestAStreamIsNotHeldBack(t *testing.T) {
	s := leak.New(map[string]string{"forge": secret})
	in, w := io.Pipe()
	go func() { _, _ = w.Write([]byte("line\n")); _, _ = w.Write([]byte(secret)); w.Close() }()
	got := make([]byte, 100)
	n, err := s.Reader(in).Read(got)
	if err != nil || string(got[:n]) != "line\n" {
		t.Errorf("%q, %v", got[:n], err)
	}
	in.Close()
}
