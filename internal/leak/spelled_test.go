package leak_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"choiros/internal/leak"
)

// spelled is a secret of the characters that encoders treat differently.
const spelled = `k!(ey)'/+s=3&<cret>"\~%41x`

// TestAnEncoderOfAnyLanguageHidesNoSecret writes a secret as widely used encoders do, each of which
// escapes other characters.
func TestAnEncoderOfAnyLanguageHidesNoSecret(t *testing.T) {
	s := leak.New(map[string]string{"k": spelled})
	for by, text := range map[string]string{
		"encodeURIComponent of JavaScript": `k!(ey)'%2F%2Bs%3D3%26%3Ccret%3E%22%5C~%2541x`,
		"encodeURI of JavaScript":          `k!(ey)'/+s=3&%3Ccret%3E%22%5C~%2541x`,
		"escape of JavaScript":             `k%21%28ey%29%27/+s%3D3%26%3Ccret%3E%22%5C%7E%2541x`,
		"quote of Python":                  `k%21%28ey%29%27/%2Bs%3D3%26%3Ccret%3E%22%5C~%2541x`,
		"quote_plus of old Python":         `k%21%28ey%29%27%2F%2Bs%3D3%26%3Ccret%3E%22%5C%7E%2541x`,
		"json.dumps of Python":             `k!(ey)'/+s=3&<cret>\"\\~%41x`,
		"json_encode of PHP":               `k!(ey)'\/+s=3&<cret>\"\\~%41x`,
		"json_encode of PHP with JSON_HEX": `k!(ey)\u0027\/+s=3\u0026\u003Ccret\u003E\u0022\\~%41x`,
		"System.Text.Json of .NET":         `k!(ey)\u0027/\u002Bs=3\u0026\u003Ccret\u003E\u0022\\~%41x`,
		"JSON with every character as \\u": func() (all string) {
			for _, c := range []byte(spelled) {
				all += `\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
			}
			return all
		}(),
		"repr of Python":            `k!(ey)\'/+s=3&<cret>"\\~%41x`,
		"a text of C":               `k\x21(ey)\x27/+s=3\x26<cret>\"\\~%41x`,
		"html.escape of Python":     `k!(ey)&#x27;/+s=3&amp;&lt;cret&gt;&quot;\~%41x`,
		"html.EscapeString of Go":   `k!(ey)&#39;/+s=3&amp;&lt;cret&gt;&#34;\~%41x`,
		"mustache":                  `k!(ey)&#39;&#x2F;+s&#x3D;3&amp;&lt;cret&gt;&quot;\~%41x`,
		"Handlebars":                `k!(ey)&#x27;/+s&#x3D;3&amp;&lt;cret&gt;&quot;\~%41x`,
		"HTML with &apos; and more": `k&excl;&lpar;ey&rpar;&apos;&sol;&plus;s&equals;3&amp;&lt;cret&gt;&quot;&bsol;~&percnt;41x`,
		"HTML in decimal":           `k&#33;(ey)&#039;&#047;&#43;s=3&#38;&#60;cret&#62;&#34;&#92;~%41x`,
		"HTML in hexadecimal":       `k&#X21;(ey)&#x0027;&#x2f;&#x2B;s=3&#x26;&#x3c;cret&#x3e;&#x22;&#x5C;~%41x`,
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader("before " + text + " after"), "bytewise": iotest.OneByteReader(strings.NewReader("before " + text + " after"))} {
			out, err := io.ReadAll(s.Reader(r))
			if want := "before " + strings.Repeat("*", len(text)) + " after"; err != nil || string(out) != want {
				t.Errorf("%s, %s: %q became %q, %v", by, name, text, out, err)
			}
		}
		if hits, err := s.Find(strings.NewReader(text)); err != nil || len(hits) == 0 || hits[0].Offset != 0 {
			t.Errorf("%s: %+v, %v", by, hits, err)
		}
		if !s.In("x" + text) {
			t.Errorf("%s is not seen", by)
		}
	}
}

// TestAnEscapeThatBeginsNoSecretIsNotHeldBack gives the beginnings of escapes at once, unless the
// escaped character can be the next one of a secret.
func TestAnEscapeThatBeginsNoSecretIsNotHeldBack(t *testing.T) {
	s := leak.New(map[string]string{"k": "abcdefgh/ijk"})
	for text, held := range map[string]int{`x\`: 1, `x%`: 1, `x%2`: 0, `x%6`: 2, `x&`: 1, `x&#`: 2, `x&l`: 0, `x\u00`: 4, `x\u001`: 0, "abcdefgh%2": 10, "abcdefgh%1": 0, "abcdefgh&so": 11, `abcdefgh\`: 9, `x\u00e`: 0} {
		in, w := io.Pipe()
		r := s.Reader(in)
		got := make(chan string)
		go func() { _, _ = io.WriteString(w, text); _, _ = io.WriteString(w, " end"); w.Close() }()
		go func() { p := make([]byte, 100); n, _ := r.Read(p); got <- string(p[:n]) }()
		if first := <-got; held > 0 && len(text) > held && first != text[:len(text)-held] || held == 0 && first != text {
			t.Errorf("of %q came %q", text, first)
		}
		in.Close()
	}
}
