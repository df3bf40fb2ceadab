package tools

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"choiros/internal/choir"
)

// Glob compiles a glob into a regular expression: * and ? stay within a folder, ** crosses
// folders, [a-z] is a class, {a,b} a choice. A pattern without a slash matches a name at
// any depth. Code invalid: it is no glob.
func Glob(pattern string) (*regexp.Regexp, error) { return glob(pattern) }

func glob(pattern string) (*regexp.Regexp, error) {
	p := strings.TrimPrefix(path.Clean("/"+pattern), "/")
	if !strings.Contains(strings.Trim(pattern, "/"), "/") {
		p = "**/" + p
	}
	var b strings.Builder
	b.WriteString("^")
	for depth := 0; p != ""; {
		switch c := p[0]; {
		case strings.HasPrefix(p, "**/"):
			b.WriteString("(?:.*/)?")
			p = p[2:]
		case strings.HasPrefix(p, "**"):
			b.WriteString(".*")
			p = p[1:]
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '{':
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case c == ',' && depth > 0:
			b.WriteString("|")
		case c == '[' && strings.Contains(p, "]"):
			end := strings.IndexByte(p, ']')
			b.WriteString("[" + strings.Replace(p[1:end], "!", "^", 1) + "]")
			p = p[end:]
		default:
			_, n := utf8.DecodeRuneInString(p)
			b.WriteString(regexp.QuoteMeta(p[:n]))
			p = p[n-1:]
		}
		p = p[1:]
	}
	re, err := regexp.Compile("(?s)" + b.String() + "$")
	if err != nil {
		return nil, choir.Invalid("pattern", "%q is not a glob: %v", pattern, err)
	}
	return re, nil
}
