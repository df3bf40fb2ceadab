package packages

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
)

// kinds returns a registry of each kind.
func kinds() []Registry {
	return []Registry{
		NPM{Names: []string{"npm.test", "yarn.test"}}, PyPI{Index: "pypi.test", Files: "files.test"},
		NewGoModules("go.test", "sum.test", "sum.test+0+none"), Cargo{Index: "index.test", Files: "crates.test"},
	}
}

const anyHash = "/packages/00/11/" + "222222222222222222222222222222222222222222222222222222222222"

// TestOnlyContentThatNeverChangesIsAnItem names what is content and what is not.
func TestOnlyContentThatNeverChangesIsAnItem(t *testing.T) {
	c := openCache(t, t.TempDir(), nil, func(cfg *Config) { cfg.Registries = kinds() })
	for where, want := range map[string]bool{
		"npm.test/greet/-/greet-1.0.0.tgz":                                      true,
		"yarn.test/@a/greet/-/greet-1.0.0-beta.1.tgz":                           true,
		"npm.test/greet":                                                        false,
		"npm.test/greet/-/other-1.0.0.tgz":                                      false,
		"npm.test/greet/-/greet-.tgz":                                           false,
		"npm.test/greet/-/greet-1.0.0.tgz/x":                                    false,
		"npm.test/a/b/-/b-1.0.0.tgz":                                            false,
		"npm.test/@a/b/c/-/c-1.0.0.tgz":                                         false,
		"npm.test/-/-1.0.0.tgz":                                                 false,
		"npm.test/-/v1/search":                                                  false,
		"other.test/greet/-/greet-1.0.0.tgz":                                    false,
		"files.test" + anyHash + "/a-1.0.tar.gz":                                true,
		"files.test" + anyHash + "/a-1.0-any.whl.metadata":                      true,
		"files.test/packages/source/a/a/a-1.0.tar.gz":                           false,
		"files.test" + anyHash + "/":                                            false,
		"files.test" + anyHash + "/a/b":                                         false,
		"pypi.test" + anyHash + "/a-1.0.tar.gz":                                 false,
		"pypi.test/simple/a/":                                                   false,
		"go.test/example.test/greet/@v/v1.0.0.zip":                              true,
		"go.test/example.test/!greet/@v/v1.0.0.mod":                             true,
		"go.test/example.test/greet/@v/v1.0.0-20200101000000-0123456789ab.info": true,
		"go.test/example.test/greet/v2/@v/v2.0.0.zip":                           true,
		"go.test/example.test/greet/@v/v2.0.0.zip":                              false,
		"go.test/example.test/greet/@v/master.info":                             false,
		"go.test/example.test/greet/@v/list":                                    false,
		"go.test/example.test/greet/@latest":                                    false,
		"go.test/example.test/Greet/@v/v1.0.0.zip":                              false,
		"go.test/sumdb/sum.test/lookup/example.test/greet@v1.0.0":               false,
		"sum.test/example.test/greet/@v/v1.0.0.zip":                             false,
		"crates.test/crates/greet/1.0.0/download":                               true,
		"crates.test/crates/greet/greet-1.0.0.crate":                            true,
		"crates.test/crates/greet/other-1.0.0.crate":                            false,
		"crates.test/crates/greet/1.0.0/readme":                                 false,
		"crates.test/crates/../1.0.0/download":                                  false,
		"index.test/gr/ee/greet":                                                false,
	} {
		host, path, _ := strings.Cut(where, "/")
		if _, ok := c.Item(host, "/"+path); ok != want {
			t.Errorf("%s: %v", where, ok)
		}
	}
	for where, want := range map[string]string{
		"npm.test/greet text/html":                                  "",
		"npm.test/greet " + npmPage + "; q=1.0, */*":                npmPage,
		"npm.test/greet */*":                                        "application/json",
		"npm.test/@a/greet application/json":                        "application/json",
		"npm.test/-/whoami */*":                                     "",
		"npm.test/greet/1.0.0 */*":                                  "",
		"pypi.test/simple/greet/ " + pypiPage + ", text/html;q=0.1": pypiPage,
		"pypi.test/simple/greet/ text/html":                         "text/html",
		"pypi.test/simple/ text/html":                               "",
		"pypi.test/pypi/greet/json */*":                             "",
		"index.test/config.json ":                                   "*/*",
		"index.test/gr/ee/greet ":                                   "*/*",
		"index.test/3/a/abc ":                                       "*/*",
		"index.test/1/a ":                                           "*/*",
		"index.test/2/ab ":                                          "*/*",
		"index.test/gr/ee/other ":                                   "",
		"crates.test/config.json ":                                  "",
		"go.test/example.test/greet/@v/list ":                       "",
	} {
		where, accept, _ := strings.Cut(where, " ")
		host, path, _ := strings.Cut(where, "/")
		if r, ok := c.PageOf(host, "/"+path, accept); ok != (want != "") || ok && r.Accept != want {
			t.Errorf("%s: %q, %v", where, r.Accept, ok)
		}
	}
}

