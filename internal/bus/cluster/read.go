package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/choir"
)

// readLimit is how long a read waits for the cluster's next message.
const readLimit = 30 * time.Second

// Nodes implements replica.Cluster.
func (c Config) Nodes() []string { return c.Servers }

// Read implements replica.Cluster.
func (c Config) Read(ctx context.Context, computer choir.ID, fn func(seq uint64, raw []byte) error) error {
	nc, err := c.connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return choir.Wrap("cluster.read", choir.CodeInternal, err, "open JetStream")
	}
	stream, err := find(ctx, js, computer)
	if err != nil {
		return err
	}
	last := stream.CachedInfo().State.LastSeq
	if last == 0 {
		return nil
	}
	consumer, err := ordered(ctx, stream)
	if err != nil {
		return choir.Wrap("cluster.read", choir.CodeUnavailable, err, "read the stream %s", StreamName(computer))
	}
	messages, err := consumer.Messages()
	if err != nil {
		return choir.Wrap("cluster.read", choir.CodeUnavailable, err, "read the stream %s", StreamName(computer))
	}
	defer messages.Stop()
	for seq := uint64(1); seq <= last; seq++ {
		if err := next(ctx, messages, seq, fn); err != nil {
			return err
		}
	}
	return nil
}

// ordered returns an in-memory consumer of the stream from its first message. It retries
// while the cluster, electing a leader, does not answer.
func ordered(ctx context.Context, stream jetstream.Stream) (c jetstream.Consumer, err error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	for {
		asking, cancel := context.WithTimeout(ctx, askLimit)
		c, err = stream.OrderedConsumer(asking, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return c, err
		}
	}
}

// find returns the stream of a computer's log. Code not_found: there is none.
func find(ctx context.Context, js jetstream.JetStream, computer choir.ID) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	stream, err := js.Stream(ctx, StreamName(computer))
	code := choir.CodeUnavailable
	if err == jetstream.ErrStreamNotFound {
		code = choir.CodeNotFound
	}
	return stream, choir.Wrap("cluster.read", code, err, "find the stream %s", StreamName(computer))
}

// next calls fn with the next message, which must be event seq. Code corrupt: events are missing.
func next(ctx context.Context, messages jetstream.MessagesContext, seq uint64, fn func(uint64, []byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	m, err := messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return choir.Wrap("cluster.read", choir.CodeUnavailable, err, "read event %d of the cluster's copy", seq)
	}
	meta, err := m.Metadata()
	if err != nil {
		return choir.Wrap("cluster.read", choir.CodeInternal, err, "read event %d of the cluster's copy", seq)
	}
	if meta.Sequence.Stream != seq {
		return choir.Refuse("cluster.read", choir.ReasonClusterLacksSome, choir.TextOf("from", seq), choir.TextOf("to", meta.Sequence.Stream-1))
	}
	return fn(seq, m.Data())
}

// Probe implements replica.Cluster: the cluster must have JetStream.
func (c Config) Probe(ctx context.Context) error {
	nc, err := c.connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return choir.Wrap("cluster.probe", choir.CodeInternal, err, "open JetStream")
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	_, err = js.AccountInfo(ctx)
	return choir.Wrap("cluster.probe", choir.CodeUnavailable, err, "ask the cluster for JetStream")
}
