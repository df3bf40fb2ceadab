package gitgate

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// readRequest returns a request as the egress door's server reads it.
func readRequest(t testing.TB, text string) (*http.Request, bool) {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	return r, err == nil
}

const upload = "Content-Type: application/x-git-upload-pack-request\r\n"

func TestOnlyGitsThreeRequestsAreCarried(t *testing.T) {
	const at = " http://git.choir.internal"
	for line, want := range map[string]string{
		"GET" + at + "/h.test/me/p.git/info/refs?service=git-upload-pack|":             "h.test:443 /me/p.git /info/refs fetch",
		"GET" + at + "/h.test:8443/p/info/refs?service=git-receive-pack|":              "h.test:8443 /p /info/refs push",
		"POST" + at + "/h.test/p/git-upload-pack|" + upload:                            "h.test:443 /p /git-upload-pack fetch",
		"POST" + at + "/h.test/p/git-receive-pack|" + upload:                           "",
		"POST" + at + "/h.test/p/git-upload-pack|":                                     "",
		"POST" + at + "/h.test/p/git-upload-pack?x|" + upload:                          "",
		"POST" + at + "/h.test/p/git-upload-archive|" + upload:                         "",
		"POST" + at + "/h.test/git-upload-pack|" + upload:                              "",
		"GET" + at + "/h.test/p/info/refs|":                                            "",
		"GET" + at + "/h.test/p/info/refs?service=git-upload-pack&service=x|":          "",
		"GET" + at + "/h.test/p/info/refs?service=git-upload-archive|":                 "",
		"GET" + at + "/h.test/p/HEAD|":                                                 "",
		"GET" + at + "/h.test/p/../q/info/refs?service=git-upload-pack|":               "",
		"GET" + at + "/h.test/p%2f/info/refs?service=git-upload-pack|":                 "",
		"GET" + at + "/h.test//p/info/refs?service=git-upload-pack|":                   "",
		"GET" + at + "/H.test/p/info/refs?service=git-upload-pack|":                    "h.test:443 /p /info/refs fetch",
		"GET" + at + "/u:p@h.test/p/info/refs?service=git-upload-pack|":                "",
		"GET" + at + "/0x7f000001/p/info/refs?service=git-upload-pack|":                "",
		"GET" + at + "/h.test/p/info/refs?service=git-upload-pack|Host: x\r\n":         "h.test:443 /p /info/refs fetch", // the request line counts
		"DELETE" + at + "/h.test/p/info/refs?service=git-upload-pack|":                 "",
		"GET http://git.choir.internal:80/h.test/p/info/refs?service=git-upload-pack|": "h.test:443 /p /info/refs fetch",
	} {
		request, header, _ := strings.Cut(line, "|")
		r, ok := readRequest(t, request+" HTTP/1.1\r\n"+header+"\r\n")
		if !ok {
			t.Fatalf("%q is no request", line)
		}
		got := ""
		if c, ok := readCall(r); ok {
			got = strings.Join([]string{c.repo.HostPort(), c.repo.Path, c.service, c.action}, " ")
		}
		if got != want {
			t.Errorf("%q is read as %q, not %q", line, got, want)
		}
	}
}

func FuzzReadCall(f *testing.F) {
	f.Add("/h.test/p/info/refs?service=git-upload-pack")
	f.Add("/h.test/p/../info/refs?service=git-upload-pack")
	f.Fuzz(func(t *testing.T, uri string) {
		if strings.ContainsAny(uri, " \r\n") {
			return
		}
		r, ok := readRequest(t, "GET http://git.choir.internal"+uri+" HTTP/1.1\r\n\r\n")
		if !ok {
			return
		}
		c, ok := readCall(r)
		if !ok {
			return
		}
		// What was read gives the request again, so that nothing else can be meant.
		again := "/" + strings.ToLower(strings.SplitN(uri[1:], "/", 2)[0]) + c.repo.Path + c.service + "?" + c.query
		if want := "/" + strings.ToLower(strings.SplitN(uri[1:], "/", 2)[0]) + uri[1+strings.IndexByte(uri[1:], '/'):]; again != want {
			t.Errorf("%q is read as %q", uri, again)
		}
	})
}

func TestAnAddressHasOneForm(t *testing.T) {
	for url, want := range map[string]string{
		"https://h.test/me/p.git": "http://git.choir.internal/h.test/me/p.git",
		"https://h.test:8443/p":   "http://git.choir.internal/h.test:8443/p",
		"https://h.test:443/p":    "http://git.choir.internal/h.test/p",
		"https://H.test/p":        "", "https://h.test": "", "https://h.test/": "", "https://h.test/p/": "", "http://h.test/p": "",
		"https://u:pw@h.test/p": "", "https://h.test/p?x": "", "https://h.test/p#x": "", "https://h.test/%70": "", "https://h.test/a//b": "",
		"ssh://git@h.test/p": "", "git@h.test:p": "", "https://h.test./p": "", "https://h.test:/p": "",
	} {
		got, _, err := Address(url)
		if got != want || (err == nil) != (want != "") || want == "" && choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}

func TestARefusedAddressKeepsItsSecretsToItself(t *testing.T) {
	for url, want := range map[string]string{
		"https://me:s3cret@h.test/p":      "https://…@h.test/p",
		"https://s3cret@h.test/p":         "https://…@h.test/p",
		"https://me:s3/cret@h.test/p":     "https://…@h.test/p",
		"https://h.test/p?token=s3cret":   "https://h.test/p?…",
		"https://h.test/p#s3cret":         "https://h.test/p#…",
		"ssh://me:s3cret@h.test/p?s3cret": "ssh://…@h.test/p?…",
		"me:s3cret@h.test:p":              "…@h.test:p",
		"http://h.test/p":                 "http://h.test/p",
	} {
		_, _, err := Address(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3") {
			t.Errorf("%s: %v, want %q in it", url, err, want)
		}
	}
}
