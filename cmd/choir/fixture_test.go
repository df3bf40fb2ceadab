package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

// fixtures are data folders that earlier builds made; test/fixtures/*/make.py
// says how and what is in them.
const fixtures = "../../test/fixtures"

// fixtureMoment is what the building choir answered about one moment.
type fixtureMoment struct {
	Seq       uint64                 `json:"seq"`
	Windows   []choir.ID             `json:"windows"`
	Documents map[choir.ID]string    `json:"documents"`
	Settings  []fixtureSetting       `json:"settings"`
	Theme     string                 `json:"theme"`
	Notes     string                 `json:"notes"`
	Head      *struct{ Head string } `json:"head,omitempty"`
}

type fixtureSetting struct{ Key, Value string }

// fixtureFacts are the contents of a fixture's expected.json.
type fixtureFacts struct {
	Computer   choir.ID `json:"computer"`
	FailedTask choir.ID `json:"failed_task"`
	Export     string   `json:"export_sha256"` // of the file that the building choir exported
	Early      fixtureMoment
	Late       fixtureMoment
	Back       fixtureMoment
	Final      fixtureMoment
}

// TestADataFolderOfAnEarlierChoir opens, verifies and rewinds every data folder
// kept from an earlier build.
func TestADataFolderOfAnEarlierChoir(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(fixtures, "*", "data.tar.xz"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, packed := range folders {
		t.Run(filepath.Base(filepath.Dir(packed)), func(t *testing.T) { opensFixture(t, packed) })
	}
}

func opensFixture(t *testing.T, packed string) {
	m := newMachine(t, "")
	facts := readFixtureFacts(t, filepath.Join(filepath.Dir(packed), "expected.json"))
	unpackFixture(t, packed, m.data)

	// Nothing runs: the log is whole, and its hashes are those of then.
	verified := m.must("log", "--verify", "--json")
	if head := facts.Final.Head.Head; !slices.Contains(jsonStrings(t, verified), head) {
		t.Errorf("the log's head is not %s:\n%s", head, verified)
	}

	// The file is the one that the choir of then wrote.
	file := filepath.Join(t.TempDir(), "computer.choir")
	m.must("export", file)
	exported, err := os.ReadFile(file)
	if err != nil || hexDigest(exported) != facts.Export {
		t.Errorf("the export is another one: %s, %v", hexDigest(exported), err)
	}

	r := m.up()
	r.healthy()
	c := m.client()
	sameMoment(t, "as it was left", c, facts.Final)
	importsFixture(t, m, file, exported)

	for _, to := range []struct {
		name string
		fixtureMoment
	}{{"a moment before a rewind", facts.Late}, {"an early moment", facts.Early}, {"the end", facts.Final}} {
		m.must("rewind", strconv.FormatUint(to.Seq, 10))
		sameMoment(t, to.name, c, to.fixtureMoment)
	}

	// What was begun with the earlier build goes on with this one.
	task := `{"version":1,"kind":"edit_repo","instruction":"x","commands":[{"shell":"echo four >>workspace/notes.txt"}],"verify_profile":{"mode":"smoke","commands":[{"shell":"grep -q four workspace/notes.txt"}]}}`
	if done := m.runWith(task, "task", "-"); done.code != 0 {
		t.Errorf("a task: exit code %d\n%s%s", done.code, done.out, done.errOut)
	}
	m.must("checkpoint")
	m.must("diff", strconv.FormatUint(facts.Early.Seq, 10), "--computer", "second")
	r.stop()
	m.must("log", "--verify")
	m.must("log", "--verify", "--computer", "second")
}

// importsFixture brings an earlier choir's export in, whole and with a byte flipped
// in the log, in a blob and in the manifest.
func importsFixture(t *testing.T, m *machine, file string, exported []byte) {
	t.Helper()
	damaged := filepath.Join(t.TempDir(), "damaged.choir")
	for _, at := range []int{1000, bytes.Index(exported, []byte("CHOIRJ01")) + 2000, len(exported) - 3000} {
		exported[at] ^= 1
		if err := os.WriteFile(damaged, exported, 0o600); err != nil {
			t.Fatal(err)
		}
		exported[at] ^= 1
		m.refuses(t, choir.CodeCorrupt.ExitCode(), choir.CodeCorrupt, "", "import", damaged, "--name", "damaged")
	}
	m.must("import", file, "--name", "imported")
	m.must("log", "--verify", "--computer", "imported")
}

// TestAFlippedByteOfAnEarlierChoirIsNamed damages what earlier builds wrote: a byte of
// a blob, and one of an event in the journal, which their SQLite copy mends. The copy
// itself is made anew by another build.
func TestAFlippedByteOfAnEarlierChoirIsNamed(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(fixtures, "*", "data.tar.xz"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, packed := range folders {
		facts := readFixtureFacts(t, filepath.Join(filepath.Dir(packed), "expected.json"))
		m := newMachine(t, "")
		unpackFixture(t, packed, m.data)
		dir := filepath.Join(m.data, "computers", string(facts.Computer))
		file := filepath.Join(t.TempDir(), "computer.choir")
		m.must("export", file)
		restore := flipByte(t, onePath(t, filepath.Join(dir, "blobs", facts.Final.Notes[:2], facts.Final.Notes)), "third")
		if r := m.run("export", file); r.code == 0 || !strings.Contains(r.errOut, facts.Final.Notes) {
			t.Errorf("an export with a damaged blob: exit code %d\n%s%s", r.code, r.out, r.errOut)
		}
		restore()
		flipByte(t, onePath(t, filepath.Join(dir, "journal/*.seg")), `"type":"overlay.added"`)
		if r := m.run("log", "--verify"); !strings.Contains(r.out+r.errOut, "damaged") {
			t.Errorf("the journal: exit code %d\n%s%s", r.code, r.out, r.errOut)
		}
		up := m.up()
		up.healthy()
		if out := m.must("log", "--verify"); !strings.Contains(out, "The log is whole") {
			t.Errorf("it is not mended: %s", out)
		}
		up.stop()
	}
}

func onePath(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// flipByte flips a bit of the first such text in a file, and returns what flips it
// back.
func flipByte(t *testing.T, path, text string) (back func()) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func() {
		if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, raw, 0o600), os.Chmod(path, info.Mode())); err != nil {
			t.Fatal(err)
		}
	}
	at := bytes.Index(raw, []byte(text)) + len(text) - 2
	if at < len(text)-2 {
		t.Fatalf("%s has no %s", path, text)
	}
	raw[at] ^= 1
	write()
	return func() { raw[at] ^= 1; write() }
}

