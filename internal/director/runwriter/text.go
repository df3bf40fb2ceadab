package runwriter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// oneLine joins all white space into single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipLine is the first line that says something, at most limit bytes.
func clipLine(s string, limit int) string {
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" {
			return cut(line, limit)
		}
	}
	return ""
}

func cut(s string, limit int) string {
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

// clipText keeps the beginning and says how much it left out.
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

// clipTail keeps the end and says how much it left out.
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

// escaper keeps words that came from a model or a tool from becoming Markdown
// structure or HTML.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`)

func escape(s string) string { return escaper.Replace(s) }

// quote is a block quote of plain words.
func quote(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+escape(strings.TrimRight(line, "\r")), " ")
	}
	return strings.Join(lines, "\n")
}

// code is a code span that holds any text.
func code(s string) string {
	s = oneLine(s)
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 {
		return ticks + " " + s + " " + ticks
	}
	return ticks + s + ticks
}

func codes(list []string) string {
	out := make([]string, 0, len(list))
	for i, s := range list {
		if i == maxFiles {
			out = append(out, strconv.Itoa(len(list)-i)+" more")
			break
		}
		out = append(out, code(cut(oneLine(s), 200)))
	}
	return strings.Join(out, ", ")
}

// fence is a code block that holds any text.
func fence(s string) string {
	ticks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return ticks + "\n" + s + "\n" + ticks
}

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
