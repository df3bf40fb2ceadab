package tools_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
)

// place is a workspace whose task works in workspace/app.
type place struct {
	dir string
	kit *tools.Kit
}

func newPlace(t testing.TB, files map[string]string) place {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "workspace/app"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		full := filepath.Join(dir, "workspace/app", name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := tools.OpenWorkspace(dir, "workspace/app")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return place{dir, &tools.Kit{Files: ws}}
}

func (p place) call(t testing.TB, tool string, input any) tools.Output {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tools.Decode(tool, raw)
	if err != nil {
		return tools.Output{Text: err.Error(), Code: choir.CodeOf(err)}
	}
	out, err := c.Run(context.Background(), p.kit)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (p place) read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "workspace/app", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type in map[string]any

func TestReadFileWindow(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "1\n2\n3\n4", "bin": "x\x00y", "empty": "", "long": strings.Repeat("x", 70_000) + "\nend\n"})
	for _, c := range []struct {
		name string
		in   in
		ok   bool
		want string
	}{
		{"whole", in{"path": "a"}, true, "    1\t1\n    2\t2\n    3\t3\n    4\t4"},
		{"window", in{"path": "a", "offset": 2, "limit": 2}, true, "    2\t2\n    3\t3\n[lines 2 to 3; more follows from line 4]\n"},
		{"behind the end", in{"path": "a", "offset": 9}, false, "offset 9 is behind the last line: the file has 4"},
		{"binary", in{"path": "bin"}, false, `path "bin" is a binary file of 3 bytes`},
		{"empty", in{"path": "empty"}, true, "[the file is empty]\n"},
		{"absolute", in{"path": filepath.Join(p.dir, "workspace/app/a"), "limit": 1}, true, "    1\t1\n[lines 1 to 1; more follows from line 2]\n"},
		{"folder", in{"path": "."}, false, `path "." is a folder, not a file`},
		{"absent", in{"path": "b"}, false, `path "b" does not exist`},
		{"unknown field", in{"path": "a", "lines": 3}, false, "lines is not a known field; there are limit, offset, path"},
		{"missing field", in{}, false, "path is required"},
	} {
		if got := p.call(t, "read_file", c.in); got.OK != c.ok || got.Text != c.want {
			t.Errorf("%s: %v %q", c.name, got.OK, got.Text)
		}
	}
	if got := p.call(t, "read_file", in{"path": "long"}); !strings.Contains(got.Text, "[line 1 is cut after 60000 bytes]") || len(got.Text) > 61_000 {
		t.Errorf("a long line: %d bytes", len(got.Text))
	}
}

func TestPathsOutsideAreRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "inside"})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(p.dir, "workspace/app")
	for link, target := range map[string]string{"abs": secret, "up": "../../../../../../../../../../../.." + secret, "dir": filepath.Dir(secret), "ok": "a"} {
		if err := os.Symlink(target, filepath.Join(app, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../../../etc/passwd", "/etc/passwd", "abs", "up", "dir/secret", secret, "dir/../abs"} {
		for tool, input := range map[string]in{
			"read_file":  {"path": path},
			"write_file": {"path": path, "content": "mine"},
			"edit_file":  {"path": path, "edits": []in{{"old": "secret", "new": "mine"}}},
		} {
			if got := p.call(t, tool, input); got.OK || got.Code != choir.CodeForbidden {
				t.Errorf("%s %s: %+v", tool, path, got)
			}
		}
	}
	if b, err := os.ReadFile(secret); string(b) != "secret" || err != nil {
		t.Errorf("the secret is %q, %v", b, err)
	}
	if got := p.call(t, "search_files", in{"pattern": "secret|inside"}); got.Text != "a:1: inside\n" {
		t.Errorf("search followed a link: %q", got.Text)
	}
	if got := p.call(t, "write_file", in{"path": "ok", "content": "through"}); !got.OK || p.read(t, "a") != "through" {
		t.Errorf("a link inside: %+v, %q", got, p.read(t, "a"))
	}
	if info, err := os.Lstat(filepath.Join(app, "ok")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
}

func TestReadingAPipeDoesNotHang(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	if err := syscall.Mkfifo(filepath.Join(p.dir, "workspace/app/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := p.call(t, "read_file", in{"path": "pipe"}); got.OK || !strings.Contains(got.Text, "is a pipe") {
		t.Errorf("%+v", got)
	}
}

func TestEditFileIsExactAndWhole(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\ntwo\nthree\n"
	for _, c := range []struct {
		name, before string
		edits        []in
		want         string
		refusal      string
	}{
		{"one match", text, []in{{"old": "one\n", "new": ""}}, "two\ntwo\nthree\n", ""},
		{"in order", text, []in{{"old": "one", "new": "1"}, {"old": "1\ntwo", "new": "2"}}, "2\ntwo\nthree\n", ""},
		{"two matches", text, []in{{"old": "two", "new": "2"}}, text, "edits[0].old occurs 2 times in f; nothing was changed. Add lines around it until it is unique"},
		{"overlapping matches", "aaa", []in{{"old": "aa", "new": "b"}}, "aaa", "edits[0].old occurs 2 times"},
		{"second fails", text, []in{{"old": "one", "new": "1"}, {"old": "four", "new": "4"}}, text, "edits[1].old does not occur in f; nothing was changed"},
		{"no change", text, []in{{"old": "one", "new": "one"}}, text, "edits[0].new equals old"},
		{"empty old", text, []in{{"old": "", "new": "x"}}, text, "edits[0].old must have 1 to 1000000 characters, not 0"},
		{"no edits", text, []in{}, text, "edits must have 1 to 256 items, not 0"},
		{"line ends kept", "a\r\nb\r\n", []in{{"old": "a\nb", "new": "a\nc\nb"}}, "a\r\nc\r\nb\r\n", ""},
		{"no final newline", "a\nb", []in{{"old": "b", "new": "c"}}, "a\nc", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, map[string]string{"f": c.before})
			if err := os.Chmod(filepath.Join(p.dir, "workspace/app/f"), 0o755); err != nil {
				t.Fatal(err)
			}
			got := p.call(t, "edit_file", in{"path": "f", "edits": c.edits})
			if got.OK != (c.refusal == "") || !strings.Contains(got.Text, c.refusal) || p.read(t, "f") != c.want {
				t.Errorf("%+v, file %q", got, p.read(t, "f"))
			}
			info, err := os.Stat(filepath.Join(p.dir, "workspace/app/f"))
			if err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestListAndSearch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"main.go": "package main\n// TODO one\n", "src/a/b.go": "x TODO two\n", "src/c.ts": "TODO\x00",
		".git/config": "TODO", "ä.txt": "ü",
	})
	for _, c := range []struct {
		tool string
		in   in
		want string
	}{
		{"list_files", in{}, "main.go\nsrc/\nsrc/a/\nsrc/a/b.go\nsrc/c.ts\nä.txt\n"},
		{"list_files", in{"pattern": "*.go"}, "main.go\nsrc/a/b.go\n"},
		{"list_files", in{"pattern": "src/**/*.go"}, "src/a/b.go\n"},
		{"list_files", in{"pattern": "*.{ts,txt}"}, "src/c.ts\nä.txt\n"},
		{"list_files", in{"pattern": "ä.*"}, "ä.txt\n"},
		{"list_files", in{"path": "src", "pattern": "[!a].ts"}, "src/c.ts\n"},
		{"list_files", in{"pattern": "none"}, "no files"},
		{"list_files", in{"limit": 1}, "main.go\n[only the first 1; narrow the pattern or the path]\n"},
		{"search_files", in{"pattern": "TODO \\w+$"}, "main.go:2: // TODO one\nsrc/a/b.go:1: x TODO two\n"},
		{"search_files", in{"pattern": "TODO", "path": "main.go"}, "main.go:2: // TODO one\n"},
		{"search_files", in{"pattern": "("}, "pattern is not a regular expression: error parsing regexp: missing closing ): `(`"},
	} {
		if got := p.call(t, c.tool, c.in); got.Text != c.want {
			t.Errorf("%s %v: %q, want %q", c.tool, c.in, got.Text, c.want)
		}
	}
}

func TestPermittedByKindAndList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    choir.TaskKind
		allowed []choir.Tool
		want    string
	}{
		{choir.TaskEditRepo, nil, "[read_file write_file edit_file list_files search_files bash screenshot]"},
		{choir.TaskRun, nil, "[read_file list_files search_files bash screenshot]"},
		{choir.TaskInspect, nil, "[read_file list_files search_files]"},
		{choir.TaskInspect, []choir.Tool{"bash", "fetch_url", "read_file"}, "[read_file fetch_url]"},
		{choir.TaskEditRepo, []choir.Tool{"bash"}, "[bash]"},
	} {
		var names []string
		for _, n := range tools.Permitted(c.kind, c.allowed) {
			names = append(names, string(n))
			if !json.Valid(tools.Def(n).Schema) {
				t.Errorf("the schema of %s is no JSON", n)
			}
		}
		if got := "[" + strings.Join(names, " ") + "]"; got != c.want {
			t.Errorf("%s %v: %s", c.kind, c.allowed, got)
		}
	}
}

