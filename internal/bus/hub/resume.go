package hub

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/choir"
)

// seqHeader carries an event's sequence number in its computer's log.
const seqHeader = "Choir-Seq"

func formatSeq(seq uint64) string { return strconv.FormatUint(seq, 10) }

// delivered is the newest event of one computer that the stream holds.
type delivered struct {
	seq uint64
	id  choir.ID
}

// filters are the subjects of one computer's events.
func (r *Relay) filters() [2]string {
	owner := string(r.user) + "." + string(r.computer) + ".>"
	return [2]string{"user." + owner, "agent." + owner}
}

// resume finds the event after which to publish.
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

// resumeEmpty goes by the cursor: the stream cannot tell a new computer from
// one whose events it lost.
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

// logHas reports whether the log has an event with this number and, unless it
// is empty, this id.
func (r *Relay) logHas(ctx context.Context, seq uint64, id choir.ID) (bool, error) {
	e, err := r.src.At(ctx, seq)
	if code := choir.CodeOf(err); code == choir.CodeNotFound || code == choir.CodeCorrupt {
		return false, nil
	}
	return err == nil && (id == "" || e.ID == id), err
}

// last asks the stream what it holds. A part of the store that cannot be read
// counts as something else than the log: it is purged.
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
