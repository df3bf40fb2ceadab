package eventstore

import (
	"slices"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// tail caches the newest events in memory, because followers read them right after the
// commit. Readers must not change the payloads.
type tail struct {
	mu     lockorder.Mutex[lockorder.TailMu] // guards the two below
	events []choir.Event
	bytes  int
}

const (
	tailBytes     = 512 << 10
	eventOverhead = 400 // bytes of an event besides its payload, about
)

func (t *tail) add(items []item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range items {
		t.events = append(t.events, items[i].event)
		t.bytes += len(items[i].event.Payload) + eventOverhead
	}
	if t.bytes <= tailBytes {
		return
	}
	drop := 0
	for ; drop < len(t.events)-1 && t.bytes > tailBytes/2; drop++ {
		t.bytes -= len(t.events[drop].Payload) + eventOverhead
	}
	t.events = slices.Clone(t.events[drop:])
}

// after returns up to limit events after number seq; ok is false if the tail begins
// later.
func (t *tail) after(seq uint64, limit int) ([]choir.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 || t.events[0].Seq > seq+1 {
		return nil, false
	}
	from := min(int(seq+1-t.events[0].Seq), len(t.events))
	return slices.Clone(t.events[from:min(from+limit, len(t.events))]), true
}

// before returns up to limit events from number seq down, newest first; none if the
// tail lacks event seq.
func (t *tail) before(seq uint64, limit int) []choir.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 || seq < t.events[0].Seq || seq-t.events[0].Seq >= uint64(len(t.events)) {
		return nil
	}
	end := int(seq-t.events[0].Seq) + 1
	out := slices.Clone(t.events[max(end-limit, 0):end])
	slices.Reverse(out)
	return out
}

// at returns event seq; ok is false if the tail lacks it.
func (t *tail) at(seq uint64) (choir.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 || seq < t.events[0].Seq || seq-t.events[0].Seq >= uint64(len(t.events)) {
		return choir.Event{}, false
	}
	return t.events[seq-t.events[0].Seq], true
}
