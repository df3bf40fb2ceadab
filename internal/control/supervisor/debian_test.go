package supervisor_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
)

// debianServer serves a Debian repository with the package greet, and reports whether this machine
// can make one.
func debianServer(t *testing.T, mux *http.ServeMux) bool {
	t.Helper()
	root := t.TempDir()
	control := "Package: greet\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@t>\nDescription: says hello\n"
	for name, text := range map[string]string{"d/DEBIAN/control": control, "d/usr/share/greet/greeting": "hello from debian\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-b", "d", "greet.deb")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("dpkg-deb: %v: %s", err, out)
		return false
	}
	deb, err := os.ReadFile(filepath.Join(root, "greet.deb"))
	if err != nil {
		t.Fatal(err)
	}
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	index := "main/binary-" + strings.TrimSpace(string(arch)) + "/Packages"
	list := fmt.Sprintf("%sFilename: pool/greet.deb\nSize: %d\nSHA256: %x\n", control, len(deb), sha256.Sum256(deb))
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	_, _ = zw.Write([]byte(list))
	zw.Close()
	release := fmt.Sprintf("Suite: stable\nArchitectures: %sComponents: main\nDate: Thu, 26 Nov 2026 00:00:00 UTC\nSHA256:\n %x %d %s\n %x %d %s.gz\n",
		arch, sha256.Sum256([]byte(list)), len(list), index, sha256.Sum256(packed.Bytes()), packed.Len(), index)
	for name, content := range map[string][]byte{
		"dists/stable/Release": []byte(release), "dists/stable/" + index: []byte(list), "dists/stable/" + index + ".gz": packed.Bytes(), "pool/greet.deb": deb,
	} {
		mux.HandleFunc("deb.test/debian/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	return true
}

// TestAptDownloadsThroughTheEgressDoor has apt, with folders of its own, read the lists of a
// repository, by HTTP as Debian's is, and download a package, which is unpacked. The proxy is apt's
// own affair: it reads http_proxy.
func TestAptDownloadsThroughTheEgressDoor(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/apt-get"); err != nil {
		t.Skip("/usr/bin/apt-get is not on this machine")
	}
	n := newInternet(t)
	if !debianServer(t, n.mux) {
		t.Skip("dpkg-deb makes no package on this machine")
	}
	p := n.egressPlane(t, config.Egress{Mode: "allowlist", Allowlist: []config.EgressHost{{Host: "deb.test", Port: 80, Methods: []string{"GET"}, Paths: []string{"/debian"}}}})
	const script = `set -e; cd $TMPDIR; mkdir -p s/lists/partial c/archives/partial e; touch s/status
echo 'deb [trusted=yes] http://deb.test/debian stable main' > e/sources.list
apt() { apt-get -q -o Dir::State=$PWD/s -o Dir::State::status=$PWD/s/status -o Dir::Cache=$PWD/c -o Dir::Etc::sourcelist=$PWD/e/sources.list -o Dir::Etc::sourceparts=- -o Acquire::Languages=none "$@"; }
apt update; apt download greet; dpkg-deb -x greet_1.0_all.deb out; cat out/usr/share/greet/greeting`
	task, r := executeTask(t, p, nil, script)
	if len(r.CommandsRun) != 1 || r.Status != choir.StatusOK || !strings.Contains(r.CommandsRun[0].StdoutTail, "hello from debian") {
		t.Fatalf("%s %s: %+v", r.Status, r.Summary, r.CommandsRun)
	}
	var deb bool
	for _, e := range passages(t, p, task) {
		deb = deb || e.Path == "/debian/pool/greet.deb" && e.Status == http.StatusOK
		if e.Host != "deb.test" || e.Port != 80 || e.Method != http.MethodGet {
			t.Errorf("recorded %+v", e)
		}
	}
	if refused := egressEvents[choir.EgressRefused](t, p, task); !deb || len(refused) > 0 {
		t.Errorf("the package is recorded: %v, refused %+v", deb, refused)
	}
}