func TestCutIsDeterministicAndKeepsTheEnd(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("ä", 10_000) + "the error"
	got := tools.Cut(s, 1000)
	if got != tools.Cut(s, 1000) || !strings.HasSuffix(got, "the error") || len(got) > 1060 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func FuzzDecode(f *testing.F) {
	for i, tool := range []string{"read_file", "write_file", "edit_file", "list_files", "search_files", "bash", "fetch_url", "screenshot"} {
		f.Add(tool, `{"path":"a","content":"b","edits":[{"old":"x","new":"y"}],"limit":`+strconv.Itoa(i)+`}`)
		f.Add(tool, `{"path":"a"}`)
		f.Add(tool, `{"command":"true","timeout_s":1}`)
		f.Add(tool, `{"pattern":"[","url":"http://x"}`)
	}
	f.Fuzz(func(t *testing.T, tool, raw string) {
		c, err := tools.Decode(tool, []byte(raw))
		if err != nil {
			if code := choir.CodeOf(err); code == choir.CodeInternal {
				t.Errorf("refused without a code: %v", err)
			}
			return
		}
		rec := c.Record()
		if b, err := json.Marshal(rec); err != nil || !json.Valid(b) {
			t.Errorf("the record of %s: %v", tool, err)
		}
	})
}

// A task reads the whole workspace and writes in its own folder, whichever way it names
// a file of another project.
func TestOtherProjectsCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"own": "mine\n"})
	other := filepath.Join(p.dir, "workspace/other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "file"), []byte("untouched\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"folder": "../other", "file": "../other/file", "new": "../other/new"} {
		if err := os.Symlink(target, filepath.Join(p.dir, "workspace/app", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../other/file", filepath.Join(other, "file"), "folder/file", "file"} {
		if out := p.call(t, "read_file", map[string]any{"path": path}); !out.OK || !strings.Contains(out.Text, "untouched") {
			t.Errorf("%s cannot be read: %+v", path, out)
		}
		if out := p.call(t, "edit_file", map[string]any{"path": path, "edits": []map[string]string{{"old": "untouched", "new": "owned"}}}); out.OK || out.Code != choir.CodeForbidden {
			t.Errorf("an edit of %s: %+v", path, out)
		}
	}
	for _, path := range []string{"../other/file", "../other/made", "../third/file", "../../choiros/evil.js", filepath.Join(other, "made"), "folder/made", "file", "new"} {
		if out := p.call(t, "write_file", map[string]any{"path": path, "content": "owned"}); out.OK || out.Code != choir.CodeForbidden {
			t.Errorf("%s was written: %+v", path, out)
		}
	}
	entries, err := os.ReadDir(other)
	content, rerr := os.ReadFile(filepath.Join(other, "file"))
	if err != nil || rerr != nil || len(entries) != 1 || string(content) != "untouched\n" {
		t.Errorf("the other project has %v, and the file %q (%v, %v)", entries, content, err, rerr)
	}
}

// A call that wants to wait longer than one may was refused, which cost the model a call.
func TestALongWaitIsTheLongestThatThereIs(t *testing.T) {
	t.Parallel()
	p, waited := newPlace(t, nil), 0
	p.kit.Shell = func(_ context.Context, _ string, _, waitS int, _ tools.Stdin) (tools.Output, error) {
		waited = waitS
		return tools.Output{OK: true}, nil
	}
	if got := p.call(t, "bash", in{"command": "make", "wait_s": 900}); !got.OK || waited != 600 {
		t.Errorf("it waited %d s: %+v", waited, got)
	}
}
