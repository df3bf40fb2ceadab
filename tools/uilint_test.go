package tools

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// biome is the linter of the pages, as make installs it.
const biome = "../ui/desktop/node_modules/.bin/biome"

// The folders of each page, the lowest first: one imports those before it.
var (
	desktopFolders = []string{"domain", "transport", "state", "i18n", "kit", "session", "actions", "apps/writer", "shell"}
	shellFolders   = []string{"words", "domain", "transport", "state", "kit", "session", "actions", "apps/run", "app"}
)

// Rules of the linter, by which its findings are told apart.
const (
	restricted = "lint/style/noRestrictedImports"
	circle     = "lint/suspicious/noImportCycles"
	floating   = "lint/nursery/noFloatingPromises"
	noVoid     = "lint/complexity/noVoid"
)

// lint writes files below a copy of the page's configuration, and returns the rules
// that each of them breaks.
func lint(t *testing.T, page string, files map[string]string) map[string][]string {
	t.Helper()
	ui := t.TempDir()
	for _, name := range []string{"base/biome.json", page + "/biome.json", page + "/package.json"} {
		if raw, err := os.ReadFile(filepath.Join("../ui", name)); err == nil {
			plant(t, filepath.Join(ui, name), string(raw))
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if page != "base" {
		if err := os.Symlink("../base", filepath.Join(ui, page, "base")); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		plant(t, filepath.Join(ui, page, name), content)
	}
	bin, err := filepath.Abs(biome)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "lint", "--reporter=github", "--max-diagnostics=none", ".")
	cmd.Dir = filepath.Join(ui, page)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v; make build installs it", biome, err)
	}
	broken := map[string][]string{}
	for _, found := range regexp.MustCompile(`(?m)^::\w+ title=([^,]+),file=([^,]+),`).FindAllStringSubmatch(string(out), -1) {
		name := strings.TrimPrefix(found[2], cmd.Dir+"/")
		broken[name] = append(broken[name], found[1])
	}
	return broken
}

