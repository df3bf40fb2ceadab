package bustest

import (
	"context"
	"sync"
	"testing"
	"time"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// Log is a log in memory: an EventSource without a disk.
type Log struct {
	Home Home

	mu     sync.Mutex
	events []choir.Event
	runs   [8]choir.ID
	grown  chan struct{} // closed and replaced at every append
}

// NewLog makes an empty log.
func NewLog(h Home) *Log { return &Log{Home: h, grown: make(chan struct{})} }

// Append adds n events, every third one with a run.
func (l *Log) Append(t testing.TB, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		seq := uint64(len(l.events) + 1)
		e := choir.Event{
			Seq: seq, ID: NewID(t), Time: choir.TimeOf(time.Now()), Computer: l.Home.Computer, User: l.Home.User,
			Source: choir.SourceSystem, Type: "session.started", Payload: []byte(`{}`),
			PrevHash: choir.ZeroHash, Hash: choir.ZeroHash,
		}
		if seq%3 == 0 {
			run := &l.runs[seq/1000%8]
			if *run == "" {
				*run = e.ID
			}
			e.Type, e.Run = "tool.called", *run
		}
		l.events = append(l.events, e)
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// Head is the newest sequence number.
func (l *Log) Head() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.events))
}

// EventsAfter satisfies hub.EventSource.
func (l *Log) EventsAfter(_ context.Context, seq uint64, limit int) ([]choir.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq >= uint64(len(l.events)) {
		return nil, nil
	}
	rest := l.events[seq:]
	return append([]choir.Event(nil), rest[:min(limit, len(rest))]...), nil
}

// WaitPast satisfies hub.EventSource.
func (l *Log) WaitPast(ctx context.Context, seq uint64) error {
	for {
		l.mu.Lock()
		head, grown := uint64(len(l.events)), l.grown
		l.mu.Unlock()
		if head > seq {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Answer answers events-after.
func (l *Log) Answer(ctx context.Context, body []byte) (choir.EventsAfterReply, error) {
	var req choir.EventsAfterRequest
	if err := choir.DecodeStrict(body, &req); err != nil {
		return choir.EventsAfterReply{}, err
	}
	if req.Limit == 0 {
		req.Limit = choir.MaxEventsAfter
	}
	events, err := l.EventsAfter(ctx, req.Seq, req.Limit)
	return choir.EventsAfterReply{Events: hub.Fit(events), Head: l.Head()}, err
}
