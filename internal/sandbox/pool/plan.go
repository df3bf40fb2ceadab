package pool

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

const (
	// demandWindow is the time in which uses of a computer count as demand.
	demandWindow = 24 * time.Hour
	// keepForUse is the time that a computer has sandboxes ready for each use in the window, up to
	// mostUses of them.
	keepForUse = time.Hour
	mostUses   = 8
	// claimTime is the time in which a computer that is opened claims its sandboxes.
	claimTime = time.Minute
	// failureRest is the time after a failed start without another one, mostFailures the failures
	// after which a computer gets none until it was used again.
	failureRest  = time.Minute
	mostFailures = 3
)

// wish is the demand of one computer for ready sandboxes.
type wish struct {
	uses   []time.Time // within the window, oldest first; one for all roles of a start
	specs  []sandbox.Spec
	left   time.Time // when nobody used it any more; zero while it is used
	failed time.Time
	fails  int
}

// use records that the computer is used from now on.
func (w *wish) use(now time.Time) {
	if n := len(w.uses); n == 0 || !w.left.IsZero() {
		w.uses = append(w.uses, now)
		if len(w.uses) > mostUses {
			w.uses = w.uses[1:]
		}
	}
	w.left, w.fails = time.Time{}, 0
}

// recordUnused records that nobody uses the computer any more, and the sandboxes of its next start.
func (w *wish) recordUnused(now time.Time, specs []sandbox.Spec) {
	w.left, w.specs = now, specs
	if len(w.uses) == 0 { // it was opened before the window
		w.uses = []time.Time{now}
	}
}

// fail records that a start failed, or that a ready sandbox ended by itself.
func (w *wish) fail(now time.Time) {
	if w != nil {
		w.failed, w.fails = now, w.fails+1
	}
}

// justWoken reports whether the computer may still be claiming its sandboxes.
func (w *wish) justWoken(now time.Time) bool {
	return w.left.IsZero() && len(w.uses) > 0 && now.Sub(w.uses[len(w.uses)-1]) < claimTime
}

// mayStart reports whether no start failed so recently, or so often, that another is pointless.
func (w *wish) mayStart(now time.Time) bool {
	return w.fails == 0 || w.fails < mostFailures && now.Sub(w.failed) >= failureRest
}

// wanted reports whether the computer is unused and its demand has not run out.
func (w *wish) wanted(now time.Time) bool {
	return !w.left.IsZero() && now.Sub(w.left) < keepForUse*time.Duration(len(w.uses))
}

// forget removes uses that are older than the window, and wishes without any demand.
func forget(wishes map[choir.ID]*wish, now time.Time) {
	for id, w := range wishes {
		w.uses = slices.DeleteFunc(w.uses, func(at time.Time) bool { return now.Sub(at) >= demandWindow })
		if len(w.uses) == 0 && !w.wanted(now) {
			delete(wishes, id)
		}
	}
}

// plan returns the computers that sandboxes are kept ready for: at most most wanted
// computers, the most used first, then the last used. Without room it is none.
func plan(wishes map[choir.ID]*wish, room Room, most int, now time.Time) map[choir.ID]bool {
	if room == RoomTight {
		return nil
	}
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(wishes)), func(id choir.ID) bool { return !wishes[id].wanted(now) })
	slices.SortFunc(ids, func(a, b choir.ID) int {
		x, y := wishes[a], wishes[b]
		return cmp.Or(cmp.Compare(len(y.uses), len(x.uses)), y.left.Compare(x.left), cmp.Compare(a, b))
	})
	keep := map[choir.ID]bool{}
	for _, id := range ids[:min(len(ids), most)] {
		keep[id] = true
	}
	return keep
}
