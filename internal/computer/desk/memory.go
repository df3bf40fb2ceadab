package desk

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// state holds windows, theme and settings as of an event. It is immutable: events make new
// states, so it is read without a lock.
type state struct {
	seq      uint64
	windows  []eventstore.Window  // bottom-most first
	settings []eventstore.Setting // sorted by row key
}

// reduces is the set of event types that change a state.
var reduces = map[choir.Type]bool{
	choir.TypeWindowOpened: true, choir.TypeWindowMoved: true, choir.TypeWindowShown: true, choir.TypeWindowRetitled: true,
	choir.TypeWindowFocused: true, choir.TypeWindowClosed: true, choir.TypeThemeChanged: true, choir.TypeSettingChanged: true,
}

// after returns the state after event e, which must not be a rewind, by the reducers of the
// projections. Code corrupt: the payload cannot be decoded.
func (s state) after(e *choir.Event) (state, error) {
	s.seq = e.Seq
	if !reduces[e.Type] {
		return s, nil
	}
	payload, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return s, choir.Wrap("computer.desktop", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	if id := eventstore.WindowOf(payload); id != "" {
		s.windows = replaceWindow(s.windows, id, eventstore.ReduceWindow(findWindow(s.windows, id), e.Seq, payload))
	}
	if key, after := eventstore.ReduceSetting(payload); key != "" {
		s.settings = replaceSetting(s.settings, key, after)
	}
	return s, nil
}

// replaceWindow returns a new list with the window id replaced by by, removed for nil.
func replaceWindow(windows []eventstore.Window, id choir.ID, by *eventstore.Window) []eventstore.Window {
	out := make([]eventstore.Window, 0, len(windows)+1)
	for _, w := range windows {
		if w.ID != id {
			out = append(out, w)
		}
	}
	if by == nil {
		return out
	}
	at, _ := slices.BinarySearchFunc(out, *by, func(a, b eventstore.Window) int {
		return cmp.Or(cmp.Compare(a.Focused, b.Focused), cmp.Compare(a.ID, b.ID))
	})
	return slices.Insert(out, at, *by)
}

// replaceSetting returns a new list with the setting key replaced by by, removed for nil.
func replaceSetting(settings []eventstore.Setting, key string, by *eventstore.Setting) []eventstore.Setting {
	at, found := slices.BinarySearchFunc(settings, key, func(s eventstore.Setting, key string) int {
		return cmp.Compare(s.RowKey(), key)
	})
	out := slices.Clone(settings)
	if found {
		out = slices.Delete(out, at, at+1)
	}
	if by != nil {
		out = slices.Insert(out, at, *by)
	}
	return out
}

// memory caches the newest state, so that changes of the desktop need not read the SQLite
// copy. It follows the log when asked, and reads the copy at first, after a rewind and when
// it is far behind. Its methods are safe for concurrent use.
type memory struct {
	log WindowLog

	mu   sync.Mutex // guards last
	last *state     // nil before the first read
}

// farBehind is the number of events above which memory reads the copy instead of the log's
// events, about as many as the log keeps in memory.
const farBehind = 500

// now returns the state after every event that was durable at the call. Code unavailable:
// the copy cannot be written.
func (m *memory) now(ctx context.Context) (state, error) {
	ctx = eventstore.MustNotLag(ctx) // the state is kept
	head, _ := m.log.Head()
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if last != nil && last.seq >= head {
		return *last, nil
	}
	next, err := m.follow(ctx, last, head)
	if err != nil {
		return next, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil || m.last.seq < next.seq {
		m.last = &next
	}
	return next, nil
}

// follow returns the state after event head, from last, which may be nil, or from the copy.
func (m *memory) follow(ctx context.Context, last *state, head uint64) (state, error) {
	if last == nil || head-last.seq > farBehind {
		return m.read(ctx, head)
	}
	next := *last
	for e, err := range m.log.Events(ctx, last.seq+1, head) {
		if err != nil {
			return next, err
		}
		if e.Type == choir.TypeTimelineRewound || e.Seq != next.seq+1 {
			return m.read(ctx, head) // the copy has the past, and what is damaged now
		}
		if next, err = next.after(&e); err != nil {
			return next, err
		}
	}
	if next.seq < head {
		return m.read(ctx, head)
	}
	return next, nil
}

// read returns the state as of event seq from the SQLite copy.
func (m *memory) read(ctx context.Context, seq uint64) (state, error) {
	s := state{seq: seq}
	var err error
	if s.windows, err = m.log.Windows(ctx, seq); err != nil {
		return s, err
	}
	s.settings, err = m.log.Settings(ctx, seq)
	return s, err
}
