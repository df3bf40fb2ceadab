package eventstore

import (
	"choiros/internal/choir"
	"choiros/internal/journal"
)

// ancestry checks the events of one verification pass against choir.Lineage. After a
// gap it starts with an empty lineage.
type ancestry struct {
	lineage choir.Lineage
	last    uint64
	broken  []Hole
}

// checkNext checks one more event and records a hole if it contradicts the lineage.
func (a *ancestry) checkNext(e *choir.Event) {
	if e.Seq != a.last+1 {
		a.lineage = choir.Lineage{}
	}
	a.last = e.Seq
	if err := a.lineage.Next(e); err != nil {
		a.broken = append(a.broken, Hole{From: e.Seq, To: e.Seq, Damage: err.Error(), Kind: journal.KindChain})
	}
}