// FuzzItem has the registries read hosts' paths, which guests write.
func FuzzItem(f *testing.F) {
	f.Add("/greet/-/greet-1.0.0.tgz")
	f.Add("/@a/greet/-/greet-1.0.0.tgz")
	f.Add(anyHash + "/a-1.0.tar.gz.metadata")
	f.Add("/example.test/greet/@v/v1.0.0.zip")
	f.Add("/crates/greet/1.0.0/download")
	f.Add("/gr/ee/greet")
	f.Fuzz(func(t *testing.T, path string) {
		for _, r := range kinds() {
			for _, host := range r.Hosts() {
				if item, ok := r.Item(host, path); ok && (item.Host != host || item.Path != path || item.findCheck == nil || item.Type == "") {
					t.Errorf("%q: %+v", path, item)
				}
				if _, ok := r.Page(host, path, ""); ok && strings.ContainsAny(path, "%?#\\ \r\n") {
					t.Errorf("%q is a page", path)
				}
			}
		}
	})
}

// offer is content of a registry of some kind, and what it is when it is false.
type offer struct {
	where       string
	right, lie  []byte
	asksBesides []string
}

// offerAll serves content of each kind with its digests.
func offerAll(t *testing.T, mux *http.ServeMux) (registries []Registry, offers map[string]offer) {
	old := []byte("old tarball")
	mux.HandleFunc("npm.test/old", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != npmPage {
			t.Errorf("npm is asked for %q", r.Header["Accept"])
		}
		fmt.Fprintf(w, `{"versions":{"0.1.0":{"dist":{"tarball":"https://npm.test/old/-/old-0.1.0.tgz","shasum":"%x"}}}}`, sha1.Sum(old))
	})
	wheel, metadata := []byte("wheel"), []byte("metadata")
	b := blake2b.Sum256(wheel)
	h := hex.EncodeToString(b[:])
	file := "/packages/" + h[:2] + "/" + h[2:4] + "/" + h[4:] + "/Some_Thing-1.0-py3-none-any.whl"
	mux.HandleFunc("pypi.test/simple/some-thing/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"files":[{"url":"https://files.test/else","core-metadata":true},{"url":"https://files.test%s","core-metadata":{"sha256":"%x"}}]}`, file, sha256.Sum256(metadata))
	})
	mux.HandleFunc("index.test/gr/ee/greet", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "{\"name\":\"greet\",\"vers\":\"0.9.0\",\"cksum\":\"00\"}\nno line\n{\"name\":\"greet\",\"vers\":\"1.0.0\",\"cksum\":\"%x\"}\n", sha256.Sum256([]byte("crate")))
	})
	const mod = "module example.test/greet\n"
	var packed, other bytes.Buffer
	for text, to := range map[string]*bytes.Buffer{"package greet\n": &packed, "package evil\n": &other} {
		zw := zip.NewWriter(to)
		for name, content := range map[string]string{"go.mod": mod, "greet.go": text} {
			f, err := zw.Create("example.test/greet@v1.0.0/" + name)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(f, content)
		}
		zw.Close()
	}
	path := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(path, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(mod)), nil })
	if err != nil {
		t.Fatal(err)
	}
	secret, key, err := note.GenerateKey(rand.Reader, "sum.test")
	if err != nil {
		t.Fatal(err)
	}
	db := sumdb.NewServer(sumdb.NewTestServer(secret, func(path, version string) ([]byte, error) {
		if path != "example.test/greet" || version != "v1.0.0" {
			return nil, errors.New("unknown")
		}
		return fmt.Appendf(nil, "example.test/greet v1.0.0 %s\nexample.test/greet v1.0.0/go.mod %s\n", sum, modSum), nil
	}))
	for _, path := range sumdb.ServerPaths {
		mux.Handle("sum.test"+path, db)
	}
	registries = []Registry{NPM{Names: []string{"npm.test"}}, PyPI{Index: "pypi.test", Files: "files.test"}, NewGoModules("go.test", "sum.test", key), Cargo{Index: "index.test", Files: "crates.test"}}
	return registries, map[string]offer{
		"npm by its shasum": {"npm.test/old/-/old-0.1.0.tgz", old, []byte("new tarball"), nil},
		"a wheel":           {"files.test" + file, wheel, []byte("whale"), nil},
		"its metadata":      {"files.test" + file + ".metadata", metadata, []byte("more data"), []string{"pypi.test"}},
		"a crate":           {"crates.test/crates/greet/1.0.0/download", []byte("crate"), []byte("grate"), []string{"index.test"}},
		"a module":          {"go.test/example.test/greet/@v/v1.0.0.zip", packed.Bytes(), other.Bytes(), []string{"sum.test"}},
		"its zip is none":   {"go.test/example.test/greet/@v/v1.0.0.zip", packed.Bytes(), []byte("PK"), []string{"sum.test"}},
		"its go.mod":        {"go.test/example.test/greet/@v/v1.0.0.mod", []byte(mod), []byte("module evil.test\n"), []string{"sum.test"}},
		"its info":          {"go.test/example.test/greet/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0"}`), []byte(`{"Version":"v9.0.0"}`), []string{"sum.test"}},
	}
}

// TestEachKindOfContentIsComparedWithItsDigest has the registries give right and false content.
func TestEachKindOfContentIsComparedWithItsDigest(t *testing.T) {
	mux := http.NewServeMux()
	registries, offers := offerAll(t, mux)
	for name, o := range offers {
		t.Run(name, func(t *testing.T) {
			lies := true
			w := newWeb(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				switch {
				case r.Host+r.URL.Path != o.where:
					mux.ServeHTTP(out, r)
				case lies:
					_, _ = out.Write(o.lie)
				default:
					_, _ = out.Write(o.right)
				}
			}))
			dir := t.TempDir()
			c := openCache(t, dir, w, func(cfg *Config) { cfg.Registries = registries })
			host, path, _ := strings.Cut(o.where, "/")
			item, ok := c.Item(host, "/"+path)
			if !ok || !slices.Equal(item.Asks, o.asksBesides) {
				t.Fatalf("%v, asks %q", ok, item.Asks)
			}
			if body, _, err := get(t, c, item); !errors.Is(err, ErrFalse) || len(stored(t, dir)) > 0 {
				t.Errorf("false: %q, %v", body, err)
			}
			lies = false
			mustGet(t, c, item, o.right, false)
			mustGet(t, c, item, o.right, true)
		})
	}
}

// TestADatabaseThatIsNotSignedIsNotBelieved has the checksum database signed with another key.
func TestADatabaseThatIsNotSignedIsNotBelieved(t *testing.T) {
	mux := http.NewServeMux()
	_, offers := offerAll(t, mux)
	o := offers["a module"]
	mux.HandleFunc(o.where, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(o.right) })
	_, key, err := note.GenerateKey(rand.Reader, "sum.test")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := openCache(t, dir, newWeb(t, mux), func(cfg *Config) { cfg.Registries = []Registry{NewGoModules("go.test", "sum.test", key)} })
	item, _ := c.Item("go.test", "/example.test/greet/@v/v1.0.0.zip")
	if _, _, err := get(t, c, item); !errors.Is(err, ErrPass) || !strings.Contains(err.Error(), "security") && !strings.Contains(err.Error(), "verif") {
		t.Errorf("%v", err)
	}
	if names := stored(t, dir); len(names) > 0 {
		t.Errorf("it holds %q", names)
	}
}
