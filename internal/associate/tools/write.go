package tools

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"choiros/internal/choir"
)

// maxEditBytes limits the size of a file that edit_file changes, maxWriteBytes the
// content that write_file writes.
const (
	maxEditBytes  = 16 << 20
	maxWriteBytes = 16 << 20
)

type writeFile struct {
	Path    string `json:"path" choir:"len=1..4096"`
	Content string `json:"content"`
}

func (in *writeFile) record() choir.ToolInput {
	return choir.ToolInput{Path: in.Path, Content: in.Content}
}

func (in *writeFile) run(_ context.Context, k *Kit) (Output, error) {
	if len(in.Content) > maxWriteBytes {
		return Output{}, choir.Invalid("content", "has %d bytes, more than %d", len(in.Content), maxWriteBytes)
	}
	name, err := k.Files.resolveOwn(in.Path)
	if err != nil {
		return Output{}, err
	}
	if err := k.Files.own.MkdirAll(path.Dir(name), 0o777); err != nil {
		return Output{}, fault(in.Path, err)
	}
	info, err := k.Files.own.Stat(name)
	verb := "wrote"
	switch {
	case err != nil:
		info, verb = nil, "created"
	case !info.Mode().IsRegular():
		return Output{}, choir.Invalid("path", "%q is a %s, not a file", in.Path, kindOf(info.Mode()))
	}
	if info != nil {
		err = k.Files.replace(in.Path, []byte(in.Content), info.Mode().Perm())
	} else {
		err = k.Files.replace(in.Path, []byte(in.Content), 0)
	}
	return Output{Text: fmt.Sprintf("%s %s, %d bytes", verb, in.Path, len(in.Content)), OK: err == nil}, err
}

type editFile struct {
	Path  string `json:"path" choir:"len=1..4096"`
	Edits []edit `json:"edits" choir:"len=1..256"`
}

type edit struct {
	Old string `json:"old" choir:"len=1..1000000"`
	New string `json:"new"`
}

func (in *editFile) record() choir.ToolInput {
	r := choir.ToolInput{Path: in.Path}
	for _, e := range in.Edits {
		r.Edits = append(r.Edits, choir.TextEdit{Old: e.Old, New: e.New})
	}
	return r
}

func (in *editFile) run(_ context.Context, k *Kit) (Output, error) {
	content, mode, err := k.Files.slurp(in.Path, maxEditBytes)
	if err != nil {
		return Output{}, err
	}
	changed, err := in.apply(content)
	if err != nil {
		return Output{}, err
	}
	if err := k.Files.replace(in.Path, changed, mode); err != nil {
		return Output{}, err
	}
	return Output{Text: fmt.Sprintf("edited %s, %s", in.Path, plural(len(in.Edits), "replacement")), OK: true}, nil
}

// apply returns content with all edits made in order. Code invalid, and nothing changed,
// if an old text does not occur exactly once. It converts line ends to the file's CRLF.
func (in *editFile) apply(content []byte) ([]byte, error) {
	crlf := bytes.Contains(content, []byte("\r\n")) && bytes.Count(content, []byte("\n")) == bytes.Count(content, []byte("\r\n"))
	for i, e := range in.Edits {
		old, with := e.Old, e.New
		if crlf && !strings.Contains(old+with, "\r\n") {
			// Models write \n; the file keeps its own line ends.
			old, with = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(with, "\n", "\r\n")
		}
		at := fmt.Sprintf("edits[%d].old", i)
		switch n := occurrences(content, []byte(old)); {
		case old == with:
			return nil, choir.Invalid(fmt.Sprintf("edits[%d].new", i), "equals old; nothing was changed")
		case n == 0:
			return nil, choir.Invalid(at, "does not occur in %s; nothing was changed%s", in.Path, after("; ", nearest(string(content), old)))
		case n > 1:
			return nil, choir.Invalid(at, "occurs %d times in %s; nothing was changed. Add lines around it until it is unique", n, in.Path)
		}
		content = bytes.Replace(content, []byte(old), []byte(with), 1)
	}
	return content, nil
}

// occurrences returns how often old occurs in content, overlapping occurrences included,
// so that 1 means an unambiguous place.
func occurrences(content, old []byte) int {
	n := 0
	for from := 0; ; n++ {
		i := bytes.Index(content[from:], old)
		if i < 0 {
			return n
		}
		from += i + 1
	}
}

// after returns text with before in front of it, "" if text is empty.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}
