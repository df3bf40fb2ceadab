// Package bench measures choir beside its peers, in the same run, sample by
// sample in turn.
package bench

import (
	"context"
	"io"

	"choiros/internal/choir"
)

// Options of a run.
type Options struct {
	Names   []string
	Quick   bool
	JSON    bool
	Out     io.Writer
	Version string
}

// Names lists the benchmarks.
func Names() []string { return nil }

// Run runs benchmarks and reports whether every measured target was met.
func Run(context.Context, Options) (bool, error) {
	return false, choir.E("bench", choir.CodeUnavailable, "no benchmark is built into this version")
}
