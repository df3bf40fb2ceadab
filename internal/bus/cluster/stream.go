package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/choir"
)

const (
	// Replicas is the number of nodes that store an event. An event is acknowledged when a
	// majority has it.
	Replicas = 3
	// askLimit is the time limit of one request. A cluster that lost its leader does not
	// answer for some seconds.
	askLimit = 2 * time.Second
)

// StreamName returns the name of the stream with a computer's log.
func StreamName(computer choir.ID) string { return "CHOIR_LOG_" + string(computer) }

// Subject returns the subject on which the events of a computer's log are published.
func Subject(computer choir.ID) string { return "choir.log." + string(computer) }

// streamConfig returns the configuration of a computer's stream: it keeps everything, and
// refuses deletes and purges.
func streamConfig(computer choir.ID) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        StreamName(computer),
		Description: "the log of one computer: message n is event n",
		Subjects:    []string{Subject(computer)},
		Storage:     jetstream.FileStorage,
		Replicas:    Replicas,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew,
		MaxMsgSize:  choir.MaxEventBytes + 4096, // an event and its headers
		DenyDelete:  true,
		DenyPurge:   true,
	}
}

// openStream opens a computer's stream, and creates it if it is missing. Code conflict: it
// has too few replicas.
func openStream(ctx context.Context, js jetstream.JetStream, computer choir.ID) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	stream, err := js.Stream(ctx, StreamName(computer))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, streamConfig(computer))
	}
	if err != nil {
		return nil, choir.Wrap("cluster.stream", choir.CodeUnavailable, err, "open the stream %s", StreamName(computer))
	}
	if n := stream.CachedInfo().Config.Replicas; n < Replicas {
		return nil, choir.Refuse("cluster.stream", choir.ReasonClusterReplicas, choir.TextOf("stream", StreamName(computer)), choir.CountOf("n", n), choir.TextOf("wanted", Replicas))
	}
	return stream, nil
}

// eventAt returns event seq of the copy, read from the stream's leader. Code corrupt: the
// copy lacks it.
func eventAt(ctx context.Context, stream jetstream.Stream, seq uint64) (choir.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	m, err := stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return choir.Event{}, choir.Refuse("cluster.read", choir.ReasonClusterLacks, choir.TextOf("event", seq))
	}
	if err != nil {
		return choir.Event{}, choir.Wrap("cluster.read", choir.CodeUnavailable, err, "read event %d", seq)
	}
	return choir.DecodeEvent(m.Data)
}

// message returns the message of an event. Its id lets the stream recognise a repetition.
func message(computer choir.ID, e *choir.Event) (*nats.Msg, error) {
	raw, err := choir.EncodeEvent(e)
	if err != nil {
		return nil, choir.Wrap("cluster.publish", "", err, "encode event %d", e.Seq)
	}
	return &nats.Msg{Subject: Subject(computer), Data: raw, Header: nats.Header{nats.MsgIdHdr: {string(e.ID)}}}, nil
}
