package tools

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of an outline.
const (
	maxOutlined   = 256 << 10 // bytes of a file
	maxSymbols    = 40        // of a file
	maxSymbolLine = 120       // characters of a symbol
)

// symbolsOf are the lines by which each language declares what is at the top level, as far as
// a line shows it; the first group is the symbol.
var symbolsOf = map[string]*regexp.Regexp{
	".go":  regexp.MustCompile(`(?m)^((?:func|type|var|const)\s+(?:\([^)]*\)\s*)?[A-Za-z_]\w*)`),
	".py":  regexp.MustCompile(`(?m)^((?:async\s+)?(?:def|class)\s+\w+)`),
	".rs":  regexp.MustCompile(`(?m)^((?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+|async\s+|const\s+)*(?:fn|struct|enum|trait|mod|type|union|macro_rules!)\s+\w+|impl\b[^{\n]*)`),
	".js":  script,
	".rb":  regexp.MustCompile(`(?m)^((?:class|module|def)\s+[\w:.]+[?!]?)`),
	".php": regexp.MustCompile(`(?m)^((?:abstract\s+|final\s+)?(?:function|class|interface|trait)\s+\w+)`),
	".c":   cLike,
	".java": regexp.MustCompile(`(?m)^((?:(?:public|protected|private|abstract|final|sealed|static|data|open|internal|partial)\s+)*` +
		`(?:class|interface|enum|record|object|struct|namespace|fun)\s+[\w.]+)`),
	".sh":    regexp.MustCompile(`(?m)^((?:function\s+)?[\w-]+)\s*\(\)`),
	".swift": regexp.MustCompile(`(?m)^((?:(?:public|open|internal|private|fileprivate|final)\s+)*(?:class|struct|enum|protocol|extension|func|actor)\s+\w+)`),
}

var (
	script = regexp.MustCompile(`(?m)^((?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?` +
		`(?:function\*?\s+\w+|class\s+\w+|interface\s+\w+|type\s+\w+|enum\s+\w+|namespace\s+\w+|(?:const|let|var)\s+\w+))`)
	cLike = regexp.MustCompile(`(?m)^((?:typedef\s+)?(?:struct|union|enum|class|namespace)\s+\w+|#define\s+\w+|(?:[A-Za-z_][\w:<>,*&]*\s+)+\**[\w:~]+\([^;{\n]*)`)
)

// sameAs are the endings of files that are outlined as another.
var sameAs = map[string]string{
	".ts": ".js", ".tsx": ".js", ".jsx": ".js", ".mjs": ".js", ".cjs": ".js", ".mts": ".js", ".h": ".c", ".cc": ".c", ".cpp": ".c", ".hpp": ".c",
	".kt": ".java", ".cs": ".java", ".scala": ".java", ".bash": ".sh", ".pyi": ".py",
}

// outlineOf returns the pattern of the symbols in a file with this name; nil for none.
func outlineOf(name string) *regexp.Regexp {
	ending := strings.ToLower(path.Ext(name))
	if as := sameAs[ending]; as != "" {
		ending = as
	}
	return symbolsOf[ending]
}

// outline returns the top-level symbols that the lines of a source file declare, in their
// order, each with its line, such as "func main:12"; "" for none. It goes by single lines,
// and may miss what a line does not show.
func outline(name string, content []byte) string {
	re := outlineOf(name)
	if re == nil {
		return ""
	}
	var b strings.Builder
	line, at := 1, 0
	for n, m := range re.FindAllSubmatchIndex(content, -1) {
		if n == maxSymbols {
			b.WriteString(", ...")
			break
		}
		for _, c := range content[at:m[2]] {
			if c == '\n' {
				line++
			}
		}
		at = m[2]
		words := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(string(content[m[2]:m[3]]), "\uFFFD")), " "))
		if len(words) > maxSymbolLine {
			words = append(words[:maxSymbolLine-1], '…')
		}
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(words) + ":" + strconv.Itoa(line))
	}
	return b.String()
}
