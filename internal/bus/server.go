package bus

import (
	"context"
	"io"
	"iter"
	"net"
	"time"

	"choiros/internal/choir"
)

// MaxPayload is the size limit of a message, in bytes. Larger content is sent in chunks.
const MaxPayload = 1 << 20

// Server is the control plane's side of the bus, which cmd binds. Its methods are safe for
// concurrent use.
type Server interface {
	Endpoints
	// Bridge carries the bytes of a client's connection until either side ends or ctx does.
	Bridge(ctx context.Context, nc net.Conn) error
	// Pages counts the connected pages of each computer.
	Pages() (map[choir.ID]int, error)
	// Healthy returns nil if the bus works, else an error with the reason.
	Healthy() error
	// Figures returns the current measurements; all are 0 while the bus does not run.
	Figures() Figures
	// Serve watches over the bus until ctx ends.
	Serve(ctx context.Context) error
	// Close ends every connection.
	Close()
}

// Endpoints are the ends of the bus that one computer has.
type Endpoints interface {
	// Mint returns credentials for one new connection with the permissions of
	// choir.Subjects for this role, user and computer, valid for ttl. Code invalid: a wrong
	// argument.
	Mint(role choir.Role, user, computer choir.ID, ttl time.Duration) (Credentials, error)
	// ServeDoor connects every client of listener to the bus, until ctx ends or Close, which
	// waits for them, and closes the listener.
	ServeDoor(ctx context.Context, listener net.Listener) io.Closer
	// Respond starts answering a computer's commands by h, and returns what ends it.
	Respond(user, computer choir.ID, h Handler) (Responder, error)
	// Relay returns the service that publishes the events of src in order.
	Relay(src EventSource, cursor Cursor, user, computer choir.ID) Service
	// OpenPost opens a connection that tells a computer's pages of changes outside of the
	// log. The caller closes it.
	OpenPost(user, computer choir.ID) (Post, error)
}

// Service runs until its context ends.
type Service interface {
	Serve(ctx context.Context) error
}

// Handler executes one command and returns its reply. The server has authenticated the
// caller, and the role may use the verb. The handler decodes body strictly. The reply is
// encoded as JSON, or is a Large if it may exceed choir.LargeBody; an error is sent as a
// choir.Problem, and code busy makes the client retry.
//
// Verbs must be idempotent: a client that lost its connection sends them again.
type Handler func(ctx context.Context, caller choir.Caller, verb choir.Verb, body []byte) (reply any, err error)

// Large is the digest of a reply that is stored in the computer's blob store.
type Large choir.Digest

// Responder answers the commands of one computer.
type Responder interface {
	// Close refuses new commands, cancels the running ones and waits for them. It closes the
	// connection after all delivered commands are answered.
	Close()
}

// EventSource is the log whose events a relay publishes; eventstore.Store implements it.
type EventSource interface {
	// At returns one committed event; code not_found.
	At(ctx context.Context, seq uint64) (choir.Event, error)
	// Events yields the committed events from number from to number to, both included; to 0
	// means the newest.
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	// WaitPast waits until the log has an event after number seq.
	WaitPast(ctx context.Context, seq uint64) error
}

// Cursor stores how far a relay has published, for the case that the bus lost what it had;
// eventstore.Cursor implements it. It may lag behind.
type Cursor interface {
	// Load returns the number of the newest published event, 0 for none. Code conflict: the
	// cursor belongs to another log.
	Load(ctx context.Context) (uint64, error)
	// Save stores the number of the newest published event.
	Save(ctx context.Context, seq uint64) error
}

// Post tells one computer's pages of changes that are not in the log.
type Post interface {
	// TellDraft publishes that a draft changed. Pages that do not listen read the drafts when
	// they connect.
	TellDraft(d DraftChanged) error
	// Close sends buffered messages and closes the connection.
	Close()
}

// Figures are measurements of the bus.
type Figures struct {
	Connections   int   // of roles, pages and the control plane
	SlowConsumers int64 // connections ended since the bus started because they did not keep up
	StoreBytes    int64 // size of the stream on disk
}

// Fit returns the longest prefix of events that fits in one reply, at least one event.
func Fit(events []choir.Event) []choir.Event {
	const envelope = 512 // everything of an event but its payload, and some
	room := MaxPayload - 4096
	for i := range events {
		if room -= len(events[i].Payload) + envelope + 2*len(events[i].Type); room < 0 && i > 0 {
			return events[:i]
		}
	}
	return events
}
