package hub

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

const (
	// relayBatch is the largest number of events that the relay publishes at once.
	relayBatch = 128
	// relayTail is the number of events that are published again after the stream was lost.
	// Readers of older events use the log.
	relayTail = 10_000
	// ackLimit is how long the stream may take to acknowledge an event.
	ackLimit = 10 * time.Second
	// cursorEvery is the least time between two writes of the cursor, because the SQLite copy
	// has only one writer.
	cursorEvery = time.Second
)

// Relay publishes one computer's committed events in order.
//
// It resumes after the last event that the stream has, so that a crash or a lost cursor
// neither repeats nor omits events. If the stream has none of the computer's events (its
// store was lost), it publishes the last relayTail events again; if it has events of
// another log, they are purged and all are published again.
type Relay struct {
	bus            *Server
	src            bus.EventSource
	cursor         bus.Cursor
	user, computer choir.ID
	saved          time.Time     // when the cursor was last written
	refused        uint64        // the event that the stream refused in the last session, 0 for none
	task           uint64        // the last published event of the task feed in this session, 0 for none
	tail           uint64        // relayTail; tests set less
	patience       time.Duration // ackLimit; tests set less
}

// NewRelay returns the relay of a computer, which publishes the events of src.
func NewRelay(s *Server, src bus.EventSource, cursor bus.Cursor, user, computer choir.ID) *Relay {
	return &Relay{bus: s, src: src, cursor: cursor, user: user, computer: computer, tail: relayTail, patience: ackLimit}
}

// Serve publishes events until ctx ends. While the bus is down it retries, after 50 ms at
// first and at most 5 s.
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

// session publishes over one connection until something fails, and returns that error;
// moved reports whether it published events. The connection does not reconnect, because
// buffered messages could then be sent after later ones.
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
	r.task = 0
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

// step waits for events after number at and publishes one batch of them. It returns the
// number of the last event that the stream has.
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

// save stores the cursor, even if ctx has ended.
func (r *Relay) save(ctx context.Context, at uint64) error {
	if at == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackLimit)
	defer cancel()
	return choir.Wrap("bus.relay", "", r.cursor.Save(ctx, at), "move the cursor to event %d", at)
}

// publish sends events in order and waits until the stream has acknowledged all. It returns
// the number of the last acknowledged event; the first refused event ends the session.
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
		r.markTask(msg, events[i])
		// A retry inside the client would overtake the events after it.
		fault.Point("relay.publish")
		ack, err := js.PublishMsgAsync(msg, jetstream.WithRetryAttempts(0))
		if err != nil {
			return at, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "publish event %d", events[i].Seq)
		}
		acks = append(acks, ack)
	}
	return r.awaitAcks(ctx, at, events, acks)
}

// markTask sets in the message of an event of the task feed the number of the feed's
// previous event, so that readers notice a gap.
func (r *Relay) markTask(m *nats.Msg, e choir.Event) {
	if !choir.InTaskFeed(e.Type) {
		return
	}
	if r.task != 0 {
		m.Header.Set(bus.BeforeHeader, formatSeq(r.task))
	}
	r.task = e.Seq
}

// awaitAcks waits for the stream's acknowledgement of each event and returns the number of
// the last acknowledged one, at for none.
func (r *Relay) awaitAcks(ctx context.Context, at uint64, events []choir.Event, acks []jetstream.PubAckFuture) (uint64, error) {
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

// messageID returns the message id by which the stream recognises repetitions: computer
// and event id, because a fork has events with the same ids as its origin.
func messageID(e *choir.Event) string { return string(e.Computer) + "/" + string(e.ID) }

// eventID returns the event id in a message id. Older versions used the event id alone.
func eventID(message string) choir.ID {
	return choir.ID(message[strings.LastIndexByte(message, '/')+1:])
}

// message returns the NATS message of an event.
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
