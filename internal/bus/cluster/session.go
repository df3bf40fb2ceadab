package cluster

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// window limits the events that are sent and not yet acknowledged.
const window = 256

// sent is an event that is sent and not yet acknowledged.
type sent struct {
	seq uint64
	ack jetstream.PubAckFuture
}

// session copies events over one connection until something fails, and returns that error.
func (r *Replica) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	nc, err := r.cfg.connect(nats.ClosedHandler(func(nc *nats.Conn) { cancel(lost(nc.LastError())) }))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*window), jetstream.WithPublishAsyncTimeout(askLimit))
	if err != nil {
		return choir.Wrap("cluster.session", choir.CodeInternal, err, "open JetStream")
	}
	at, err := r.resume(ctx, js)
	if err != nil {
		return err
	}
	r.change(at, nil)
	way := make(chan sent, window)
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		if err := r.awaitAcks(ctx, way); err != nil {
			cancel(err)
		}
	}()
	// What ended the session first is the cause.
	cancel(r.publish(ctx, js, at, way))
	close(way)
	<-settled
	return context.Cause(ctx)
}

// lost returns the error for a connection that ended with err, which may be nil.
func lost(err error) error {
	if err == nil {
		err = nats.ErrConnectionClosed
	}
	return choir.Wrap("cluster.session", choir.CodeUnavailable, err, "the connection to the cluster ended")
}

// resume returns the number of the copy's last event, 0 for none. Code conflict: the copy
// is incomplete, ahead of the log, or of another log.
func (r *Replica) resume(ctx context.Context, js jetstream.JetStream) (uint64, error) {
	stream, err := openStream(ctx, js, r.computer)
	if err != nil {
		return 0, err
	}
	state := stream.CachedInfo().State
	if state.LastSeq == 0 {
		return 0, nil
	}
	if state.FirstSeq != 1 || state.Msgs != state.LastSeq {
		return 0, choir.Refuse("cluster.resume", choir.ReasonClusterRemovedSome, choir.TextOf("stream", StreamName(r.computer)), choir.CountOf("n", state.Msgs), choir.TextOf("from", state.FirstSeq), choir.TextOf("to", state.LastSeq))
	}
	head, _ := r.src.Head()
	if state.LastSeq > head {
		return 0, choir.Refuse("cluster.resume", choir.ReasonClusterAhead, choir.TextOf("event", state.LastSeq), choir.TextOf("head", head))
	}
	theirs, err := eventAt(ctx, stream, state.LastSeq)
	if err != nil {
		return 0, err
	}
	ours, err := r.src.At(ctx, state.LastSeq)
	if err != nil {
		return 0, err
	}
	if ours.Hash != theirs.Hash {
		return 0, choir.Refuse("cluster.resume", choir.ReasonClusterOtherLog, choir.TextOf("event", state.LastSeq), choir.TextOf("stream", StreamName(r.computer)))
	}
	return state.LastSeq, nil
}

// publish sends the events after number at in order, each to way for its acknowledgement.
func (r *Replica) publish(ctx context.Context, js jetstream.JetStream, at uint64, way chan<- sent) error {
	for e, err := range r.src.Follow(ctx, at) {
		if err != nil {
			return err
		}
		if e.Seq != at+1 {
			return choir.E("cluster.publish", choir.CodeCorrupt, "event %d came out of the log after event %d", e.Seq, at)
		}
		msg, err := message(r.computer, &e)
		if err != nil {
			return err
		}
		fault.Point("cluster.publish")
		// A retry inside the client would overtake the events after it.
		ack, err := js.PublishMsgAsync(msg, jetstream.WithRetryAttempts(0), jetstream.WithExpectStream(StreamName(r.computer)), jetstream.WithExpectLastSequence(at))
		if err != nil {
			return choir.Wrap("cluster.publish", choir.CodeUnavailable, err, "publish event %d", e.Seq)
		}
		at = e.Seq
		select {
		case way <- sent{at, ack}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// awaitAcks records the acknowledgement of each event received from way. It returns the
// first error.
func (r *Replica) awaitAcks(ctx context.Context, way <-chan sent) error {
	for s := range way {
		select {
		case ack := <-s.ack.Ok():
			if ack.Sequence != s.seq {
				return choir.E("cluster.publish", choir.CodeConflict, "event %d is message %d of the stream %s: it holds another log", s.seq, ack.Sequence, StreamName(r.computer))
			}
			r.change(s.seq, nil)
		case err := <-s.ack.Err():
			return choir.Wrap("cluster.publish", choir.CodeUnavailable, err, "publish event %d", s.seq)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
