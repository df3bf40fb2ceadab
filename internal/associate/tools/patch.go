package tools

import (
	"fmt"
	"strings"

	"choiros/internal/choir"
)

// applyPatch applies a patch in the format of Codex's apply_patch, all of it or nothing:
// *** Add File, *** Delete File and *** Update File with *** Move to, and hunks that begin
// with @@ and a line that comes before, if that is needed to find the place.
func applyPatch(files *Workspace, patch string) (Output, error) {
	d := drafts{files: files}
	rest := lines(strings.ReplaceAll(strings.TrimSpace(patch), "\r\n", "\n"))
	if rest[0] != "*** Begin Patch" {
		return Output{}, choir.Invalid("patch", "must begin with the line *** Begin Patch")
	}
	if rest[len(rest)-1] != "*** End Patch" {
		return Output{}, choir.Invalid("patch", "must end with the line *** End Patch")
	}
	rest = rest[1 : len(rest)-1]
	var done []string
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && !isHeader(rest[n]) {
			n++
		}
		body := rest[1:n]
		for len(body) > 0 && body[len(body)-1] == "" {
			body = body[:len(body)-1] // between two sections
		}
		did, err := d.section(rest[0], body)
		if err != nil {
			return Output{}, err
		}
		done, rest = append(done, did), rest[n:]
	}
	if len(done) == 0 {
		return Output{}, choir.Invalid("patch", "has no file")
	}
	if err := d.write(); err != nil {
		return Output{}, err
	}
	return Output{Text: strings.Join(done, "\n"), OK: true}, nil
}

// Headers of the sections of a patch.
const (
	addHeader    = "*** Add File: "
	deleteHeader = "*** Delete File: "
	updateHeader = "*** Update File: "
	moveHeader   = "*** Move to: "
	endOfFile    = "*** End of File"
)

func isHeader(line string) bool {
	return strings.HasPrefix(line, addHeader) || strings.HasPrefix(line, deleteHeader) || strings.HasPrefix(line, updateHeader)
}

// section applies one section of a patch to the drafts and says what it did.
func (d *drafts) section(header string, body []string) (did string, err error) {
	if p, ok := strings.CutPrefix(header, addHeader); ok {
		f, err := d.create(p)
		if err != nil {
			return "", err
		}
		for i, line := range body {
			text, ok := strings.CutPrefix(line, "+")
			if !ok {
				return "", choir.Invalid("patch", "line %d of the new file %s must begin with +; nothing was changed", i+1, p)
			}
			f.content = append(append(f.content, text...), '\n')
		}
		return "created " + p, nil
	}
	if p, ok := strings.CutPrefix(header, deleteHeader); ok {
		f, err := d.open(p)
		if err == nil {
			f.gone = true
		}
		return "removed " + p, err
	}
	p, ok := strings.CutPrefix(header, updateHeader)
	if !ok {
		return "", choir.Invalid("patch", "has %s where *** Add File: PATH, *** Delete File: PATH or *** Update File: PATH must stand; nothing was changed", quoted(header))
	}
	return d.update(p, body)
}

// update applies the hunks of a file, and moves it if the first line says so.
func (d *drafts) update(p string, body []string) (did string, err error) {
	f, err := d.open(p)
	if err != nil {
		return "", err
	}
	to := ""
	if len(body) > 0 && strings.HasPrefix(body[0], moveHeader) {
		to, body = strings.TrimPrefix(body[0], moveHeader), body[1:]
	}
	hunks, err := parseHunks(p, body)
	if err != nil {
		return "", err
	}
	if f.content, err = applyHunks(p, f.content, hunks); err != nil {
		return "", err
	}
	did = fmt.Sprintf("edited %s, %s", p, plural(len(hunks), "hunk"))
	if to != "" {
		moved, err := d.create(to)
		if err != nil {
			return "", err
		}
		moved.content, f.gone = f.content, true
		moved.mode = f.mode
		did += ", moved to " + to
	}
	return did, nil
}

// hunk is one place of a file: the lines that stand there and the lines that replace them.
type hunk struct {
	below string // a line that comes before the place; "" for none
	lines []hunkLine
	last  bool // the place is the end of the file
}

// hunkLine is a line of a hunk; kind is ' ' for a line that stays, '-' or '+'.
type hunkLine struct {
	kind byte
	text string
}

