package hub

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// StreamName is the name of the stream with the events of all computers.
const StreamName = "EVENTS"

// dedupeWindow is how long the stream remembers message ids. A relay that resumes later
// asks for the stream's last event and so repeats nothing.
const dedupeWindow = 2 * time.Minute

// streamConfig returns the stream's configuration with a size limit of max bytes. The
// oldest events are discarded first; readers of those use the log.
func streamConfig(max int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        StreamName,
		Description: "committed events, delivered; the log is the truth",
		Subjects:    []string{"user.*.*.>", "agent.*.*.*.>"},
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		MaxBytes:    max,
		MaxMsgSize:  bus.MaxPayload,
		Duplicates:  dedupeWindow,
		AllowDirect: true,
	}
}

// ensureStream creates or updates the stream, of at most size bytes, on the server ns.
func (s *Server) ensureStream(ctx context.Context, ns nats.InProcessConnProvider, size int64) error {
	// Its key never leaves the process, so it has no expiry that a step of the
	// clock could reach before the connection does.
	connection := newConnection()
	creds, err := s.mint(permissions(choir.Caller{Role: choir.RoleControl, Connection: connection}), connection, 0)
	if err != nil {
		return err
	}
	nc, err := connect(ns, creds, nats.NoReconnect())
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return choir.Wrap("bus.start", choir.CodeInternal, err, "open JetStream")
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	_, err = js.CreateOrUpdateStream(ctx, streamConfig(size))
	return choir.Wrap("bus.start", choir.CodeUnavailable, err, "make the stream %s", StreamName)
}
