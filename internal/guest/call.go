package guest

import (
	"context"
	"errors"
	"io"
	"net"

	"choiros/internal/choir"
)

// session is the client's side of one operation.
type session struct {
	*wire
	ctx  context.Context
	stop func() bool
}

// open dials and sends the request. The connection closes when ctx ends.
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

// refused explains why nothing could be sent: the far end may have said why
// before it closed. Nobody else may be reading.
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

// fail explains an error of the connection: a context that ended, an answer
// that the far end left before it closed, or a far end that is gone.
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

// reply reads the reply frame into a struct.
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

// call is an operation of one request and one reply.
func (c *Client) call(ctx context.Context, r *request, into any) error {
	s, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer s.close()
	return s.reply(r.Op, into)
}
