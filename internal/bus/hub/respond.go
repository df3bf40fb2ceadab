package hub

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// Responder answers the commands of one computer.
type Responder struct {
	user, computer choir.ID
	handle         bus.Handler
	log            *slog.Logger
	nc             *nats.Conn
	gone           chan struct{} // closed when nc is closed
	lanes          *lanes
}

// drainLimit is how long Close waits for the remaining replies to be sent.
const drainLimit = 5 * time.Second

// Respond starts answering a computer's commands by h, on a connection that may publish
// only to inboxes, and returns the Responder, which the caller closes. Each role has limits
// of its own; commands beyond them are refused with code busy.
func Respond(s *Server, user, computer choir.ID, h bus.Handler) (*Responder, error) {
	if !user.Valid() || !computer.Valid() {
		return nil, choir.Invalid("computer", "answering needs a user and a computer, not %q and %q", user, computer)
	}
	r := &Responder{user: user, computer: computer, handle: h, log: s.cfg.Log, gone: make(chan struct{}), lanes: newLanes()}
	closed := nats.ClosedHandler(func(*nats.Conn) { close(r.gone) })
	var err error
	if r.nc, err = s.own(answering(user, computer), newConnection(), nats.PermissionErrOnSubscribe(true), nats.DrainTimeout(drainLimit), closed); err != nil {
		return nil, err
	}
	_, err = r.nc.Subscribe("cmd."+string(user)+"."+string(computer)+".*.*.*", r.handleCommand)
	if err == nil {
		err = r.nc.Flush()
	}
	if err != nil {
		r.Close()
		return nil, choir.Wrap("bus.respond", choir.CodeUnavailable, err, "listen for commands of %s", computer)
	}
	return r, nil
}

// handleCommand checks a command and queues it, or refuses it. It is the subscription's
// callback and never blocks.
func (r *Responder) handleCommand(m *nats.Msg) {
	caller, verb, err := bus.ParseCommand(m.Subject)
	if err != nil {
		return // the subscription lets nothing else through
	}
	// A reply anywhere but in the caller's own inbox would be this connection
	// speaking for the caller: no answer, not even a refusal.
	if !strings.HasPrefix(m.Reply, bus.InboxPrefix(caller.Connection)+".") {
		r.log.Warn("a command asked for its reply outside its own inbox", "role", caller.Role, "computer", r.computer, "reply", m.Reply)
		return
	}
	info, ok := choir.LookupVerb(verb)
	if !ok || !info.MayAsk(caller.Role) {
		r.answer(m, nil, choir.E("bus.respond", choir.CodeForbidden, "the %s may not ask for %q", caller.Role, verb))
		return
	}
	j := job{bytes: len(m.Data), do: func(ctx context.Context) {
		reply, err := r.run(ctx, caller, verb, m.Data)
		r.answer(m, reply, err)
	}}
	if err := r.lanes.submit(caller.Role, j); err != nil {
		r.answer(m, nil, err)
	}
}

// run calls the handler and returns its reply. A panic becomes an error with code internal;
// an error of a cancelled handler gets code busy, so that the client retries.
func (r *Responder) run(ctx context.Context, caller choir.Caller, verb choir.Verb, body []byte) (reply any, err error) {
	defer func() {
		// One computer's command must not take the others down with it.
		if p := recover(); p != nil {
			err = choir.E("bus.respond", choir.CodeInternal, "%s of the %s: %v\n%s", verb, caller.Role, p, debug.Stack())
		}
	}()
	reply, err = r.handle(ctx, caller, verb, body)
	if err != nil && ctx.Err() != nil {
		err = errClosing
	}
	return reply, err
}

// answer sends the reply or the error to the sender of m. If that fails, the client will
// ask again.
func (r *Responder) answer(m *nats.Msg, reply any, err error) {
	body := envelope(reply, err)
	if choir.CodeOf(err) == choir.CodeInternal {
		r.log.Error("a command failed", "subject", m.Subject, "error", err)
	}
	if err := r.nc.Publish(m.Reply, body); err != nil {
		r.log.Warn("a reply was not sent", "subject", m.Subject, "error", err)
	}
}

// envelope returns the encoded choir.Reply with the reply or the error. A reply that is too
// large or cannot be encoded becomes an error.
func envelope(reply any, err error) []byte {
	if err == nil {
		body, bad := encode(reply)
		switch {
		case bad != nil:
			err = choir.Wrap("bus.respond", choir.CodeInternal, bad, "encode %T", reply)
		case len(body) > bus.MaxPayload:
			err = choir.E("bus.respond", choir.CodeTooLarge, "the reply has %d bytes, more than %d", len(body), bus.MaxPayload).
				WithRemedy("ask for less at a time")
		default:
			return body
		}
	}
	body, bad := json.Marshal(choir.Reply{Error: choir.ProblemOf(err)})
	if bad != nil { // a problem is three strings and a code
		return []byte(`{"error":{"code":"internal","message":"the refusal could not be encoded"}}`)
	}
	return body
}

// encode returns the encoded choir.Reply with a successful reply.
func encode(reply any) ([]byte, error) {
	if at, ok := reply.(bus.Large); ok {
		return json.Marshal(choir.Reply{Large: choir.Digest(at)})
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return nil, err
	}
	return json.Marshal(choir.Reply{OK: body})
}

// Close refuses new commands, cancels the running ones and waits for them. It closes the
// connection after all delivered commands are answered.
func (r *Responder) Close() {
	r.lanes.close()
	if err := r.nc.Drain(); err != nil { // the connection is lost, and what it held with it
		r.nc.Close()
	}
	<-r.gone
}
