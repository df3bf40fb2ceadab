package hub

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/choir"
)

// seqHeader is the message header with the event's number in its computer's log.
const seqHeader = "Choir-Seq"

func formatSeq(seq uint64) string { return strconv.FormatUint(seq, 10) }

// delivered is the newest event of a computer that the stream has; seq is 0 for none.
type delivered struct {
	seq uint64
	id  choir.ID
}

// filters returns the subject filters that match the computer's events.
func (r *Relay) filters() [2]string {
	owner := string(r.user) + "." + string(r.computer) + ".>"
	return [2]string{"user." + owner, "agent." + owner}
}

// resume returns the number of the event after which to publish. It purges the computer's
// events from the stream if they are not the log's or are out of order.
func (r *Relay) resume(ctx context.Context, js jetstream.JetStream) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	stream, err := js.Stream(ctx, StreamName)
	if err != nil {
		return 0, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "open the stream %s", StreamName)
	}
	last, err := r.last(ctx, stream)
	if err != nil {
		return 0, err
	}
	if last.seq == 0 {
		return r.resumeEmpty(ctx)
	}
	// What came after a refused event overtook it.
	overtaken := r.refused != 0 && last.seq >= r.refused
	r.refused = 0
	same, err := r.logHas(ctx, last.seq, last.id)
	if err != nil || same && !overtaken {
		return last.seq, err
	}
	for _, filter := range r.filters() {
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(filter)); err != nil {
			return 0, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "purge %s", filter)
		}
	}
	return 0, nil
}

// resumeEmpty returns where to resume if the stream has none of the computer's events: by
// the cursor, less r.tail events; 0 for the beginning.
func (r *Relay) resumeEmpty(ctx context.Context) (uint64, error) {
	at, err := r.cursor.Load(ctx)
	if choir.CodeOf(err) == choir.CodeConflict {
		r.bus.cfg.Log.Warn("the relay begins with the first event", "computer", r.computer, "error", err)
		return 0, nil
	}
	if err != nil || at <= r.tail {
		return 0, err
	}
	// A cursor beyond the log belongs to another log.
	if has, err := r.logHas(ctx, at, ""); err != nil || !has {
		return 0, err
	}
	return at - r.tail, nil
}

// logHas reports whether the log has event seq and, unless id is empty, with this id.
func (r *Relay) logHas(ctx context.Context, seq uint64, id choir.ID) (bool, error) {
	e, err := r.src.At(ctx, seq)
	if code := choir.CodeOf(err); code == choir.CodeNotFound || code == choir.CodeCorrupt {
		return false, nil
	}
	return err == nil && (id == "" || e.ID == id), err
}

// last returns the computer's newest event in the stream. For an unreadable one it returns
// an event that the log cannot have, so that resume purges the stream.
func (r *Relay) last(ctx context.Context, stream jetstream.Stream) (delivered, error) {
	var newest delivered
	for _, filter := range r.filters() {
		msg, err := stream.GetLastMsgForSubject(ctx, filter)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		var refused *jetstream.APIError
		if errors.As(err, &refused) && refused.Code == 500 {
			return delivered{seq: 1, id: "unreadable"}, nil
		}
		if err != nil {
			return newest, choir.Wrap("bus.relay", choir.CodeUnavailable, err, "ask the stream for its last of %s", filter)
		}
		seq, err := strconv.ParseUint(msg.Header.Get(seqHeader), 10, 64)
		if err != nil {
			return delivered{seq: 1, id: "unreadable"}, nil
		}
		if seq > newest.seq {
			newest = delivered{seq: seq, id: eventID(msg.Header.Get(nats.MsgIdHdr))}
		}
	}
	return newest, nil
}
