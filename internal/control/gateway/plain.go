package gateway

import (
	"html/template"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"choiros/internal/choir"
)

// plainPage is the template of a page without scripts, in the shell's colours.
var plainPage = template.Must(template.New("plain").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>ChoirOS</title><style>
:root{--paper:#faf9f6;--ink:#22211e;--soft:#4d4a44;--line:#c9c3b8;--surface:#fff;--accent:#2a5c4f}
@media(prefers-color-scheme:dark){:root{--paper:#151618;--ink:#ebe8e1;--soft:#c3bfb6;--line:#45474e;--surface:#1c1d20;--accent:#86cbb4}}
body{display:grid;place-content:center;min-height:100vh;margin:0;background:var(--paper);color:var(--soft);font:15px/1.55 Inter,system-ui,sans-serif}
main{max-width:30em;padding:24px;text-align:center}
h1{margin:0 0 12px;color:var(--ink);font:600 26px/1.25 "Source Serif",Georgia,serif}
p{margin:0 0 10px;overflow-wrap:anywhere}
a{display:inline-flex;align-items:center;min-height:44px;margin-top:10px;padding:0 18px;border:1px solid var(--line);border-radius:6px;background:var(--surface);color:var(--accent);font-weight:500;text-decoration:none}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
</style><main><h1>{{.Title}}</h1><p role="alert">{{.Said}}</p>{{with .Remedy}}<p>{{.}}</p>{{end}}{{if .Again}}<a href="">Try again</a>{{end}}</main></html>
`))

// plainWords are the texts of a plainPage.
type plainWords struct {
	Title, Said, Remedy string
	Again               bool // with a link to itself
}

// sayPlainly answers with a plain page that shows a problem and its remedy.
func sayPlainly(w http.ResponseWriter, status int, title string, p *choir.Problem) {
	writePlainly(w, status, plainWords{Title: title, Said: sentence(p.Message), Remedy: sentence(p.Remedy)})
}

// refusePlainly answers for a preview with a plain page that shows an error and a link
// to try again.
func refusePlainly(w http.ResponseWriter, err error) {
	p := choir.ProblemOf(err)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	writePlainly(w, p.Code.HTTPStatus(), plainWords{
		Title: "Nothing to see here", Said: sentence(p.Message), Remedy: sentence(p.Remedy), Again: true,
	})
}

// writePlainly answers with a plain page of the given texts.
func writePlainly(w http.ResponseWriter, status int, words plainWords) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// A client that went away does not need the answer.
	_ = plainPage.Execute(w, words)
}

// sentence formats an error's text as a sentence: with a capital letter and a full stop;
// "" stays empty.
func sentence(words string) string {
	words = strings.TrimSuffix(words, ".")
	if words == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:] + "."
}
