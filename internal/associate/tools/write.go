package tools

import (
	"context"
	"fmt"
	"path"

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
