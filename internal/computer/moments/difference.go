package moments

import (
	"cmp"
	"context"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/names"
	"choiros/internal/timeline"
)

// MomentsDiff is the difference between two moments of a computer, except its files.
type MomentsDiff struct {
	Documents []DocumentChange `json:"documents" doc:"Documents that differ."`
	Changes   []DesktopChange  `json:"changes" doc:"Windows, theme and settings that differ."`
	Desktop   []string         `json:"desktop" doc:"Changes as English sentences, which desktops from before 27 November 2026 show."`
	Events    []EventLine      `json:"events" doc:"What happened between, in words, the oldest first."`
	Counts    []TypeCount      `json:"counts" doc:"How many events of each type lie between."`
	EventsCut bool             `json:"events_cut,omitempty" doc:"There are more events; the lists were cut."`
}

// DocumentChange is one document that differs between two moments. A version is nil
// where the document did not exist.
type DocumentChange struct {
	ID    choir.ID `json:"id"`
	Title string   `json:"title"`
	From  *int     `json:"from,omitempty" doc:"Version then."`
	To    *int     `json:"to,omitempty" doc:"Version at the other moment."`
	Diff  string   `json:"diff,omitempty" doc:"Unified diff."`
}

// EventLine describes one event in words.
type EventLine struct {
	Seq  uint64     `json:"seq"`
	At   choir.Time `json:"at"`
	Type choir.Type `json:"type"`
	Text string     `json:"text"`
}

// TypeCount counts the events of one type.
type TypeCount struct {
	Type  choir.Type `json:"type"`
	Count int        `json:"count"`
}

// Bounds of a MomentsDiff: events read, and told in words.
const (
	maxCounted = 20_000
	maxTold    = 500
)

// Diff returns the differences of documents and desktop between two moments (0 is now),
// and the events between them in words. It reads only the log and stored content.
func (ms *Moments) Diff(ctx context.Context, from, to uint64) (MomentsDiff, error) {
	head, _ := ms.log.Head()
	from, to = cmp.Or(from, head), cmp.Or(to, head)
	out := MomentsDiff{Documents: []DocumentChange{}, Changes: []DesktopChange{}, Desktop: []string{}, Events: []EventLine{}, Counts: []TypeCount{}}
	for _, seq := range []uint64{from, to} {
		if err := ms.log.MustHave(seq); err != nil {
			return out, err
		}
	}
	if err := ms.compareDocuments(ctx, from, to, &out); err != nil {
		return out, err
	}
	if err := ms.compareDesktops(ctx, from, to, &out); err != nil {
		return out, err
	}
	return out, ms.describeEvents(ctx, min(from, to), max(from, to), &out)
}

func (ms *Moments) compareDocuments(ctx context.Context, from, to uint64, out *MomentsDiff) error {
	a, err := ms.log.Documents(ctx, from)
	if err != nil {
		return err
	}
	b, err := ms.log.Documents(ctx, to)
	if err != nil {
		return err
	}
	for _, pair := range pairs(a, b, func(d eventstore.Document) choir.ID { return d.ID }) {
		change := DocumentChange{ID: pair.key}
		var text [2]string
		for i, d := range []*eventstore.Document{pair.a, pair.b} {
			if d == nil {
				continue
			}
			whole, err := ms.documents.Document(ctx, d.ID, d.Version)
			if err != nil {
				return err
			}
			change.Title, text[i] = d.Title, whole.Content
			version := d.Version
			if i == 0 {
				change.From = &version
			} else {
				change.To = &version
			}
		}
		if pair.a != nil && pair.b != nil && text[0] == text[1] {
			continue
		}
		change.Diff = udiff.Unified("then", "later", text[0], text[1])
		out.Documents = append(out.Documents, change)
	}
	return nil
}

// compareDesktops adds the differing windows and settings to out.
func (ms *Moments) compareDesktops(ctx context.Context, from, to uint64, out *MomentsDiff) error {
	wa, err := ms.log.Windows(ctx, from)
	if err != nil {
		return err
	}
	wb, err := ms.log.Windows(ctx, to)
	if err != nil {
		return err
	}
	for _, p := range pairs(wa, wb, func(w eventstore.Window) choir.ID { return w.ID }) {
		if change, differs := changeOfWindow(p.a, p.b); differs {
			out.Changes = append(out.Changes, change)
		}
	}
	sa, err := ms.log.Settings(ctx, from)
	if err != nil {
		return err
	}
	sb, err := ms.log.Settings(ctx, to)
	if err != nil {
		return err
	}
	for _, p := range pairs(sa, sb, func(s eventstore.Setting) string { return s.Key }) {
		if x, y := settingValue(p.a), settingValue(p.b); x != y {
			out.Changes = append(out.Changes, DesktopChange{Change: SettingSet, Key: p.key, From: x, To: y})
		}
	}
	for i := range out.Changes {
		out.Desktop = append(out.Desktop, out.Changes[i].Say(names.English))
	}
	return nil
}

// pair is the two entries of a key in two lists; nil where a list has none.
type pair[K cmp.Ordered, V any] struct {
	key  K
	a, b *V
}

// pairs joins two lists by key, in the order of the keys.
func pairs[K cmp.Ordered, V any](a, b []V, key func(V) K) []pair[K, V] {
	found := map[K]*pair[K, V]{}
	at := func(k K) *pair[K, V] {
		if found[k] == nil {
			found[k] = &pair[K, V]{key: k}
		}
		return found[k]
	}
	for i := range a {
		at(key(a[i])).a = &a[i]
	}
	for i := range b {
		at(key(b[i])).b = &b[i]
	}
	out := make([]pair[K, V], 0, len(found))
	for _, p := range found {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y pair[K, V]) int { return cmp.Compare(x.key, y.key) })
	return out
}

// describeEvents adds the events after from, up to to, to out: in words up to maxTold,
// and counted by type.
func (ms *Moments) describeEvents(ctx context.Context, from, to uint64, out *MomentsDiff) error {
	counts := map[choir.Type]int{}
	read := 0
	for e, err := range ms.log.Events(ctx, from+1, to) {
		if err != nil {
			return err
		}
		if read++; read > maxCounted {
			out.EventsCut = true
			break
		}
		counts[e.Type]++
		if text := timeline.Say(&e); text != "" && len(out.Events) < maxTold {
			out.Events = append(out.Events, EventLine{e.Seq, e.Time, e.Type, text})
		} else if text != "" {
			out.EventsCut = true
		}
	}
	for t, n := range counts {
		out.Counts = append(out.Counts, TypeCount{t, n})
	}
	slices.SortFunc(out.Counts, func(x, y TypeCount) int { return cmp.Compare(x.Type, y.Type) })
	return nil
}
