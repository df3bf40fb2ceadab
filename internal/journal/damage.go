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

// Damage describes acknowledged events whose records are damaged. When FromSeq > ToSeq
// no event is damaged, only a segment's header or bytes between records.
type Damage struct {
	FromSeq uint64
	ToSeq   uint64
	Kind    string
	File    string
	Offset  int64 // first byte that is wrong
	End     int64 // behind the last; Offset when nothing is there
}

func (d Damage) String() string {
	where := fmt.Sprintf("%s at bytes %d to %d of %s", d.Kind, d.Offset, d.End, filepath.Base(d.File))
	if d.End <= d.Offset {
		where = fmt.Sprintf("%s at byte %d of %s", d.Kind, d.Offset, filepath.Base(d.File))
	}
	if d.FromSeq > d.ToSeq {
		return where + ": no event"
	}
	return fmt.Sprintf("%s: events %d to %d", where, d.FromSeq, d.ToSeq)
}
