package bustest

import (
	"cmp"
	"context"
	"iter"
	"strconv"
	"sync"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// Log is a log in memory that implements bus.EventSource. Its events are derived from
// computer and salt, so that a restarted process makes the same ones.
type Log struct {
	Home Home
	Salt string
	// Tasks makes every sixth event dispatch a task.
	Tasks bool
	// Base is the id from which the ids of events are derived; by default the computer's.
	Base choir.ID

	mu     sync.Mutex
	events []choir.Event
	grown  chan struct{} // closed, and replaced, by every append
}

// NewLog returns an empty log of h's computer.
func NewLog(h Home) *Log { return &Log{Home: h, grown: make(chan struct{})} }

// Append appends n generated events: every third belongs to one of eight runs.
func (l *Log) Append(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		l.events = append(l.events, l.event(uint64(len(l.events)+1)))
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// event returns the generated event with number seq.
func (l *Log) event(seq uint64) choir.Event {
	e := choir.Event{
		Seq: seq, ID: choir.DeriveID(cmp.Or(l.Base, l.Home.Computer), l.Salt, strconv.FormatUint(seq, 10)), Time: l.Home.Computer.Time(),
		Computer: l.Home.Computer, User: l.Home.User, Source: choir.SourceSystem, Type: choir.TypeSessionStarted,
		Payload: []byte(`{}`), PrevHash: choir.ZeroHash, Hash: choir.ZeroHash,
	}
	if seq%3 == 0 {
		e.Type, e.Run = choir.TypeToolCalled, choir.DeriveID(l.Home.Computer, "run", strconv.FormatUint(seq/1000%8, 10))
	}
	if l.Tasks && seq%6 == 0 {
		e.Type, e.Task = choir.TypeTaskDispatched, choir.DeriveID(l.Home.Computer, "task", strconv.FormatUint(seq, 10))
	}
	return e
}

// Head returns the number of the newest event, 0 for none.
func (l *Log) Head() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.events))
}

// At satisfies bus.EventSource.
func (l *Log) At(ctx context.Context, seq uint64) (choir.Event, error) {
	events, err := l.EventsAfter(ctx, seq-1, 1)
	if err == nil && len(events) == 0 {
		err = choir.E("bustest.log", choir.CodeNotFound, "no event %d", seq)
	}
	if err != nil {
		return choir.Event{}, err
	}
	return events[0], nil
}

// Events satisfies bus.EventSource.
func (l *Log) Events(_ context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		l.mu.Lock()
		events := l.events[:len(l.events):len(l.events)] // appending changes none of them
		l.mu.Unlock()
		for _, e := range events {
			if e.Seq >= from && (to == 0 || e.Seq <= to) && !yield(e, nil) {
				return
			}
		}
	}
}

// EventsAfter returns up to limit events after number seq.
func (l *Log) EventsAfter(_ context.Context, seq uint64, limit int) ([]choir.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq >= uint64(len(l.events)) {
		return nil, nil
	}
	rest := l.events[seq:]
	return append([]choir.Event(nil), rest[:min(limit, len(rest))]...), nil
}

// WaitPast satisfies bus.EventSource.
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

// Answer executes the verb events-after.
func (l *Log) Answer(ctx context.Context, body []byte) (choir.EventsAfterReply, error) {
	var req choir.EventsAfterRequest
	if err := choir.DecodeStrict(body, &req); err != nil {
		return choir.EventsAfterReply{}, err
	}
	if req.Limit == 0 {
		req.Limit = choir.MaxEventsAfter
	}
	events, err := l.EventsAfter(ctx, req.Seq, req.Limit)
	return choir.EventsAfterReply{Events: bus.Fit(events), Head: l.Head()}, err
}

// AnswerTasks executes the verb tasks-after, in pages of 100 events of the log.
func (l *Log) AnswerTasks(ctx context.Context, body []byte) (choir.TasksAfterReply, error) {
	var req choir.TasksAfterRequest
	if err := choir.DecodeStrict(body, &req); err != nil {
		return choir.TasksAfterReply{}, err
	}
	reply := choir.TasksAfterReply{Events: []choir.Event{}, Next: req.Seq, Head: l.Head()}
	page, err := l.EventsAfter(ctx, req.Seq, 100)
	for _, e := range page {
		if reply.Next = e.Seq; choir.InTaskFeed(e.Type) {
			reply.Events = append(reply.Events, e)
		}
	}
	return reply, err
}
