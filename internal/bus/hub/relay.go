package hub

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

const (
	// relayBatch bounds what the relay holds, in events of at most
	// choir.MaxEventBytes each.
	relayBatch = 128
	// relayTail is how many events come again when the stream lost everything;
	// whoever needs older ones reads them from the log.
	relayTail = 10_000
	// ackLimit is how long the stream may take to take one event.
	ackLimit = 10 * time.Second
	// cursorEvery spaces the cursor's writes out: the SQLite copy has one writer.
	cursorEvery = time.Second
)

// EventSource is the log a relay delivers; eventstore.Store is one.
type EventSource interface {
	// At reads one committed event; code not_found.
	At(ctx context.Context, seq uint64) (choir.Event, error)
	// Events reads the committed events of a range in order, both ends included; to 0
	// means all.
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	// WaitPast returns when the log has an event after seq.
	WaitPast(ctx context.Context, seq uint64) error
}

// Relay publishes one computer's committed events in order.
//
// Where it resumes is asked of the stream itself, so neither a crash nor a lost
// cursor makes it publish anything twice or leave anything out. When the stream
// holds nothing of this computer any more (its store was lost), the last
// relayTail events are published again; when it holds something else than the
// log (the log was replaced), its part is purged and filled again from event 1.
type Relay struct {
	bus            *Server
	src            EventSource
	cursor         Cursor
	user, computer choir.ID
	saved          time.Time     // when the cursor was last written
	refused        uint64        // the event the stream said no to in the last session
	tail           uint64        // relayTail, but for tests
	patience       time.Duration // ackLimit, but for tests
}

// NewRelay makes the relay of a computer.
func NewRelay(s *Server, src EventSource, cursor Cursor, user, computer choir.ID) *Relay {
	return &Relay{bus: s, src: src, cursor: cursor, user: user, computer: computer, tail: relayTail, patience: ackLimit}
}

// Serve publishes until ctx ends. An outage of the bus delays it: it tries again
// after 50 ms, then ever later up to 5 s.
func (r *Relay) Serve(ctx context.Context) error {
	const first, last = 50 * time.Millisecond, 5 * time.Second
	for wait := first; ; wait = min(2*wait, last) {
		moved, err := r.session(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.bus.cfg.Log.Warn("the relay lost the bus and comes back", "computer", r.computer, "error", err)
		if moved {
			wait = first
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// session publishes over one connection until something fails. The connection
// never comes back by itself: what it had buffered could then arrive after what
// was published meanwhile.
func (r *Relay) session(ctx context.Context) (moved bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	nc, err := r.bus.ownControl(r.user, r.computer, nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { cancel() }))
	if err != nil {
		return false, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(relayBatch+1))
	if err != nil {
		return false, choir.Wrap("bus.relay", choir.CodeInternal, err, "open JetStream")
	}
	at, err := r.resume(ctx, js)
	if err != nil {
		return false, err
	}
	for {
		next, err := r.step(ctx, js, at)
		if next > at {
			moved, at = true, next
		}
		if err != nil {
			return moved, errors.Join(err, r.save(ctx, at))
		}
	}
}

// step waits for events after at and publishes them; it returns the last that
// the stream holds.
func (r *Relay) step(ctx context.Context, js jetstream.JetStream, at uint64) (uint64, error) {
	if err := r.src.WaitPast(ctx, at); err != nil {
		return at, err
	}
	// A batch is wanted whole: what is published together is acknowledged together.
	events, err := choir.Collect(r.src.Events(ctx, at+1, 0), relayBatch)
	if err != nil {
		return at, err
	}
	if at, err = r.publish(ctx, js, at, events); err != nil {
		return at, err
	}
	if time.Since(r.saved) >= cursorEvery { // a step of the clock is nothing to it
		r.saved = time.Now()
		return at, r.save(ctx, at)
	}
	return at, nil
}

// save moves the cursor, also when the relay is being stopped.
func (r *Relay) save(ctx context.Context, at uint64) error {
	if at == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackLimit)
	defer cancel()
	return choir.Wrap("bus.relay", "", r.cursor.Save(ctx, at), "move the cursor to event %d", at)
}

// publish sends a batch and waits until the stream has all of it. One
// connection keeps the order; the first event the stream did not take ends the
// session, and resume finds out what came after it.
func (r *Relay) publish(ctx context.Context, js jetstream.JetStream, at uint64, events []choir.Event) (uint64, error) {
	acks := make([]jetstream.PubAckFuture, 0, len(events))
	for i := range events {
		if events[i].Seq <= at || i > 0 && events[i].Seq <= events[i-1].Seq {
			return at, choir.E("bus.relay", choir.CodeCorrupt, "event %d came out of the log after a later one", events[i].Seq)
		}
		msg, err := message(events[i])
		if err != nil {
			return at, err
		}
		// A retry inside the client would overtake the events after it.
		fault.Point("relay.publish")
		ack, err := js.PublishMsgAsync(msg, jetstream.WithRetryAttempts(0))
		if err != nil {
			return at, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "publish event %d", events[i].Seq)
		}
		acks = append(acks, ack)
	}
	return r.settle(ctx, at, events, acks)
}

// settle waits for the stream's word on each event of a batch.
func (r *Relay) settle(ctx context.Context, at uint64, events []choir.Event, acks []jetstream.PubAckFuture) (uint64, error) {
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	for i, ack := range acks {
		select {
		case <-ack.Ok():
			at = events[i].Seq
		case err := <-ack.Err():
			r.refused = events[i].Seq
			if said := (*jetstream.APIError)(nil); errors.As(err, &said) {
				r.bus.distrust(err)
			}
			return at, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "publish event %d", events[i].Seq)
		case <-limit.C:
			err := choir.E("bus.relay", choir.CodeTimeout, "the stream did not take event %d within %s", events[i].Seq, r.patience)
			r.bus.distrust(err)
			return at, err
		case <-ctx.Done():
			return at, ctx.Err()
		}
	}
	return at, nil
}

// messageID is what the stream knows an event by. It has the computer in it: ids
// follow from what people choose, such as the id of a task, and a fork has those
// of its past, so that two computers may have one id, and the stream takes a
// message of the same id only once in a while.
func messageID(e *choir.Event) string { return string(e.Computer) + "/" + string(e.ID) }

// eventID is the event's part of a message's id; all of it in messages of older
// versions.
func eventID(message string) choir.ID {
	return choir.ID(message[strings.LastIndexByte(message, '/')+1:])
}

func message(e choir.Event) (*nats.Msg, error) {
	body, err := choir.Canonical(e)
	if err != nil {
		return nil, err
	}
	return &nats.Msg{
		Subject: bus.SubjectFor(e),
		Data:    body,
		Header:  nats.Header{nats.MsgIdHdr: {messageID(&e)}, seqHeader: {formatSeq(e.Seq)}},
	}, nil
}
