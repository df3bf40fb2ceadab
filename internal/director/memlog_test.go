package director_test

import (
	"context"
	"sync"

	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
)

// memlog is a log in memory that keeps the promises of the event store: all or
// none, each id once, roles and payloads checked.
type memlog struct {
	home    bustest.Home
	mu      sync.Mutex
	events  []choir.Event
	index   map[choir.ID]int
	changed chan struct{}
}

func newMemlog(home bustest.Home) *memlog {
	return &memlog{home: home, index: map[choir.ID]int{}, changed: make(chan struct{})}
}

func (m *memlog) Append(_ context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range drafts {
		info, ok := choir.LookupType(d.Type)
		if !ok || !info.MayAppend(role) {
			return nil, choir.E("memlog.append", choir.CodeForbidden, "%s may not append %s", role, d.Type)
		}
		if _, err := choir.DecodePayload(d.Type, d.Payload); err != nil {
			return nil, err
		}
		if len(d.Payload) > choir.InlineLimit {
			return nil, choir.E("memlog.append", choir.CodeTooLarge, "%s has %d bytes", d.Type, len(d.Payload))
		}
	}
	receipts := make([]choir.Receipt, len(drafts))
	for i, d := range drafts {
		at, dup := m.index[d.ID]
		if !dup {
			at = len(m.events)
			m.index[d.ID] = at
			m.events = append(m.events, choir.Event{
				Seq: uint64(at + 1), ID: d.ID, Time: began + choir.Time(at), Source: role.Source(), Type: d.Type,
				Computer: m.home.Computer, User: m.home.User, PrevHash: choir.ZeroHash, Hash: choir.ZeroHash, Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
			})
		}
		receipts[i] = choir.Receipt{Seq: uint64(at + 1), ID: d.ID, Duplicate: dup}
	}
	close(m.changed)
	m.changed = make(chan struct{})
	return receipts, nil
}

func (m *memlog) EventsAfter(_ context.Context, seq uint64, limit int) ([]choir.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.events[min(int(seq), len(m.events)):]
	return append([]choir.Event(nil), rest[:min(limit, len(rest))]...), nil
}

func (m *memlog) WaitPast(ctx context.Context, seq uint64) error {
	for {
		m.mu.Lock()
		n, changed := uint64(len(m.events)), m.changed
		m.mu.Unlock()
		if n > seq {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memlog) Head() (uint64, choir.Digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.events)), choir.ZeroHash
}

func (m *memlog) Event(_ context.Context, id choir.ID) (choir.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.index[id]; ok {
		return m.events[at], nil
	}
	return choir.Event{}, choir.E("memlog.event", choir.CodeNotFound, "no event %s", id)
}

func (m *memlog) EventsOfRun(_ context.Context, run choir.ID, after uint64, limit int) ([]choir.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []choir.Event
	for _, e := range m.events {
		if e.Run == run && e.Seq > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}
