package gitgate

import (
	"bufio"
	"context"
	"encoding/base64"
	"iter"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/control/vault"
	keyvault "choiros/internal/keyring/vault"
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

// silent is a computer whose log keeps nothing.
type silent struct{ id choir.ID }

func (s silent) ID() choir.ID { return s.id }
func (silent) EndKey(string)  {}
func (silent) Head() uint64   { return 0 }
func (silent) Append(context.Context, choir.Role, ...choir.Payload) ([]choir.Receipt, error) {
	return nil, nil
}
func (silent) Events(context.Context, uint64) iter.Seq2[choir.Event, error] {
	return func(func(choir.Event, error) bool) {}
}

// TestProjectsOfOneRepositoryHaveTheirOwnCredentials has several projects name one repository with
// different entries of the vault: a call has the entry of its task's project, else one that may be
// used for the call, whichever project was cloned first.
func TestProjectsOfOneRepositoryHaveTheirOwnCredentials(t *testing.T) {
	keys := vault.New(keyvault.New(filepath.Join(t.TempDir(), "keys"), time.Now))
	for name, b := range map[string]choir.VaultBinding{
		"reader": {Methods: []string{"fetch"}}, "first": {Project: "a"}, "second": {Project: "b"}, "elsewhere": {Paths: []string{"/q"}},
	} {
		b.Use, b.Host, b.Computer, b.User = choir.VaultForGit, "h.test", "c", "me"
		if _, err := keys.Set(t.Context(), silent{"c"}, choir.RoleCLI, name, "a-long-key-of-"+name, b); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		named   string // each project with its entry, in order
		project string // that the task is about
		action  string
		uses    string
		code    choir.Code
	}{
		"the entry of the task's project":          {"a:first b:second", "b", "push", "second", ""},
		"the first entry for no project":           {"a:first b:second", "", "push", "first", ""},
		"the first entry for another project":      {"a:first b:second", "z", "push", "first", ""},
		"an entry instead of a removed one":        {"a:gone b:second", "", "fetch", "second", ""},
		"an entry instead of the project's, gone":  {"b:second a:gone", "a", "fetch", "second", ""},
		"an entry instead of a foreign one":        {"a:second b:second", "", "fetch", "second", ""},
		"an entry to push instead of one to fetch": {"z:reader b:second", "z", "push", "second", ""},
		"an entry that is only to fetch":           {"z:reader b:second", "z", "fetch", "reader", ""},
		"an entry before no entry":                 {"z: b:second", "", "fetch", "second", ""},
		"no entry for a project without":           {"z: b:second", "z", "fetch", "", ""},
		"no entry instead of a removed one":        {"a:gone z:", "", "fetch", "", ""},
		"no entry at all":                          {"z:", "", "fetch", "", ""},
		"a removed entry":                          {"a:gone", "", "fetch", "", choir.CodeNotFound},
		"only entries that are not for it":         {"a:elsewhere z:reader b:gone", "", "push", "", choir.CodeRefused},
	} {
		g := &Gate{Computer: "c", Vault: keys, Named: func(context.Context) (out []Repository, _ error) {
			for one := range strings.FieldsSeq(c.named) {
				project, entry, _ := strings.Cut(one, ":")
				for _, path := range []string{"/other", "/p"} {
					out = append(out, Repository{Project: project, Target: egress.Target{Host: "h.test", Port: 443, Path: path}, Credential: entry})
				}
			}
			return out, nil
		}}
		service := map[string]string{"fetch": "git-upload-pack", "push": "git-receive-pack"}[c.action]
		r, ok := readRequest(t, "GET http://git.choir.internal/h.test/p/info/refs?service="+service+" HTTP/1.1\r\n\r\n")
		if !ok {
			t.Fatal("it is no request")
		}
		e, err := g.errand(t.Context(), r, c.project)
		sent := ""
		if c.uses != "" {
			sent = "Basic " + base64.StdEncoding.EncodeToString([]byte("me:a-long-key-of-"+c.uses))
		}
		if e.Credential != c.uses || e.Header.Get("Authorization") != sent || choir.CodeOf(err) != c.code {
			t.Errorf("%s: it goes with %q (%q), %v", name, e.Credential, e.Header.Get("Authorization"), err)
		}
	}
}