func plant(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// importing is a module that imports another, as a value or as a type.
func importing(kind, module string) string {
	switch kind {
	case "type":
		return fmt.Sprintf("import type { Other } from %q;\n\nexport type Mine = Other;\n", module)
	case "later":
		return fmt.Sprintf("export const load = () => import(%q);\n", module)
	}
	return fmt.Sprintf("import { other } from %q;\n\nexport const mine = other;\n", module)
}

// arrows plants in each folder of a page an import of each other folder, and
// returns the files and which of them go upwards.
func arrows(folders []string) (files map[string]string, upwards []string) {
	files = map[string]string{}
	for i, from := range folders {
		for j, to := range folders {
			if i == j {
				continue
			}
			for _, kind := range []string{"value", "type", "later"} {
				name := fmt.Sprintf("src/%s/%s_%s.ts", from, strings.ReplaceAll(to, "/", "_"), kind)
				files[name] = importing(kind, strings.Repeat("../", strings.Count(from, "/")+1)+to+"/other")
				if j > i && !slices.Contains(upwards, name) {
					upwards = append(upwards, name)
				}
			}
		}
	}
	return files, upwards
}

// refused are the files that break a rule, sorted.
func refused(broken map[string][]string, rule string) []string {
	var out []string
	for file, rules := range broken {
		if slices.Contains(rules, rule) {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	for _, file := range want {
		if !slices.Contains(got, file) {
			t.Errorf("%s: %s is not refused", what, file)
		}
	}
	for _, file := range got {
		if !slices.Contains(want, file) {
			t.Errorf("%s: %s is refused", what, file)
		}
	}
}

// TestPagesImportDownwards plants every import between two folders of a page: the
// linter refuses those that go upwards, and no other.
func TestPagesImportDownwards(t *testing.T) {
	t.Parallel()
	for page, folders := range map[string][]string{"desktop": desktopFolders, "shell": shellFolders} {
		files, upwards := arrows(folders)
		if page == "desktop" { // The windows know the registry of apps, not their insides.
			upwards = append(upwards, "src/shell/apps_writer_value.ts", "src/shell/apps_writer_type.ts", "src/shell/apps_writer_later.ts")
		}
		same(t, page, refused(lint(t, page, files), restricted), upwards)
	}
}

// TestPagesKeepTheirSpecialFolders plants imports that the order of folders does
// not tell: between apps, from the registry, of the page of an earlier moment, of
// the desktop's frame, and of base.
func TestPagesKeepTheirSpecialFolders(t *testing.T) {
	t.Parallel()
	allowed, wrong := true, false
	for page, rows := range map[string]map[[2]string]bool{
		"desktop": {
			{"src/apps/code/App.tsx", "../writer/App"}:            wrong,
			{"src/apps/code/App.tsx", "../registry"}:              wrong,
			{"src/apps/code/manifest.ts", "../manifest"}:          allowed,
			{"src/apps/registry.ts", "./code/manifest"}:           allowed,
			{"src/apps/registry.ts", "./code/App"}:                wrong,
			{"src/apps/bodies.tsx", "../session/apps"}:            allowed,
			{"src/apps/bodies.tsx", "../actions/registry"}:        wrong,
			{"src/shell/Dock.tsx", "../apps/registry"}:            allowed,
			{"src/shell/Dock.tsx", "../apps/code/App"}:            wrong,
			{"src/shell/cards/Cards.tsx", "../useDrag"}:           allowed,
			{"src/shell/cards/Cards.tsx", "../../app/App"}:        wrong,
			{"src/past/Past.tsx", "../shell/Bar"}:                 allowed,
			{"src/past/Past.tsx", "../app/App"}:                   wrong,
			{"src/app/App.tsx", "../shell/Desk"}:                  allowed,
			{"src/app/App.tsx", "../past/Past"}:                   wrong,
			{"src/kit/pdf/PDF.tsx", "../States"}:                  allowed,
			{"src/kit/pdf/PDF.tsx", "../../session/session"}:      wrong,
			{"src/elsewhere/a.ts", "../domain/path"}:              wrong,
			{"src/domain/path.ts", "#base/domain/text.ts"}:        allowed,
			{"src/domain/path.ts", "#base/transport/http.ts"}:     wrong,
			{"src/transport/files.ts", "#base/transport/http.ts"}: allowed,
			{"src/state/store.ts", "#base/kit/notify.ts"}:         wrong,
		},
		"shell": {
			{"src/apps/run/RunView.tsx", "../timeline/Undo"}:        wrong,
			{"src/apps/run/RunView.tsx", "../../frame/link"}:        allowed,
			{"src/frame/early.ts", "../transport/opening"}:          allowed,
			{"src/frame/early.ts", "../state/store"}:                wrong,
			{"src/frame/early.ts", "#base/kit/notify.ts"}:           wrong,
			{"src/session/session.ts", "../frame/link"}:             wrong,
			{"src/app/Boundary.tsx", "../frame/early"}:              allowed,
			{"src/kit/shown/props.ts", "../../domain/visible"}:      allowed,
			{"src/kit/shown/props.ts", "../../apps/login/Login"}:    wrong,
			{"src/domain/route.ts", "#base/kit/notify.ts"}:          wrong,
			{"src/transport/marks.ts", "#base/domain/contracts.ts"}: allowed,
		},
		"base": {
			{"kit/Markdown.tsx", "../domain/text"}:     allowed,
			{"kit/Markdown.tsx", "../transport/http"}:  wrong,
			{"transport/http.ts", "../domain/problem"}: allowed,
			{"transport/http.ts", "../kit/notify"}:     wrong,
			{"domain/text.ts", "../kit/notify"}:        wrong,
			{"domain/text.ts", "./span"}:               allowed,
		},
	} {
		files, want := map[string]string{}, []string{}
		for i, row := range slices.SortedFunc(maps.Keys(rows), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
			end := filepath.Ext(row[0])
			for _, kind := range []string{"value", "type", "later"} {
				// Two rows may be of one file, so each import has a file of its own beside it.
				name := fmt.Sprintf("%s_%d_%s%s", strings.TrimSuffix(row[0], end), i, kind, end)
				files[name] = importing(kind, row[1])
				if rows[row] == wrong {
					want = append(want, name)
				}
			}
		}
		same(t, page, refused(lint(t, page, files), restricted), want)
	}
}

// TestImportsGoInNoCircle plants circles of two and three files, one of them of
// types alone.
func TestImportsGoInNoCircle(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"base", "desktop", "shell", "e2e"} {
		broken := lint(t, page, map[string]string{
			"a/value.ts": importing("value", "./other"), "a/other.ts": importing("value", "./value"),
			"b/type.ts": importing("type", "./other"), "b/other.ts": importing("type", "./type"),
			"c/first.ts": importing("later", "./second"), "c/second.ts": importing("value", "./third"), "c/third.ts": importing("type", "./first"),
			"d/none.ts": importing("value", "./leaf"), "d/leaf.ts": "export const other = 1;\n",
		})
		same(t, page, refused(broken, circle), []string{
			"a/value.ts", "a/other.ts", "b/type.ts", "b/other.ts", "c/first.ts", "c/second.ts", "c/third.ts",
		})
	}
}

// TestPromisesAreHandled plants calls whose promise nobody looks at, of a function
// in the same file and of one in another.
func TestPromisesAreHandled(t *testing.T) {
	t.Parallel()
	for page, end := range map[string]string{"base": ".ts", "desktop": ".tsx", "shell": ".tsx", "e2e": ".js"} {
		save := "export async function save() {}\n"
		broken := lint(t, page, map[string]string{
			"a/save" + end:    save,
			"a/here" + end:    save + "\nexport function press() {\n  save();\n}\n",
			"a/there" + end:   "import { save } from \"./save\";\n\nexport function press() {\n  save();\n}\n",
			"a/ignored" + end: "import { save } from \"./save\";\n\nexport function press() {\n  void save();\n}\n",
			"a/awaited" + end: "import { save } from \"./save\";\n\nexport async function press() {\n  await save();\n}\n",
			"a/told" + end:    "import { save } from \"./save\";\n\nexport function press(tell) {\n  save().catch(tell);\n}\n",
		})
		same(t, page, refused(broken, floating), []string{"a/here" + end, "a/there" + end})
		same(t, page, refused(broken, noVoid), []string{"a/ignored" + end})
	}
}
