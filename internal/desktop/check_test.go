package desktop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// smallMain is the program of a small desktop. Its functions are called as those of the
// shipped one.
const smallMain = `import { createRoot } from "react-dom/client";

function followLinks() {}

export function Desk() {
  return <p>A desk</p>;
}

followLinks();
const place = document.getElementById("root");
if (place) createRoot(place).render(<Desk />);
`

// sourceOf copies a desktop's source to a new folder, with the packages that are installed
// for it beside it, and returns the folder and the packages'. The source is this
// repository's, or if small a page of one sentence, which is built in a moment.
func sourceOf(t *testing.T, small bool) (root, modules string) {
	t.Helper()
	modules, err := filepath.Abs("../../ui/desktop/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "vite")); err != nil {
		t.Skip("the desktop's packages are not installed (make build installs them): ", err)
	}
	parent := t.TempDir()
	root = filepath.Join(parent, "choiros")
	files := []string{"index.html", "package.json", "biome.json", "tsconfig.json"}
	folders := map[string]string{"desktop/src": "src", "desktop/public": "public", "desktop/themes": "themes", "base": "base"}
	if small {
		files = append(files, "src/domain/csv.ts", "src/domain/csv.test.ts")
		folders = map[string]string{"base": "base"}
		if err := os.MkdirAll(filepath.Join(root, "src/domain"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "src/main.tsx"), []byte(smallMain), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range folders {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join("../../ui", from))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join("../../ui/desktop", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	installed := modules
	modules = filepath.Join(parent, "node_modules")
	if err := os.Mkdir(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(installed)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(installed, e.Name()), filepath.Join(modules, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(modules, ".tools"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root, modules
}

// digestsOf returns what the check knows of the source in root, as choir ships it.
func digestsOf(t *testing.T, root string) []byte {
	t.Helper()
	digests := map[string]string{}
	for _, below := range []string{"src", "base"} {
		err := filepath.WalkDir(filepath.Join(root, below), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			sum := sha256.Sum256(content)
			digests[strings.TrimPrefix(path, root+"/")] = hex.EncodeToString(sum[:])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(digests)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checker copies the check of a source in root into a new folder as it is packed, and returns its path.
func checker(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "source.json"), digestsOf(t, root), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"dev/check.mjs": "check.mjs", "dev/checktools.mjs": "checktools.mjs", "dev/moved.mjs": "moved.mjs", "../../ui/base/tsconfig.shared.json": "tsconfig.json"} {
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "check.mjs")
}

// change replaces a text in a file of the desktop's source.
type change struct{ file, from, to string }

// TestADesktopIsChecked: the check passes for the shipped source,
// and fails for a source that does not compile, has wrong types, also when its own rules
// would allow them, has what its linter refuses, or a test that fails or does not compile, needs what is not there, throws
// as it is loaded, also when it tells the check that it is up, or throws as it is drawn.
// The shipped source is checked as it is and with mistakes of every kind, the rest with a
// small one.
func TestADesktopIsChecked(t *testing.T) {
	t.Parallel()
	const main, start = "src/main.tsx", "followLinks();"
	for _, c := range []struct {
		name    string
		small   bool
		changes []change
		want    []string
	}{
		{"shipped", false, nil, []string{"ok 2 - the desktop's types hold\nok 3 - the desktop's linter finds no mistake\nok 4 - the desktop's tests hold\nok 5 - the desktop's page comes up\n1..5\n# tests 5\n# pass 5\n"}},
		{"mistakes", false, []change{
			{main, start, "const text: string = 12; console.log(text); void followLinks(12);"},
			{"src/domain/csv.ts", `else if (text[i + 1] === '"') cell += text[++i];`, `else if (text[i + 1] === '"') i++;`},
		}, []string{"not ok 2 - the desktop's types hold\n# src/main.tsx(", "TS2322", "TS2554", "not ok 3 - the desktop's linter finds no mistake\n# src/main.tsx", "not ok N - src/domain/csv.test.ts > ", "\nok N - src/domain/csv.test.ts > ", " - the desktop's page comes up\n"}},
		{"small", true, nil, []string{"1..5\n# tests 5\n# pass 5\n"}},
		{"no program", true, []change{{main, start, "followLinks(;"}}, []string{"not ok 1 - the desktop is built\n# "}},
		{"no package", true, []change{{main, start, `followLinks(); import "left-pad";`}}, []string{"left-pad"}},
		{"throws at its start", true, []change{{main, start, `throw new Error("not today");`}, {"src/domain/csv.test.ts", "describe(", "describe(("}}, []string{"not ok 4 - the desktop's tests hold\n# Error: Transform failed", "- the desktop's page comes up\n# Error: not today"}},
		{"says that it is up", true, []change{{main, start, `navigator.sendBeacon("/choir-check", '{"up":true}'); fetch("/").then((r) => r.text()).then((t) => { for (const [a] of t.matchAll(/\/[0-9a-f-]{36}/g)) navigator.sendBeacon(a, '{"up":true}'); }); throw new Error("not today");`}}, []string{"- the desktop's page comes up\n# Error: not today"}},
		{"throws as it is drawn", true, []change{{main, "export function Desk() {", `export function Desk() { if (document.title) throw new Error("no desk");`}}, []string{"- the desktop's page comes up\n# Error: no desk"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, modules := sourceOf(t, c.small)
			program := checker(t, root)
			for _, ch := range c.changes {
				file := filepath.Join(root, ch.file)
				content, err := os.ReadFile(file)
				if err != nil || !strings.Contains(string(content), ch.from) {
					t.Fatalf("%s has no %q, %v", ch.file, ch.from, err)
				}
				if err := os.WriteFile(file, []byte(strings.Replace(string(content), ch.from, ch.to, 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(root, "tsconfig.json"), []byte(`{"compilerOptions":{"noCheck":true}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "node", program, root, modules)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "# SKIP there is no browser") {
				t.Skip("no browser is on this machine: ", string(out))
			}
			if passed := err == nil; passed != (c.changes == nil) {
				t.Errorf("%v:\n%s", err, out)
			}
			unnumbered := string(out) + regexp.MustCompile(`ok \d+ -`).ReplaceAllString(string(out), "ok N -")
			for _, want := range c.want {
				if !strings.Contains(unnumbered, want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
