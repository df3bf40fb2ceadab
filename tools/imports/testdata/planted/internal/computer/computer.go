// Package computer is planted: it wires, and takes the benchmarks' peer for a log.
package computer

import (
	_ "planted/internal/blob/s3"
	"planted/internal/eventstore"
)

func init() { eventstore.OpenPlain() }