// parseHunks returns the hunks of the file p.
func parseHunks(p string, body []string) ([]hunk, error) {
	var hunks []hunk
	for i, line := range body {
		switch {
		case strings.HasPrefix(line, "@@"):
			below := strings.TrimSpace(strings.TrimPrefix(line, "@@"))
			if numbers, rest, ok := strings.Cut(below, "@@"); ok && strings.HasPrefix(below, "-") && strings.Contains(numbers, "+") {
				below = strings.TrimSpace(rest) // as in a unified diff, whose numbers models guess
			}
			hunks = append(hunks, hunk{below: below})
			continue
		case line == endOfFile && len(hunks) > 0:
			hunks[len(hunks)-1].last = true
			continue
		case len(hunks) == 0:
			hunks = append(hunks, hunk{})
		}
		if line == "" {
			line = " " // models drop the blank of an empty line
		}
		if !strings.Contains(" +-", line[:1]) {
			return nil, choir.Invalid("patch", "line %d of the hunks of %s must begin with a blank, +, - or @@, not %s; nothing was changed", i+1, p, quoted(line))
		}
		h := &hunks[len(hunks)-1]
		h.lines = append(h.lines, hunkLine{line[0], line[1:]})
	}
	if len(hunks) == 0 {
		return nil, choir.Invalid("patch", "has no hunk for %s; nothing was changed", p)
	}
	return hunks, nil
}

// applyHunks returns the content of the file p with the hunks applied, in order.
func applyHunks(p string, content []byte, hunks []hunk) ([]byte, error) {
	lineEnd := "\n"
	if hasCRLF(content) {
		lineEnd = "\r\n"
	}
	text := strings.ReplaceAll(string(content), lineEnd, "\n")
	ended := text == "" || strings.HasSuffix(text, "\n")
	have := lines(text)
	if text == "" {
		have = nil
	}
	from := 0
	for n, h := range hunks {
		at, old, err := h.place(have, from)
		if err != nil {
			return nil, choir.Invalid("patch", "hunk %d of %s %v; nothing was changed", n+1, p, err)
		}
		var now []string
		i := at
		for _, l := range h.lines {
			switch l.kind {
			case ' ':
				now = append(now, have[i]) // its white space may differ
				i++
			case '-':
				i++
			case '+':
				now = append(now, l.text)
			}
		}
		have = append(have[:at:at], append(now, have[at+old:]...)...)
		from = at + len(now)
	}
	out := strings.Join(have, lineEnd)
	if ended && len(have) > 0 {
		out += lineEnd
	}
	return []byte(out), nil
}

// place returns where the hunk stands in have, from the line from on, and the number of lines
// that it has there.
func (h *hunk) place(have []string, from int) (at, old int, err error) {
	var want []string
	for _, l := range h.lines {
		if l.kind != '+' {
			want = append(want, l.text)
		}
	}
	if h.below != "" {
		i := find(have, []string{h.below}, from, strings.TrimSpace)
		if i < 0 {
			return 0, 0, fmt.Errorf("names the line %s, which does not occur%s", quoted(h.below), after("; ", nearest(strings.Join(have, "\n"), h.below)))
		}
		from = i + 1
	}
	if len(want) == 0 {
		if h.below == "" {
			from = len(have)
		}
		return from, 0, nil
	}
	for _, like := range []func(string) string{func(s string) string { return s }, func(s string) string { return strings.TrimRight(s, " \t") }} {
		if h.last {
			if end := len(have) - len(want); end >= from && find(have[end:], want, 0, like) == 0 {
				return end, len(want), nil
			}
			continue
		}
		if i := find(have, want, from, like); i >= 0 {
			return i, len(want), nil
		}
		if h.below != "" && from > 0 { // the line named may itself begin the hunk
			if i := find(have, want, from-1, like); i == from-1 {
				return i, len(want), nil
			}
		}
	}
	return 0, 0, fmt.Errorf("does not occur%s", after("; ", nearest(strings.Join(have, "\n"), strings.Join(want, "\n"))))
}

// find returns the index, from the line from on, of the first of the lines have that equal the
// lines want after like, -1 if there are none.
func find(have, want []string, from int, like func(string) string) int {
	for i := from; i+len(want) <= len(have); i++ {
		same := true
		for n := range want {
			if like(have[i+n]) != like(want[n]) {
				same = false
				break
			}
		}
		if same {
			return i
		}
	}
	return -1
}
