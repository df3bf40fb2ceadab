package guest

import (
	"context"
	"errors"
	"io"
	"net"

	"choiros/internal/choir"
)

// session is the client's end of one operation.
type session struct {
	*wire
	ctx  context.Context
	stop func() bool
}

// open connects to init and sends the request. The connection closes when ctx ends; the
// caller must close the session.
func (c *Client) open(ctx context.Context, r *request) (*session, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, choir.Wrap("guest."+string(r.Op), dialCode(ctx, err), err, "reach the sandbox")
	}
	s := &session{ctx: ctx}
	if r.Op == opAccept {
		s.wire = newWireOf(conn, smallBuffer)
	} else {
		s.wire = newWire(conn)
	}
	s.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if err := s.writeJSON(frameRequest, r); err != nil {
		err = s.refused(r.Op, err)
		s.close()
		return nil, err
	}
	return s, nil
}

// refused returns the error for a request that could not be sent. It first reads the
// error frame that the server may have sent before it closed; no other goroutine may be
// reading.
func (s *session) refused(o op, err error) error {
	if t, payload, rerr := s.read(); rerr == nil && t == frameError {
		err = unexpected(t, payload)
	}
	return s.fail(o, err)
}

func dialCode(ctx context.Context, err error) choir.Code {
	var e *choir.Error
	if cause := ctx.Err(); cause != nil {
		return codeOf(cause)
	} else if errors.As(err, &e) {
		return e.Code
	}
	return choir.CodeUnavailable
}

func (s *session) close() {
	s.stop()
	s.conn.Close()
}

// fail converts an error of the connection: to the context's error if that has ended, to
// the server's own error if it sent one, else to code unavailable.
func (s *session) fail(o op, err error) error {
	if cause := s.ctx.Err(); cause != nil {
		return choir.Wrap("guest."+string(o), codeOf(cause), cause, "ended")
	}
	var e *choir.Error
	if errors.As(err, &e) {
		return choir.Wrap("guest."+string(o), "", err, "")
	}
	if err == io.EOF || errors.Is(err, net.ErrClosed) {
		err = io.ErrUnexpectedEOF
	}
	return choir.Wrap("guest."+string(o), choir.CodeUnavailable, err, "the sandbox broke the connection off")
}

// reply reads the next frame, which must be a reply, and decodes it into a struct.
func (s *session) reply(o op, into any) error {
	t, payload, err := s.read()
	if err != nil {
		return s.fail(o, err)
	}
	return s.decode(o, t, payload, into)
}

func (s *session) decode(o op, t frameType, payload []byte, into any) error {
	if t != frameReply {
		return s.fail(o, unexpected(t, payload))
	}
	if err := choir.DecodeStrict(payload, into); err != nil {
		return choir.Wrap("guest."+string(o), choir.CodeInvalid, choir.Under("reply", err), "the sandbox answered nonsense")
	}
	return nil
}

// call performs an operation that consists of one request and one reply.
func (c *Client) call(ctx context.Context, r *request, into any) error {
	s, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer s.close()
	return s.reply(r.Op, into)
}
