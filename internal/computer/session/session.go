// Package session is the sessions of the control plane in the log of one computer: the
// first and the last event of each, and what one that was killed left open. It works on
// the log alone.
package session

import (
	"context"
	"iter"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
)

// Log is what a Session reads of its computer's log; eventstore.Store is one.
type Log interface {
	Head() (uint64, choir.Digest)
	Backwards(ctx context.Context, before uint64) iter.Seq2[choir.Event, error]
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// Session is the session of a control plane on one computer. UnreturnedCalls may be called
// at once with all; the others are called one after the other.
type Session struct {
	log     Log
	events  *appender.Appender // appends to log
	version string
	boot    string
	// recovered says that the session before did not end in order.
	recovered bool
}

// New makes the session of a control plane of a version. It reads log and appends with
// events, which must append to the same log. boot names the time since the machine was
// started; empty when that is not known.
func New(log Log, events *appender.Appender, version, boot string) *Session {
	return &Session{log: log, events: events, version: version, boot: boot}
}

// Before is how the session before ended.
type Before struct {
	// Killed says that it did not end in order. Seq is its first event then.
	Killed bool
	Seq    uint64
	// MachineWentDown says that the machine was started anew since.
	MachineWentDown bool
}

// Opening is what a log that is opened may need.
type Opening struct {
	Name    string              // of the computer, for a new log
	Repairs []choir.LogRepaired // of the log, since it was open last
	// Lost makes the ends of what the events of a killed session left open.
	Lost func(events iter.Seq2[choir.Event, error]) ([]choir.Payload, error)
}

// OpenLog appends the first event of a new log, and to an old one the ends of what a
// killed session left open, and the repairs. It returns how the session before ended, and
// is called before Start. Code corrupt when the log's event of that cannot be read.
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

// readBefore finds out how the session before ended.
func (s *Session) readBefore(ctx context.Context) (Before, error) {
	last, err := s.lastEvent(ctx)
	if s.recovered = last != nil && last.Type == choir.TypeSessionStarted; err != nil || !s.recovered {
		return Before{}, err
	}
	down, err := s.wentDownSince(last)
	return Before{Killed: true, Seq: last.Seq, MachineWentDown: down}, err
}

// Recovered reports whether the session follows one that did not end in order.
func (s *Session) Recovered() bool { return s.recovered }

// Start appends the first event of the session.
func (s *Session) Start(ctx context.Context, isolation string) error {
	_, err := s.events.Append(ctx, choir.RoleControl, choir.SessionStarted{
		Version: s.version, Isolation: isolation, Recovered: s.recovered, Boot: s.boot,
	})
	return err
}

// endPatience bounds how long the end of a session may take.
const endPatience = 5 * time.Second

// End appends that the session ended in order, also when ctx has ended. A further Start
// follows this session.
func (s *Session) End(ctx context.Context, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	_, err := s.events.Append(ctx, choir.RoleControl, choir.SessionEnded{Reason: reason})
	s.recovered = err != nil
	return err
}

// lastEvent returns the newest session event in the log; nil when there is none.
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

// UnreturnedCalls lists the model.called that have no model.returned, of the
// session that the log ends in. It looks at nothing when that session ended in
// order, because then its gateway wrote the end of every call.
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

// wentDownSince reports whether the machine was started anew since a session that did not
// end.
func (s *Session) wentDownSince(started *choir.Event) (bool, error) {
	p, err := choir.ReadPayload(started.Type, started.Payload)
	if err != nil {
		return false, choir.Wrap("computer.open", choir.CodeCorrupt, err, "event %d", started.Seq)
	}
	before := p.(*choir.SessionStarted).Boot
	return before != "" && s.boot != "" && before != s.boot, nil
}
