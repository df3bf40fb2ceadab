package eventstore

import (
	"choiros/internal/choir"
	"choiros/internal/journal"
)

// ancestry holds the events of a pass against choir.Lineage; behind a hole it
// begins anew.
type ancestry struct {
	lineage choir.Lineage
	last    uint64
	broken  []Hole
}

// next takes the next event that is whole.
func (a *ancestry) next(e *choir.Event) {
	if e.Seq != a.last+1 {
		a.lineage = choir.Lineage{}
	}
	a.last = e.Seq
	if err := a.lineage.Next(e); err != nil {
		a.broken = append(a.broken, Hole{From: e.Seq, To: e.Seq, Damage: err.Error(), Kind: journal.KindChain})
	}
}
