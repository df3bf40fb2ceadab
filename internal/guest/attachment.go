package guest

import (
	"context"
	"sync"

	"choiros/internal/choir"
)

// Attach registers this control plane as present. After 60 seconds with none attached
// init ends the sandbox. ctx bounds only the call; the attachment lasts until Close or
// the end of the sandbox.
func (c *Client) Attach(ctx context.Context) (*Attachment, error) {
	s, err := c.open(ctx, &request{Op: opAttach})
	if err != nil {
		return nil, err
	}
	if _, err := s.control(opAttach); err != nil {
		s.close()
		return nil, err
	}
	if !s.stop() {
		s.close()
		return nil, s.fail(opAttach, ctx.Err())
	}
	s.ctx = context.WithoutCancel(ctx)
	a := &Attachment{session: s, notices: make(chan Notice, noticeBacklog), ended: make(chan struct{})}
	go a.follow()
	return a, nil
}

// control reads one frame, which must be a control frame, and returns its message.
func (s *session) control(o op) (control, error) {
	var c control
	t, payload, err := s.read()
	if err != nil {
		return c, s.fail(o, err)
	}
	if t != frameControl {
		return c, s.fail(o, unexpected(t, payload))
	}
	if err := choir.DecodeStrict(payload, &c); err != nil {
		return c, s.fail(o, choir.Under("control", err))
	}
	return c, nil
}

// Attachment is the presence of a control plane at one sandbox.
type Attachment struct {
	session *session
	notices chan Notice
	ended   chan struct{}
	err     error // written before ended is closed

	closing sync.Once
}

// Notices returns the channel of init's notices, in order; it is closed when the
// attachment ends. The caller must read them: init ends an attachment with 64 unread
// notices.
func (a *Attachment) Notices() <-chan Notice { return a.notices }

// Done returns a channel that is closed when the attachment has ended.
func (a *Attachment) Done() <-chan struct{} { return a.ended }

// Err returns why the attachment ended; nil while it lasts.
func (a *Attachment) Err() error {
	select {
	case <-a.ended:
		return a.err
	default:
		return nil
	}
}

// Close ends the attachment and waits until it has ended.
func (a *Attachment) Close() error {
	a.closing.Do(func() { a.session.close() })
	for range a.notices { // unblocks follow
	}
	<-a.ended
	return nil
}

func (a *Attachment) follow() {
	defer close(a.ended)
	defer close(a.notices)
	for {
		c, err := a.session.control(opAttach)
		if err != nil {
			a.err = err
			a.session.close()
			return
		}
		if c.Notice != nil {
			a.notices <- *c.Notice
		}
	}
}
