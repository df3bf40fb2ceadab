package desktop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sourceOf copies the desktop's source of this repository to a new folder, with the
// packages that are installed for it beside it, and returns the folder and the packages'.
func sourceOf(t *testing.T) (root, modules string) {
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
	for from, to := range map[string]string{"desktop/src": "src", "desktop/public": "public", "base": "base"} {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join("../../ui", from))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"index.html", "package.json"} {
		content, err := os.ReadFile(filepath.Join("../../ui/desktop", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(parent, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return root, modules
}

// checker copies the check into a new folder as it is packed, and returns its path.
func checker(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"dev/check.mjs": "check.mjs", "dev/moved.mjs": "moved.mjs", "../../ui/base/tsconfig.shared.json": "tsconfig.json"} {
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

// TestADesktopIsCheckedByItsBuildItsTypesAndItsPage: the check passes for the shipped source,
// and fails for a source that does not compile, has wrong types, also when its own rules
// would allow them, needs what is not there, throws as it is
// loaded, also when it tells the check that it is up, or throws as it is drawn.
func TestADesktopIsCheckedByItsBuildItsTypesAndItsPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, from, to, want string }{
		{"shipped", "src/main.tsx", "", "", "ok 2 - the desktop's types hold\nok 3 - the desktop's page comes up\n# tests 3\n# pass 3\n"},
		{"no program", "src/main.tsx", "followLinks();", "followLinks(;", "not ok 1 - the desktop is built\n# "},
		{"another type", "src/main.tsx", "followLinks();", "followLinks(12);", "not ok 2 - the desktop's types hold\n# src/main.tsx("},
		{"rules of its own", "src/main.tsx", "followLinks();", "const text: string = 12; console.log(text); followLinks();", "TS2322"},
		{"no package", "src/main.tsx", "followLinks();", `followLinks(); import "left-pad";`, "left-pad"},
		{"throws at its start", "src/main.tsx", "followLinks();", `throw new Error("not today");`, "not ok 3 - the desktop's page comes up\n# Error: not today"},
		{"says that it is up", "src/main.tsx", "followLinks();", `navigator.sendBeacon("/choir-check", '{"up":true}'); fetch("/").then((r) => r.text()).then((t) => { for (const [a] of t.matchAll(/\/[0-9a-f-]{36}/g)) navigator.sendBeacon(a, '{"up":true}'); }); throw new Error("not today");`, "not ok 3 - the desktop's page comes up\n# Error: not today"},
		{"throws as it is drawn", "src/shell/Desk.tsx", "export function Desk() {", `export function Desk() { if (document.title) throw new Error("no desk");`, "not ok 3 - the desktop's page comes up\n# Error: no desk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, modules := sourceOf(t)
			file := filepath.Join(root, c.file)
			content, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(content), c.from) {
				t.Fatalf("%s has no %q, %v", c.file, c.from, err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(content), c.from, c.to, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "tsconfig.json"), []byte(`{"compilerOptions":{"noCheck":true}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "node", checker(t), root, modules)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			out, err := cmd.CombinedOutput()
			if passed := err == nil; passed != (c.from == "") || !strings.Contains(string(out), c.want) {
				if strings.Contains(string(out), "# SKIP") {
					t.Skip("no browser is on this machine: ", string(out))
				}
				t.Errorf("%v:\n%s", err, out)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
