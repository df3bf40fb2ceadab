package tools_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSearchShowsContextAndPathsThatToolsTake: also of one file and of a folder beside the
// task's, and a long line with the place that matches.
func TestSearchShowsContextAndPathsThatToolsTake(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 900) + "needle" + strings.Repeat("b", 900)
	p := newPlace(t, map[string]string{
		"src/deep/a.go": "1\n2\n3 hit\n4\n5\n6\n7 hit\n8\n", "src/b.ts": "hit\r\nend\r\n", "long.txt": long, "../beside/c.md": "hit\n",
	})
	for _, c := range []struct {
		name string
		in   in
		want string
	}{
		{"context", in{"pattern": "hit", "path": "src", "context": 1},
			"src/b.ts:1: hit\nsrc/b.ts-2- end\n--\nsrc/deep/a.go-2- 2\nsrc/deep/a.go:3: 3 hit\nsrc/deep/a.go-4- 4\n--\nsrc/deep/a.go-6- 6\nsrc/deep/a.go:7: 7 hit\nsrc/deep/a.go-8- 8\n"},
		{"places that touch", in{"pattern": "hit", "path": "src/deep", "context": 2},
			"src/deep/a.go-1- 1\nsrc/deep/a.go-2- 2\nsrc/deep/a.go:3: 3 hit\nsrc/deep/a.go-4- 4\nsrc/deep/a.go-5- 5\nsrc/deep/a.go-6- 6\nsrc/deep/a.go:7: 7 hit\nsrc/deep/a.go-8- 8\n"},
		{"a file", in{"pattern": "7", "path": "src/deep/a.go"}, "src/deep/a.go:7: 7 hit\n"},
		{"beside", in{"pattern": "hit", "path": "../beside"}, "../beside/c.md:1: hit\n"},
		{"some files", in{"pattern": "hit", "files": "*.ts"}, "src/b.ts:1: hit\n"},
		{"limit", in{"pattern": "hit", "path": "src/deep", "context": 1, "limit": 1},
			"src/deep/a.go-2- 2\nsrc/deep/a.go:3: 3 hit\nsrc/deep/a.go-4- 4\n[only the first 1; narrow the pattern or the path]\n"},
		{"a long line", in{"pattern": "needle"}, "long.txt:1: … (800 bytes before) " + long[800:1200] + " … (606 more bytes)\n"},
	} {
		if got := p.call(t, "search_files", c.in); got.Text != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Text, c.want)
		}
	}
	if got := p.call(t, "read_file", in{"path": "../beside/c.md"}); !got.OK {
		t.Errorf("a path that search shows is not taken: %+v", got)
	}
}

// TestWhatGitIgnoresIsLeftOutAndSaid: also by a nested .gitignore and by one of a cache of its
// own; node_modules hides nothing.
func TestWhatGitIgnoresIsLeftOutAndSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		".gitignore": "dist/\n*.log\n!keep.log\n", "dist/out.js": "hit", "a.log": "hit", "keep.log": "hit",
		"node_modules/x/index.js": "hit", "src/main.js": "hit", "src/.gitignore": "gen.js\n", "src/gen.js": "hit",
		".pytest_cache/.gitignore": "*\n", ".pytest_cache/v": "hit", "build/CACHEDIR.TAG": "Signature", "build/o": "hit",
	})
	const left = "; ignored true has it too]\n"
	for _, c := range []struct {
		tool string
		in   in
		want string
	}{
		{"list_files", in{}, ".gitignore\nkeep.log\nsrc/\nsrc/.gitignore\nsrc/main.js\n[left out, because git ignores it or it is a cache: .pytest_cache/, a.log, build/, dist/, node_modules/, src/gen.js" + left},
		{"list_files", in{"pattern": "*.js", "limit": 2, "ignored": true}, "src/main.js\ndist/out.js\n[only the first 2; narrow the pattern or the path]\n"},
		{"list_files", in{"path": "node_modules"}, "node_modules/x/\nnode_modules/x/index.js\n"},
		{"list_files", in{"path": "dist"}, "dist/out.js\n"},
		{"search_files", in{"pattern": "hit", "path": "src"}, "src/main.js:1: hit\n[left out, because git ignores it or it is a cache: src/gen.js" + left},
		{"search_files", in{"pattern": "hit", "path": "src", "ignored": true}, "src/main.js:1: hit\nsrc/gen.js:1: hit\n"},
	} {
		if got := p.call(t, c.tool, c.in); got.Text != c.want {
			t.Errorf("%s %v: %q, want %q", c.tool, c.in, got.Text, c.want)
		}
	}
}

// TestIgnoreRulesAreGits holds what is listed against what git itself says.
func TestIgnoreRulesAreGits(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".gitignore": "# a comment\n*.o\n!main.o\n/top\nsub/deep/*.txt\n**/any/x\nall/**\nspace \\ \n[a-c]x\n!\\#no\nfold/\nä*\n\\!bang\nq?z\nnot[!a]\n",
		"a.o":        "", "main.o": "", "top": "", "x/top": "", "sub/deep/a.txt": "", "sub/deep/more/a.txt": "", "any/x": "", "p/q/any/x": "",
		"all/of/it": "", "ax": "", "dx": "", "fold/f": "", "x/fold": "", "äh": "", "!bang": "", "qaz": "", "qz": "", "nota": "", "notb": "",
		"sub/.gitignore": "!a.o\nown\n", "sub/a.o": "", "sub/own": "", "own": "", "#no": "",
	}
	p := newPlace(t, files)
	app := filepath.Join(p.dir, "workspace/app")
	for _, args := range [][]string{{"init", "-q"}, {"ls-files", "-o", "--exclude-standard", "-z"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = app, append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if args[0] == "init" {
			continue
		}
		want := map[string]bool{}
		for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			want[name] = true
		}
		got := map[string]bool{}
		for line := range strings.Lines(p.call(t, "list_files", in{}).Text) {
			got[strings.TrimSuffix(line, "\n")] = true
		}
		for name := range files {
			if want[name] != got[name] {
				t.Errorf("%s: git lists it %v, the tool %v", name, want[name], got[name])
			}
		}
	}
}
