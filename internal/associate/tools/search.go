package tools

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"unicode/utf8"

	"choiros/internal/choir"
)

// maxLineShown limits what is shown of one line, in bytes.
const maxLineShown = 400

type searchFiles struct {
	Pattern string `json:"pattern" choir:"len=1..4096"`
	Path    string `json:"path,omitempty" choir:"len=0..4096"`
	Files   string `json:"files,omitempty" choir:"len=0..4096"`
	Context int    `json:"context,omitempty" choir:"range=0..50"`
	Limit   int    `json:"limit,omitempty" choir:"range=1..5000"`
	Ignored bool   `json:"ignored,omitempty"`
}

func (in *searchFiles) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Pattern: in.Pattern, Files: in.Files, Context: in.Context, Limit: in.Limit, Ignored: in.Ignored}
}

func (in *searchFiles) run(ctx context.Context, k *Kit) (Output, error) {
	re, err := regexp.Compile(in.Pattern)
	if err != nil {
		return Output{}, choir.Invalid("pattern", "is not a regular expression: %v", err)
	}
	match, err := glob(in.Files)
	if err != nil {
		return Output{}, choir.Under("files", err)
	}
	r := results{limit: in.Limit, fallback: defaultMatches}
	left, err := k.Files.walk(ctx, in.Path, in.Ignored, func(f found) error {
		if !f.entry.Type().IsRegular() || in.Files != "" && !match.MatchString(f.rel) {
			return nil
		}
		content, _, err := k.Files.slurp(f.abs, maxSearchBytes)
		if err != nil || bytes.IndexByte(content[:min(len(content), sniffBytes)], 0) >= 0 {
			return nil // too large, gone, unreadable or binary: not searched
		}
		return r.grep(re, f.shown, content, in.Context)
	})
	return r.output("no matches", left, err)
}

// grep adds the lines of content that match re as path:line: text, with beside lines before
// and after them as path-line- text, and -- between places that do not touch. It returns
// fs.SkipAll at the limit.
func (r *results) grep(re *regexp.Regexp, name string, content []byte, beside int) error {
	all := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	next, until := -1, -1 // the first line that is not written, the last that comes after a match
	write := func(i int) {
		r.addBeside(fmt.Sprintf("%s-%d- %s", name, i+1, around(bytes.TrimRight(all[i], "\r"), nil)))
		next = i + 1
	}
	for i, line := range all {
		line = bytes.TrimRight(line, "\r")
		at := re.FindIndex(line)
		if at == nil {
			if i <= until {
				write(i)
			}
			continue
		}
		if r.isFull() {
			return fs.SkipAll
		}
		from := max(next, i-beside, 0)
		if beside > 0 && from != next && len(r.lines) > 0 {
			r.addBeside("--")
		}
		for n := from; n < i; n++ {
			write(n)
		}
		if err := r.add(fmt.Sprintf("%s:%d: %s", name, i+1, around(line, at))); err != nil {
			return err
		}
		next, until = i+1, i+beside
	}
	return nil
}

// around returns a line of at most about maxLineShown bytes, the one place at if that is not nil
// among them, and says where it is cut.
func around(line []byte, at []int) string {
	if len(line) <= maxLineShown {
		return string(line)
	}
	from := 0
	if at != nil && at[1] > maxLineShown {
		from = max(0, min(at[0]-maxLineShown/4, len(line)-maxLineShown))
	}
	to := from + maxLineShown
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	text := string(line[from:min(to, len(line))])
	if from > 0 {
		text = fmt.Sprintf("… (%d bytes before) %s", from, text)
	}
	if to < len(line) {
		text = fmt.Sprintf("%s … (%d more bytes)", text, len(line)-to)
	}
	return text
}
