package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// language says how tests are written in files with some extension.
type language struct {
	test   *regexp.Regexp // matches the head of a test; the last non-empty group is its name
	checks *regexp.Regexp // matches what can fail in a body
	skips  *regexp.Regexp // matches what skips it
}

var (
	goTests = &language{
		test:   regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\([^)]*\)\s*\{`),
		checks: regexp.MustCompile(`\b[tf]\.(?:Error|Fatal|Fail|Run|Fuzz)|\b[tf][,)]|panic\(|// (?:Unordered o|O)utput:`),
		skips:  regexp.MustCompile(`\bt\.Skip|testing\.Short\(\)`),
	}
	pythonTests = &language{
		test:   regexp.MustCompile(`(?m)^(?:[ \t]*@.*\n)*[ \t]*(?:async )?def (test\w*)\([^)]*\)\s*(?:->[^:\n]*)?:`),
		checks: regexp.MustCompile(`\bassert|\bself\.|\braise|\bfail\(|\bexpect|\bcheck|\bverify`),
		skips:  regexp.MustCompile(`mark\.(?:skip|xfail)|pytest\.(?:skip|xfail|importorskip)|unittest\.(?:skip|expectedFailure)|skipTest`),
	}
	nodeTests = &language{
		test:   regexp.MustCompile("(?m)^[ \t]*(?:x?(?:test|it|describe|suite))(?:\\.\\w+)*\\(\\s*(?:\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`)"),
		checks: regexp.MustCompile(`assert|expect|should|\bthrow\b|\bt\.|\bok\(|\bis\(|equal`),
		skips:  regexp.MustCompile(`\.(?:skip|todo)\b|skip:\s*(?:true|["'])|\bx(?:it|test|describe)\(|\.skip\(`),
	}
	rustTests = &language{
		test:   regexp.MustCompile(`(?m)^[ \t]*#\[(?:\w+::)?test.*\]\s*(?:#\[.*\]\s*)*(?:pub )?(?:async )?fn (\w+)`),
		checks: regexp.MustCompile(`assert|panic!|unwrap|expect|\?;|should_panic`),
		skips:  regexp.MustCompile(`#\[ignore`),
	}
)

func languageOf(file string) *language {
	switch ext := path.Ext(file); {
	case strings.HasSuffix(file, "_test.go"):
		return goTests
	case ext == ".py":
		return pythonTests
	case ext == ".rs":
		return rustTests
	case slices.Contains([]string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts"}, ext):
		return nodeTests
	}
	return nil
}

// written are tests as they stand in files, by name. Tests of one name are one.
type written map[string]string

// read adds the tests in the content of a file.
func (w written) read(file string, content []byte) {
	l := languageOf(file)
	if l == nil {
		return
	}
	text := string(content)
	heads := l.test.FindAllStringSubmatchIndex(text, -1)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		name := ""
		for g := 2; g+1 < len(h); g += 2 {
			if h[g] >= 0 {
				name = text[h[g]:h[g+1]]
			}
		}
		w[name] += text[h[0]:h[1]] + "\x00" + text[h[1]:end]
	}
}

// weakened returns how a test that stood in file lost its force: it checks nothing any
// more, or it is skipped; "" if it did not.
func (l *language) weakened(before, after string) string {
	was, is := l.force(before), l.force(after)
	switch {
	case was.skipped != is.skipped && is.skipped:
		return "skipped"
	case was.checks && !is.checks:
		return "emptied"
	}
	return ""
}

type force struct{ checks, skipped bool }

// force returns whether a test checks anything, and whether it is skipped.
func (l *language) force(test string) force {
	_, body, _ := strings.Cut(test, "\x00")
	first := strings.TrimLeft(body, " \t\r\n{")
	returns := l != nodeTests && regexpReturn.MatchString(first)
	return force{checks: l.checks.MatchString(body) && !returns, skipped: l.skips.MatchString(test)}
}

// regexpReturn matches a body that returns before it does anything.
var regexpReturn = regexp.MustCompile(`^return\b`)
