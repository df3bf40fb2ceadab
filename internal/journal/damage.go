package journal

import (
	"fmt"
	"path/filepath"
)

// Kinds of damage.
const (
	KindRecord  = "record"  // bytes of a record are not what was written
	KindChain   = "chain"   // a record does not follow from the one before
	KindHeader  = "header"  // the first bytes of a segment are not what was written
	KindMissing = "missing" // a file, or the end of one, is gone
)

// Damage names acknowledged events whose records are not whole. FromSeq > ToSeq
// means that only a segment's header is damaged and no event is.
type Damage struct {
	FromSeq uint64
	ToSeq   uint64
	Kind    string
	File    string
	Offset  int64
}

func (d Damage) String() string {
	if d.FromSeq > d.ToSeq {
		return fmt.Sprintf("%s of %s", d.Kind, filepath.Base(d.File))
	}
	return fmt.Sprintf("%s at byte %d of %s: events %d to %d", d.Kind, d.Offset, filepath.Base(d.File), d.FromSeq, d.ToSeq)
}