func readFixtureFacts(t *testing.T, path string) (facts fixtureFacts) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// jsonStrings lists the string fields of a JSON object.
func jsonStrings(t *testing.T, object string) (all []string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatalf("%v in %s", err, object)
	}
	for _, raw := range fields {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// unpackFixture unpacks a data folder with its owners, when this is root.
func unpackFixture(t *testing.T, packed, into string) {
	t.Helper()
	unxz := exec.Command("xz", "-dc", packed)
	out, err := unxz.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := unxz.Start(); err != nil {
		t.Fatal(err)
	}
	var folders []*tar.Header
	files := tar.NewReader(out)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = unpackMember(into, h, files)
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			folders = append(folders, h)
		}
	}
	if err := unxz.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, h := range slices.Backward(folders) {
		path := filepath.Join(into, filepath.FromSlash(h.Name))
		if err := errors.Join(os.Chmod(path, h.FileInfo().Mode()), os.Chtimes(path, h.ModTime, h.ModTime)); err != nil {
			t.Fatal(err)
		}
	}
}

func unpackMember(into string, h *tar.Header, content io.Reader) error {
	path := filepath.Join(into, filepath.FromSlash(h.Name))
	switch h.Typeflag {
	case tar.TypeDir:
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	case tar.TypeSymlink:
		if err := os.Symlink(h.Linkname, path); err != nil {
			return err
		}
	case tar.TypeLink:
		// A fork shares content with the computer it was made of.
		return os.Link(filepath.Join(into, filepath.FromSlash(h.Linkname)), path)
	default:
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		if err = errors.Join(err, f.Chmod(h.FileInfo().Mode()), f.Close(), os.Chtimes(path, h.ModTime, h.ModTime)); err != nil {
			return err
		}
	}
	if os.Geteuid() == 0 {
		return os.Lchown(path, h.Uid, h.Gid)
	}
	return nil
}

// sameMoment holds what the computer says of its newest moment against what the
// building choir said of it.
func sameMoment(t *testing.T, name string, c *client, want fixtureMoment) {
	t.Helper()
	var desktop struct {
		Windows  []struct{ ID choir.ID }
		Settings []fixtureSetting
		Theme    *struct{ Name string }
	}
	var documents []struct{ ID choir.ID }
	if err := errors.Join(c.get(t.Context(), c.path("/desktop"), &desktop), c.get(t.Context(), c.path("/documents"), &documents)); err != nil {
		t.Fatal(err)
	}
	got := fixtureMoment{Seq: want.Seq, Head: want.Head, Documents: map[choir.ID]string{}, Settings: desktop.Settings}
	for _, w := range desktop.Windows {
		got.Windows = append(got.Windows, w.ID)
	}
	slices.Sort(got.Windows)
	if desktop.Theme != nil {
		got.Theme = desktop.Theme.Name
	}
	for _, d := range documents {
		var whole struct{ Content string }
		if err := c.get(t.Context(), c.path("/documents/"+string(d.ID)), &whole); err != nil {
			t.Fatal(err)
		}
		got.Documents[d.ID] = hexDigest([]byte(whole.Content))
	}
	res, err := c.do(t.Context(), http.MethodGet, c.path("/files/workspace/notes.txt"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	notes, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got.Notes = hexDigest(notes)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-then +now):\n%s", name, diff)
	}
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
