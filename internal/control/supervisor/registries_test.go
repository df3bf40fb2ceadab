package supervisor_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
)

// locked are the words of lock files for the packages of the registries of the test.
type locked struct {
	npm   string // package-lock.json
	pip   string // requirements with hashes
	goSum string
	sums  string // the database with the sums of goSum, by the key of its signatures
	cargo string // Cargo.lock
}

// fileOfPyPI returns the path of a file, which is its digest, as at PyPI.
func fileOfPyPI(name string, content []byte) string {
	sum := blake2b.Sum256(content)
	h := hex.EncodeToString(sum[:])
	return "/packages/" + h[:2] + "/" + h[2:4] + "/" + h[4:] + "/" + name
}

// isKnown says of a page what PyPI's and crates.io's say: that it holds for ten minutes, and after
// that whether it has changed, which it reports.
func isKnown(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Cache-Control", "max-age=600, public")
	w.Header().Set("ETag", `"1"`)
	known := r.Header.Get("If-None-Match") == `"1"`
	if known {
		w.WriteHeader(http.StatusNotModified)
	}
	return known
}

// simplePage serves the page of a project with one wheel and its metadata.
func simplePage(mux *http.ServeMux, wheel string, content, metadata []byte) {
	path := fileOfPyPI(wheel, content)
	sum, described := sha256.Sum256(content), sha256.Sum256(metadata)
	mux.HandleFunc("pypi.test/simple/greet/", func(w http.ResponseWriter, r *http.Request) {
		if isKnown(w, r) {
			return
		}
		if !strings.Contains(r.Header.Get("Accept"), "vnd.pypi.simple.v1+json") {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><a href="https://files.test%s#sha256=%x">%s</a>`, path, sum, wheel)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"meta": map[string]any{"api-version": "1.0"}, "name": "greet",
			"files": []any{map[string]any{
				"filename": wheel, "url": "https://files.test" + path, "hashes": map[string]string{"sha256": hex.EncodeToString(sum[:])},
				"core-metadata": map[string]string{"sha256": hex.EncodeToString(described[:])},
			}},
		})
	})
	mux.HandleFunc("files.test"+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	mux.HandleFunc("files.test"+path+".metadata", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(metadata) })
}

// sumServer serves a checksum database with the module example.test/greet. It returns its key and
// the lines for go.sum.
func sumServer(t *testing.T, mux *http.ServeMux, zipped []byte, mod string) (key, goSum string) {
	secret, key, err := note.GenerateKey(rand.Reader, "sum.test")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(file, zipped, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(mod)), nil })
	if err != nil {
		t.Fatal(err)
	}
	goSum = fmt.Sprintf("example.test/greet v1.0.0 %s\nexample.test/greet v1.0.0/go.mod %s\n", sum, modSum)
	db := sumdb.NewServer(sumdb.NewTestServer(secret, func(path, version string) ([]byte, error) {
		if path != "example.test/greet" || version != "v1.0.0" {
			return nil, fmt.Errorf("no %s@%s", path, version)
		}
		return []byte(goSum), nil
	}))
	for _, path := range sumdb.ServerPaths {
		mux.Handle("sum.test"+path, db)
	}
	return key, goSum
}

// cargoServer serves the crate greet of a sparse index, and returns a lock file with it.
func cargoServer(mux *http.ServeMux) (lock string) {
	var crate bytes.Buffer
	zw := gzip.NewWriter(&crate)
	tw := tar.NewWriter(zw)
	for name, content := range map[string]string{
		"greet-1.0.0/Cargo.toml": "[package]\nname = \"greet\"\nversion = \"1.0.0\"\n", "greet-1.0.0/src/lib.rs": "// hello from cargo\n",
	} {
		_ = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
		_, _ = io.WriteString(tw, content)
	}
	tw.Close()
	zw.Close()
	sum := sha256.Sum256(crate.Bytes())
	page := func(path, body string) {
		mux.HandleFunc("index.test"+path, func(w http.ResponseWriter, r *http.Request) {
			if !isKnown(w, r) {
				_, _ = io.WriteString(w, body)
			}
		})
	}
	page("/config.json", `{"dl":"https://crates.test/crates"}`)
	page("/gr/ee/greet", fmt.Sprintf(`{"name":"greet","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sum))
	mux.HandleFunc("crates.test/crates/greet/1.0.0/download", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(crate.Bytes()) })
	return fmt.Sprintf("version = 3\n\n[[package]]\nname = \"greet\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%x\"\n\n[[package]]\nname = \"m\"\nversion = \"0.1.0\"\ndependencies = [\n \"greet\",\n]\n", sum)
}

// rustToolchain returns the folder of cargo on this machine; "" for none.
func rustToolchain() string {
	out, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
