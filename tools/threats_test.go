package tools

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// How docs/THREATS.md writes what shows a claim. Its head says it for people.
var (
	quoted      = regexp.MustCompile("`([^`]+)`")
	goTest      = regexp.MustCompile(`^([\w/-]+)\.((?:Test|Fuzz)[A-Z]\w*)$`)
	suitePart   = regexp.MustCompile(`^sandboxtest "(.+)"$`)
	attackName  = regexp.MustCompile(`^attack (\w+)$`)
	scriptTest  = regexp.MustCompile(`^([\w/.-]+\.test\.[jt]sx?)(?: "(.+)")?$`)
	likeATest   = regexp.MustCompile(`\bTest[A-Z]|_test\.go|\.test\.[jt]s|^attack |^sandboxtest`)
	notShown    = regexp.MustCompile(`\*(?i:assumed|limit|choice)\*`)
	goTestNamed = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	partNamed   = regexp.MustCompile(`\.Run\("([^"]+)"`)
)

// proofs is what a tree has that a claim can name.
type proofs struct {
	goTests map[string][]string // by folder
	parts   []string            // of the sandbox suite
	attacks []string
	scripts map[string]string // content by path
}

// findProofs reads the tests of a repository.
func findProofs(tree fs.FS) (*proofs, error) {
	p := &proofs{goTests: map[string][]string{}, scripts: map[string]string{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "testdata", "dist", ".git", ".cache"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		suite := path.Dir(name) == "internal/sandbox/sandboxtest" && strings.HasSuffix(name, ".go")
		if !suite && !strings.HasSuffix(name, "_test.go") && !strings.Contains(path.Base(name), ".test.") && path.Base(name) != "attack.py" {
			return nil
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		p.add(name, string(raw), suite)
		return nil
	})
	return p, err
}

func (p *proofs) add(name, text string, suite bool) {
	dir := path.Dir(name)
	switch {
	case path.Base(name) == "attack.py":
		p.attacks = append(p.attacks, path.Base(dir))
	case suite:
		for _, m := range partNamed.FindAllStringSubmatch(text, -1) {
			p.parts = append(p.parts, m[1])
		}
	case strings.HasSuffix(name, "_test.go"):
		for _, m := range goTestNamed.FindAllStringSubmatch(text, -1) {
			p.goTests[dir] = append(p.goTests[dir], m[1])
		}
	default:
		p.scripts[name] = text
	}
}

// resolve says what is wrong with a quoted text that names a test. is is false for
// text that names none.
func (p *proofs) resolve(text string) (is bool, wrong string) {
	if m := goTest.FindStringSubmatch(text); m != nil {
		for dir, tests := range p.goTests {
			if (dir == m[1] || strings.HasSuffix(dir, "/"+m[1])) && slices.Contains(tests, m[2]) {
				return true, ""
			}
		}
		return true, "no package " + m[1] + " has " + m[2]
	}
	if m := suitePart.FindStringSubmatch(text); m != nil {
		if !slices.Contains(p.parts, m[1]) {
			return true, fmt.Sprintf("internal/sandbox/sandboxtest has no part %q", m[1])
		}
		return true, ""
	}
	if m := attackName.FindStringSubmatch(text); m != nil {
		if !slices.Contains(p.attacks, m[1]) {
			return true, "there is no test/attacks/" + m[1]
		}
		return true, ""
	}
	if m := scriptTest.FindStringSubmatch(text); m != nil {
		for name, content := range p.scripts {
			if strings.HasSuffix("/"+name, "/"+m[1]) && strings.Contains(content, m[2]) {
				return true, ""
			}
		}
		return true, fmt.Sprintf("no file %s of the user interface has a test %q", m[1], m[2])
	}
	if likeATest.MatchString(text) {
		return true, "it is not written as the head of docs/THREATS.md says"
	}
	return false, ""
}

// claims are the rows and items of a text, each on one line. Of a row, what shows
// it is its last cell.
func claims(text string) (all []string) {
	item := false
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| asset |"):
			all, item = append(all, line), strings.HasPrefix(line, "- ")
		case item && strings.HasPrefix(line, "  "):
			all[len(all)-1] += " " + strings.TrimSpace(line)
		default:
			item = false
		}
	}
	return all
}

// unshown lists what a text claims without a test that is there.
func (p *proofs) unshown(text string) (wrong []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		if _, why := p.resolve(m[1]); why != "" {
			wrong = append(wrong, m[1]+": "+why)
		}
	}
	for _, claim := range claims(text) {
		where, marked := claim, notShown.MatchString(claim)
		if strings.HasPrefix(claim, "|") {
			cells := strings.Split(strings.Trim(claim, "|"), " | ")
			where, marked = cells[len(cells)-1], len(cells) != 4
			if marked {
				wrong = append(wrong, "not four cells: "+claim)
			}
		}
		shown := slices.ContainsFunc(quoted.FindAllStringSubmatch(where, -1), func(m []string) bool {
			is, _ := p.resolve(m[1])
			return is
		})
		if !shown && !marked {
			wrong = append(wrong, "nothing shows: "+claim[:min(len(claim), 120)])
		}
	}
	return wrong
}

// TestEveryClaimOfTheThreatsIsShown reads docs/THREATS.md and looks for each test
// that it names.
func TestEveryClaimOfTheThreatsIsShown(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	p, err := findProofs(root)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(root, "docs/THREATS.md")
	if err != nil {
		t.Fatal(err)
	}
	// What stands before the claims says how they are written.
	_, text, _ := strings.Cut(string(raw), "\n## ")
	for _, wrong := range p.unshown(text) {
		t.Error(wrong)
	}
	if n := len(claims(text)); n < 60 {
		t.Errorf("only %d claims were read", n)
	}
}

// TestAClaimWithoutATestIsFound plants what the check is for.
func TestAClaimWithoutATestIsFound(t *testing.T) {
	t.Parallel()
	p := &proofs{
		goTests: map[string][]string{"internal/blob/fs": {"TestHere"}}, parts: []string{"network"}, attacks: []string{"web"},
		scripts: map[string]string{"ui/e2e/tests/a.test.js": `test("it holds", () => {})`},
	}
	for text, want := range map[string]int{
		"- x (`blob/fs.TestHere`)\n- *Limit*: y\n- z is\n  *assumed*\n":                                      0,
		"| a | b | c | `fs.TestHere`, `attack web`, `sandboxtest \"network\"`, `a.test.js \"it holds\"` |\n": 0,
		"| a | b | `fs.TestHere` | |\n":         1,
		"| a | b `fs.TestHere` |\n":             1,
		"- x\n  y\n\n  *Limit*\n":               1,
		"- x (`fs.TestGone`)\n":                 1,
		"- x (`s.TestHere`)\n":                  1,
		"- x (`TestHere`)\n":                    1,
		"- x (`fs/store_test.go`)\n":            1,
		"- x (`attack sea`)\n":                  1,
		"- x (`sandboxtest \"seas\"`)\n":        1,
		"- x (`a.test.js \"it breaks\"`)\n":     1,
		"- x (`b.test.js \"it holds\"`)\n":      1,
		"- *Limit*: x (`tests/fs.TestHere`)\n":  1,
		"text with `fs.TestGone` in a sentence": 1,
	} {
		if got := p.unshown(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
