package tools

import (
	"fmt"
	"strings"
)

// maxQuoted limits a line that an error quotes, in bytes.
const maxQuoted = 160

// nearest describes the place of content that old, which does not occur in it, was probably
// meant to be: its line and what differs there first. It returns "" if no line is like old.
func nearest(content, old string) string {
	if numbered(old) {
		return "leave out the line numbers that read_file writes before each line"
	}
	want := lines(old)
	have := lines(content)
	at := closest(have, want)
	if at < 0 {
		return ""
	}
	for i, w := range want {
		if at+i >= len(have) {
			return fmt.Sprintf("the nearest place is line %d, and the file ends there after line %d", at+1, len(have))
		}
		if have[at+i] != w {
			return differs(have[at+i], w, at+i+1)
		}
	}
	return fmt.Sprintf("the nearest place is line %d, where the line ends differ", at+1)
}

// differs describes how the line number n of a file, have, differs from a wanted line.
func differs(have, want string, n int) string {
	_, haveIndent := indentation(have)
	_, wantIndent := indentation(want)
	switch {
	case strings.TrimRight(have, " \t\r") == strings.TrimRight(want, " \t\r"):
		return fmt.Sprintf("line %d differs in white space at its end only: it is %s", n, quoted(have))
	case strings.TrimSpace(have) == strings.TrimSpace(want):
		return fmt.Sprintf("line %d differs in its indentation only: the file has %s, old has %s", n, haveIndent, wantIndent)
	case strings.Join(strings.Fields(have), "") == strings.Join(strings.Fields(want), ""):
		return fmt.Sprintf("line %d differs in white space only: it is %s", n, quoted(have))
	}
	return fmt.Sprintf("the nearest is line %d: %s", n, quoted(have))
}

// indentation returns the white space that a line begins with, and its description.
func indentation(line string) (space, words string) {
	space = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	tabs, spaces := strings.Count(space, "\t"), strings.Count(space, " ")
	switch {
	case space == "":
		return space, "none"
	case spaces == 0:
		return space, plural(tabs, "tab")
	case tabs == 0:
		return space, plural(spaces, "space")
	}
	return space, plural(tabs, "tab") + " and " + plural(spaces, "space")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoted returns a line in quotes, cut after maxQuoted bytes.
func quoted(line string) string {
	if len(line) > maxQuoted {
		line = strings.ToValidUTF8(line[:maxQuoted], "") + " ..."
	}
	return fmt.Sprintf("%q", line)
}

// lines returns the lines of a text without their line ends.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// numbered reports whether every line begins as read_file writes it: with a number and a tab.
func numbered(text string) bool {
	for _, line := range lines(text) {
		number, _, ok := strings.Cut(strings.TrimLeft(line, " "), "\t")
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
			return false
		}
	}
	return true
}

// closest returns the index of the first of the lines have where most of the lines want
// occur, white space aside, -1 if none is like them. If none of want occurs it is the line with
// the most in common with the first of want that says something.
func closest(have, want []string) int {
	squeezed := make([]string, len(have))
	places := map[string][]int{}
	for i, line := range have {
		squeezed[i] = strings.Join(strings.Fields(line), "")
		places[squeezed[i]] = append(places[squeezed[i]], i)
	}
	votes, best := map[int]int{}, -1
	for i, line := range want {
		key := strings.Join(strings.Fields(line), "")
		if len(key) < 2 {
			continue // a brace or nothing is everywhere
		}
		for _, place := range places[key][:min(len(places[key]), 1000)] {
			if at := place - i; at >= 0 {
				if votes[at]++; best < 0 || votes[at] > votes[best] || votes[at] == votes[best] && at < best {
					best = at
				}
			}
		}
	}
	if best >= 0 {
		return best
	}
	for i, line := range want {
		if key := strings.Join(strings.Fields(line), ""); len(key) > 3 {
			if at := mostAlike(squeezed, key) - i; at >= 0 {
				return at
			}
			return -1
		}
	}
	return -1
}

// mostAlike returns the index of the line that has the most trigrams in common with key, -1 if
// none has half of them.
func mostAlike(have []string, key string) int {
	wanted := map[string]bool{}
	for i := range len(key) - 2 {
		wanted[key[i:i+3]] = true
	}
	best, most := -1, 0.5
	for n, line := range have {
		common := map[string]bool{}
		for i := range max(0, min(len(line), 2000)-2) {
			if wanted[line[i:i+3]] {
				common[line[i:i+3]] = true
			}
		}
		if score := 2 * float64(len(common)) / float64(len(wanted)+max(1, len(line)-2)); score >= most && score > 0 && (best < 0 || score > most) {
			best, most = n, score
		}
	}
	return best
}
