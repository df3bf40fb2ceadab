// Package session records the sessions of the control plane in the log of one computer:
// the first and the last event of each, and the open ends of a killed session. It works
// on the log alone.
package session

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
)

// Log is the part of a computer's log that a Session reads. eventstore.Store implements
// it.
type Log interface {
	Head() (uint64, choir.Digest)
	Backwards(ctx context.Context, before uint64) iter.Seq2[choir.Event, error]
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// Session is a control plane's session on one computer. UnreturnedCalls and EndBecause are
// safe for concurrent use with every method; the others must be called one after another.
type Session struct {
	log     Log
	events  *appender.Appender // appends to log
	version string
	boot    string
	// recovered says that the session before did not end in order.
	recovered bool
	// because is why the session ends, unless choir stops.
	because atomic.Pointer[string]
}

// New returns the session of a control plane of a version. It reads log, and appends with
// events, which must append to the same log. boot identifies the current boot of the
// machine; empty if it is unknown.
func New(log Log, events *appender.Appender, version, boot string) *Session {
	return &Session{log: log, events: events, version: version, boot: boot}
}

// Before describes how the previous session ended.
type Before struct {
	// Killed says that it did not end in order. Seq is its first event then.
	Killed bool
	Seq    uint64
	// MachineWentDown says that the machine was started anew since.
	MachineWentDown bool
}

// Opening holds what OpenLog may have to append to a log.
type Opening struct {
	Name    string              // of the computer, for a new log
	Repairs []choir.LogRepaired // of the log, since it was open last
	// Lost makes the ends of what the events of a killed session left open.
	Lost func(events iter.Seq2[choir.Event, error]) ([]choir.Payload, error)
}

// OpenLog prepares the log and returns how the previous session ended. To a new log it
// appends computer.created; to an existing one the repairs and, if the previous session
// did not end in order, the payloads of o.Lost. It must be called before Start. A session
// event that cannot be read is code corrupt.
func (s *Session) OpenLog(ctx context.Context, o Opening) (Before, error) {
	var payloads []choir.Payload
	var before Before
	var err error
	if head, _ := s.log.Head(); head == 0 {
		payloads = append(payloads, choir.ComputerCreated{Name: o.Name, Format: 1})
	} else if before, err = s.readBefore(ctx); err == nil && before.Killed {
		payloads, err = o.Lost(s.log.Events(ctx, before.Seq+1, 0))
	}
	for _, r := range o.Repairs {
		payloads = append(payloads, r)
	}
	if err == nil && len(payloads) > 0 {
		_, err = s.events.Append(ctx, choir.RoleControl, payloads...)
	}
	return before, err
}

// readBefore returns how the previous session ended and sets s.recovered.
func (s *Session) readBefore(ctx context.Context) (Before, error) {
	last, err := s.lastEvent(ctx)
	if s.recovered = last != nil && last.Type == choir.TypeSessionStarted; err != nil || !s.recovered {
		return Before{}, err
	}
	down, err := s.wentDownSince(last)
	return Before{Killed: true, Seq: last.Seq, MachineWentDown: down}, err
}

// Recovered reports whether the previous session did not end in order.
func (s *Session) Recovered() bool { return s.recovered }

// Start appends session.started, with the description of the isolation.
func (s *Session) Start(ctx context.Context, isolation string) error {
	_, err := s.events.Append(ctx, choir.RoleControl, choir.SessionStarted{
		Version: s.version, Isolation: isolation, Recovered: s.recovered, Boot: s.boot,
	})
	return err
}

// EndBecause sets the reason for the next end of the session.
func (s *Session) EndBecause(reason string) { s.because.Store(&reason) }

// EndReason returns why the session ends: the reason of EndBecause, or that choir was
// stopped.
func (s *Session) EndReason() string {
	if because := s.because.Load(); because != nil {
		return *because
	}
	return "choir was stopped"
}

// endPatience is the time limit of End.
const endPatience = 5 * time.Second

// End appends session.ended with EndReason, even if ctx has ended. Start may be called
// again afterwards.
func (s *Session) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	_, err := s.events.Append(ctx, choir.RoleControl, choir.SessionEnded{Reason: s.EndReason()})
	s.recovered = err != nil
	s.because.Store(nil)
	return err
}

// lastEvent returns the newest event in the log that starts or ends a session, or starts
// the computer from another's past; nil if there is none.
func (s *Session) lastEvent(ctx context.Context) (*choir.Event, error) {
	for e, err := range s.log.Backwards(ctx, 0) {
		if err != nil {
			return nil, err
		}
		switch e.Type {
		case choir.TypeSessionStarted, choir.TypeSessionEnded, choir.TypeComputerForked, choir.TypeComputerImported:
			return &e, nil
		}
	}
	return nil, nil
}

// UnreturnedCalls returns the model.called events without a model.returned of the log's
// last session. It returns none if that session ended in order, because then every call
// has its end.
func (s *Session) UnreturnedCalls(ctx context.Context) ([]choir.Event, error) {
	last, err := s.lastEvent(ctx)
	if err != nil || last == nil || last.Type != choir.TypeSessionStarted {
		return nil, err
	}
	var open []choir.Event
	for e, err := range s.log.Events(ctx, last.Seq+1, 0) {
		if err != nil {
			return open, err
		}
		switch e.Type {
		case choir.TypeModelCalled:
			open = append(open, e)
		case choir.TypeModelReturned:
			open = slices.DeleteFunc(open, func(called choir.Event) bool { return called.ID == e.Cause })
		}
	}
	return open, nil
}

// wentDownSince reports whether the machine was booted again since a session.started
// event; false if either boot is unknown.
func (s *Session) wentDownSince(started *choir.Event) (bool, error) {
	p, err := choir.ReadPayload(started.Type, started.Payload)
	if err != nil {
		return false, choir.Wrap("computer.open", choir.CodeCorrupt, err, "event %d", started.Seq)
	}
	before := p.(*choir.SessionStarted).Boot
	return before != "" && s.boot != "" && before != s.boot, nil
}
