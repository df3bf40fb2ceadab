// Package excerpt shows a part of a text with the numbers of its lines, as an agent reads
// files and logs.
package excerpt

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes of an excerpt: the lines that are shown when no number is given, and the
// characters of one line.
const (
	DefaultLines = 200
	MaxLine      = 400
)

// Lines returns up to count lines of a text from line number from, each with its number,
// in at most limit bytes; zero means the first line, and DefaultLines. The last line says
// which part it is, unless it is all. total is the number of lines of the text; if from
// lies beyond it, the excerpt is empty.
func Lines(text string, from, count, limit int) (shown string, total int) {
	all := slices.Collect(strings.Lines(text))
	first := max(from, 1)
	if count <= 0 {
		count = DefaultLines
	}
	const footer = 100
	var b strings.Builder
	last := first - 1
	for last < len(all) && last < first-1+count {
		line := fmt.Sprintf("%d\t%s\n", last+1, Line(all[last]))
		if b.Len()+len(line) > limit-footer {
			break
		}
		b.WriteString(line)
		last++
	}
	if first <= len(all) && (first > 1 || last < len(all)) {
		fmt.Fprintf(&b, "lines %d to %d of %d\n", first, last, len(all))
	}
	return b.String(), len(all)
}

// Line returns a line without its end, of at most MaxLine characters, with a replacement
// character for each control character but the tab.
func Line(line string) string {
	out := []rune(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.TrimRight(line, "\r\n")))
	if len(out) > MaxLine {
		return string(out[:MaxLine]) + " […]"
	}
	return string(out)
}
