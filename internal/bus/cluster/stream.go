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
	// Replicas is on how many nodes an event lies; a majority has it when it is
	// acknowledged.
	Replicas = 3
	// askLimit bounds one question to the cluster. It has no leader for some
	// seconds after it lost one.
	askLimit = 2 * time.Second
)

// StreamName is the stream of a computer's log.
func StreamName(computer choir.ID) string { return "CHOIR_LOG_" + string(computer) }

// Subject is what the events of a computer's log are published on.
func Subject(computer choir.ID) string { return "choir.log." + string(computer) }

// streamConfig: nothing is ever discarded, and nobody can remove a part of it.
// A message is found under its event's number and is read from the leader.
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

// openStream opens a computer's stream, making it when there is none.
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
		return nil, choir.E("cluster.stream", choir.CodeConflict, "the stream %s has %d replicas, not %d", StreamName(computer), n, Replicas).
			WithRemedy("nats stream edit %s --replicas=%d", StreamName(computer), Replicas)
	}
	return stream, nil
}

// eventAt reads one event of the copy from the stream's leader.
func eventAt(ctx context.Context, stream jetstream.Stream, seq uint64) (choir.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	m, err := stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return choir.Event{}, choir.E("cluster.read", choir.CodeCorrupt, "the cluster's copy lacks event %d", seq)
	}
	if err != nil {
		return choir.Event{}, choir.Wrap("cluster.read", choir.CodeUnavailable, err, "read event %d", seq)
	}
	return choir.DecodeEvent(m.Data)
}

// message is an event on its way: stored as message n or refused, and known
// again when it comes twice.
func message(computer choir.ID, e *choir.Event) (*nats.Msg, error) {
	raw, err := choir.EncodeEvent(e)
	if err != nil {
		return nil, choir.Wrap("cluster.publish", "", err, "encode event %d", e.Seq)
	}
	return &nats.Msg{Subject: Subject(computer), Data: raw, Header: nats.Header{nats.MsgIdHdr: {string(e.ID)}}}, nil
}
