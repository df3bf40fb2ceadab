package command

import (
	"context"
	"os"
	"strings"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/tools"
	"choiros/internal/excerpt"
)

// Bounds of a program that converts a file for the model.
const (
	convertWait  = time.Minute
	maxConverted = 8 << 20 // bytes
	maxComplaint = 400     // bytes
)

// Convert implements tools.Kit's Convert: the program runs as the task's commands do.
func (p *Programs) Convert(ctx context.Context, stdin *os.File, argv []string) (out []byte, said string, err error) {
	program, err := p.place.FindProgram(argv[0])
	if err != nil {
		return nil, "", tools.ErrNoProgram
	}
	limited, cancel := context.WithTimeout(ctx, convertWait)
	defer cancel()
	output, errors := &bounded{max: maxConverted}, &bounded{max: maxComplaint}
	exit, err := p.place.Tree().Run(limited, proctree.Spec{
		Argv: append([]string{program}, argv[1:]...), Dir: p.place.Root(), Env: p.place.Environment(p.call(), nil),
		Stdin: stdin, Stdout: output, Stderr: errors,
	})
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case limited.Err() != nil:
		return nil, "it took longer than " + convertWait.String(), nil
	case err != nil:
		return nil, "", err
	case output.over:
		return nil, "its output is too large", nil
	case exit.Code != 0:
		said, _, _ = strings.Cut(strings.TrimSpace(excerpt.Text(errors.kept)), "\n")
		if said == "" {
			said = "it failed"
		}
		return nil, said, nil
	}
	return output.kept, "", nil
}

// bounded is a proctree.Sink that keeps the first bytes.
type bounded struct {
	max  int
	kept []byte
	over bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(b.max-len(b.kept), len(p))
	b.kept = append(b.kept, p[:room]...)
	b.over = b.over || room < len(p)
	return len(p), nil
}

// Idle implements proctree.Sink.
func (b *bounded) Idle() {}
