package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestEditsOverSeveralFilesAreAllOrNone: as edits with a file each, and as a patch.
func TestEditsOverSeveralFilesAreAllOrNone(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "one\ntwo\n", "b.go": "func f() {\n\treturn\n}\n\nfunc g() {\n\treturn\n}\n", "crlf": "x\r\ny\r\n"}
	patch := func(lines ...string) in {
		return in{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"}
	}
	for _, c := range []struct {
		name string
		in   in
		want map[string]string // nil: nothing is changed
		text string
	}{
		{"edits", in{"edits": []in{{"path": "a", "old": "one", "new": "1"}, {"path": "crlf", "old": "x\ny", "new": "z"}, {"path": "./a", "old": "two", "new": "2"}}},
			map[string]string{"a": "1\n2\n", "crlf": "z\r\n"}, "edited a, crlf, 3 replacements"},
		{"the last fails", in{"path": "a", "edits": []in{{"old": "one", "new": "1"}, {"path": "crlf", "old": "absent", "new": ""}}}, nil, "edits[1].old does not occur in crlf; nothing was changed"},
		{"no path", in{"edits": []in{{"old": "one", "new": "1"}}}, nil, "path is required, as edits[0] has none of its own"},
		{"both", in{"patch": "x", "path": "a"}, nil, "patch names its files itself"},
		{"patch", patch("*** Update File: a", "@@", " one", "-two", "+2", "", "*** Add File: new/c", "+c", "", "*** Delete File: crlf"),
			map[string]string{"a": "one\n2\n", "new/c": "c\n", "crlf": ""}, "edited a, 1 hunk\ncreated new/c\nremoved crlf"},
		{"the second of equal places", patch("*** Update File: b.go", "@@ func g() {", "-\treturn", "+\treturn 1"),
			map[string]string{"b.go": "func f() {\n\treturn\n}\n\nfunc g() {\n\treturn 1\n}\n"}, "edited b.go, 1 hunk"},
		{"hunks, numbers and white space at the end", patch("*** Update File: b.go", "@@ -1,2 +1,2 @@", "-func f() {  ", "+func F() {", " \treturn", "@@", "-}", "+} // g", "*** End of File"),
			map[string]string{"b.go": "func F() {\n\treturn\n}\n\nfunc g() {\n\treturn\n} // g\n"}, "edited b.go, 2 hunks"},
		{"moved", patch("*** Update File: a", "*** Move to: d", "@@", "-one", "+1"), map[string]string{"a": "", "d": "1\ntwo\n"}, "edited a, 1 hunk, moved to d"},
		{"line ends kept", patch("*** Update File: crlf", "@@", " x", "+between"), map[string]string{"crlf": "x\r\nbetween\r\ny\r\n"}, "edited crlf, 1 hunk"},
		{"no such place", patch("*** Update File: a", "@@", "-one", "+1", "*** Update File: b.go", "@@", "-func f(){", "+x"), nil,
			`patch hunk 1 of b.go does not occur; line 1 differs in white space only: it is "func f() {"; nothing was changed`},
		{"spaces for tabs", patch("*** Update File: b.go", "@@", "-    return", "+x"), nil, "line 2 differs in its indentation only: the file has 1 tab, old has 4 spaces"},
		{"exists", patch("*** Add File: a", "+x"), nil, `path "a" exists already; update it`},
		{"no header", patch("--- a/a", "+++ b/a"), nil, `patch has "--- a/a" where *** Add File: PATH`},
		{"outside", patch("*** Update File: a", "@@", "-one", "+1", "*** Add File: ../other/x", "+x"), nil, "lies outside of the task's folder"},
		{"not ended", in{"patch": "*** Begin Patch\n*** Update File: a"}, nil, "must end with the line *** End Patch"},
	} {
		p := newPlace(t, files)
		got := p.call(t, "edit_file", c.in)
		if got.OK != (c.want != nil) || got.OK && got.Text != c.text || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: %+v", c.name, got)
		}
		now := map[string]string{}
		for name, content := range files {
			now[name] = content
		}
		for name, content := range c.want {
			now[name] = content
		}
		for name, content := range now {
			b, err := os.ReadFile(filepath.Join(p.dir, "workspace/app", name))
			if string(b) != content || (err != nil) != (content == "") {
				t.Errorf("%s: %s is %q, %v", c.name, name, b, err)
			}
		}
	}
}

// TestAFileThatCannotBeWrittenTakesTheOthersBack: a later file of one call is a link that leads outside.
func TestAFileThatCannotBeWrittenTakesTheOthersBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "one\n", "../other/b": "two\n"})
	if err := os.Symlink("../other/b", filepath.Join(p.dir, "workspace/app/b")); err != nil {
		t.Fatal(err)
	}
	got := p.call(t, "edit_file", in{"edits": []in{{"path": "a", "old": "one", "new": "1"}, {"path": "b", "old": "two", "new": "2"}}})
	if got.OK || got.Code != choir.CodeForbidden || p.read(t, "a") != "one\n" || p.read(t, "../other/b") != "two\n" {
		t.Errorf("%+v, %q, %q", got, p.read(t, "a"), p.read(t, "../other/b"))
	}
}

// TestTwoNamesOfAFileAreOneFile: an edit through a link and one of what it leads to are both made.
func TestTwoNamesOfAFileAreOneFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"a": "one\ntwo\n"})
	if err := os.Symlink("a", filepath.Join(p.dir, "workspace/app/link")); err != nil {
		t.Fatal(err)
	}
	got := p.call(t, "edit_file", in{"edits": []in{{"path": "a", "old": "one", "new": "1"}, {"path": "link", "old": "two", "new": "2"}}})
	if !got.OK || p.read(t, "link") != "1\n2\n" {
		t.Errorf("%+v, %q", got, p.read(t, "a"))
	}
}
