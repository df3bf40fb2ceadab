package director_test

import (
	"context"
	"sync"

	"choiros/internal/choir"
)

// memlog is a log in memory that keeps the promises of the event store: all or
// none, each id once, roles and payloads checked.
type memlog struct {
	mu      sync.Mutex
	events  []choir.Event
	index   map[choir.ID]int
	changed chan struct{}
	blobs   map[choir.Digest][]byte
}

func newMemlog() *memlog {
	return &memlog{index: map[choir.ID]int{}, changed: make(chan struct{}), blobs: map[choir.Digest][]byte{}}
}

func (m *memlog) append(role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
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
				Run: d.Run, Task: d.Task, Cause: d.Cause, Payload: d.Payload, Blob: d.Blob,
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

func (m *memlog) Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		events, _ := m.EventsAfter(ctx, seq, 1000)
		for _, e := range events {
			if err := fn(e); err != nil {
				return err
			}
			seq = e.Seq
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memlog) PutBlob(_ context.Context, content []byte) (choir.Digest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := choir.DigestOf(content)
	m.blobs[d] = content
	return d, nil
}

func (m *memlog) GetBlob(_ context.Context, d choir.Digest) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.blobs[d]; ok {
		return c, nil
	}
	return nil, choir.E("memlog.get", choir.CodeNotFound, "no blob %s", d)
}
