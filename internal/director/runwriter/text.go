package runwriter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// oneLine replaces each run of white space by one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipLine returns the first non-empty line, at most limit bytes.
func clipLine(s string, limit int) string {
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" {
			return clipBytes(line, limit)
		}
	}
	return ""
}

// clipBytes returns at most limit bytes of s, whole characters, with an ellipsis if it
// was longer.
func clipBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const dots = "…"
	end := limit - len(dots)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimSpace(s[:end]) + dots
}

// clipText returns the first limit bytes, whole characters, and appends the number of
// bytes left out.
func clipText(s string, limit int) string {
	if len(s) <= limit {
		return strings.TrimSpace(s)
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimSpace(s[:end]) + " … (" + strconv.Itoa(len(s)-end) + " bytes more in the log)"
}

// clipTail returns the last limit bytes, whole characters, and prepends the number of
// bytes left out.
func clipTail(s string, limit int) string {
	if len(s) <= limit {
		return strings.TrimRight(s, "\n")
	}
	start := len(s) - limit
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return "(" + strconv.Itoa(start) + " bytes before this)\n" + strings.TrimRight(s[start:], "\n")
}

// escaper escapes text of a model or a tool, so that it is neither Markdown structure
// nor HTML.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`)

func escape(s string) string { return escaper.Replace(s) }

// quote returns text as a Markdown block quote, escaped.
func quote(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+escape(strings.TrimRight(line, "\r")), " ")
	}
	return strings.Join(lines, "\n")
}

// code returns any text as a Markdown code span on one line.
func code(s string) string {
	s = oneLine(s)
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 {
		return ticks + " " + s + " " + ticks
	}
	return ticks + s + ticks
}

// codes returns a list as code spans, at most maxFiles of them.
func codes(list []string) string {
	out := make([]string, 0, len(list))
	for i, s := range list {
		if i == maxFiles {
			out = append(out, strconv.Itoa(len(list)-i)+" more")
			break
		}
		out = append(out, code(clipBytes(oneLine(s), 200)))
	}
	return strings.Join(out, ", ")
}

// fence returns any text as a Markdown code block.
func fence(s string) string {
	ticks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return ticks + "\n" + s + "\n" + ticks
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
