package tools

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"choiros/internal/choir"
)

type editFile struct {
	Path  string `json:"path,omitempty" choir:"len=1..4096"`
	Edits []edit `json:"edits,omitempty" choir:"len=1..256"`
	Patch string `json:"patch,omitempty" choir:"len=1..1000000"`
}

type edit struct {
	Path string `json:"path,omitempty" choir:"len=1..4096"`
	Old  string `json:"old" choir:"len=1..1000000"`
	New  string `json:"new"`
}

// Check returns an error unless the call has either edits, each with a file, or a patch.
func (in *editFile) Check() error {
	if in.Patch != "" {
		if len(in.Edits) > 0 || in.Path != "" {
			return choir.Invalid("patch", "names its files itself, so path and edits must be absent")
		}
		return nil
	}
	if len(in.Edits) == 0 {
		return choir.Invalid("edits", "is required, or a patch")
	}
	for i, e := range in.Edits {
		if in.Path == "" && e.Path == "" {
			return choir.Invalid("path", "is required, as edits[%d] has none of its own", i)
		}
	}
	return nil
}

func (in *editFile) record() choir.ToolInput {
	r := choir.ToolInput{Path: in.Path, Patch: in.Patch}
	for _, e := range in.Edits {
		r.Edits = append(r.Edits, choir.TextEdit{Path: e.Path, Old: e.Old, New: e.New})
	}
	return r
}

func (in *editFile) run(_ context.Context, k *Kit) (Output, error) {
	if in.Patch != "" {
		return applyPatch(k.Files, in.Patch)
	}
	d := drafts{files: k.Files}
	for i, e := range in.Edits {
		if e.Path == "" {
			e.Path = in.Path
		}
		f, err := d.open(e.Path)
		if err != nil {
			return Output{}, err
		}
		if f.content, err = e.apply(f.content, i); err != nil {
			return Output{}, err
		}
	}
	if err := d.write(); err != nil {
		return Output{}, err
	}
	return Output{Text: fmt.Sprintf("edited %s, %s", d.names(), plural(len(in.Edits), "replacement")), OK: true}, nil
}

// apply returns content with the edit number i made. Code invalid, and nothing changed, if
// the old text does not occur exactly once. It converts line ends to the file's CRLF.
func (e *edit) apply(content []byte, i int) ([]byte, error) {
	old, with := e.Old, e.New
	if hasCRLF(content) && !strings.Contains(old+with, "\r\n") {
		// Models write \n; the file keeps its own line ends.
		old, with = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(with, "\n", "\r\n")
	}
	at := fmt.Sprintf("edits[%d].old", i)
	switch n := occurrences(content, []byte(old)); {
	case old == with:
		return nil, choir.Invalid(fmt.Sprintf("edits[%d].new", i), "equals old; nothing was changed")
	case n == 0:
		return nil, choir.Invalid(at, "does not occur in %s; nothing was changed%s", e.Path, after("; ", nearest(string(content), old)))
	case n > 1:
		return nil, choir.Invalid(at, "occurs %d times in %s; nothing was changed. Add lines around it until it is unique", n, e.Path)
	}
	return bytes.Replace(content, []byte(old), []byte(with), 1), nil
}

// hasCRLF reports whether all lines of a file end with CRLF.
func hasCRLF(content []byte) bool {
	return bytes.Contains(content, []byte("\r\n")) && bytes.Count(content, []byte("\n")) == bytes.Count(content, []byte("\r\n"))
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
