package guest

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
)

// presence tracks the attached control planes, sends them notices, and reports when none
// has been attached for too long.
type presence struct {
	patience time.Duration

	mu       sync.Mutex // guards attached and over
	attached map[chan Notice]struct{}
	over     bool // the patience has ended: nobody is attached any more

	changed chan struct{} // capacity 1; the number of attached has changed
}

// noticeBacklog is the number of unread notices of an attachment. Beyond it the
// attachment is ended; the next one reads the state again.
const noticeBacklog = 64

func newPresence(patience time.Duration) *presence {
	return &presence{patience: patience, attached: map[chan Notice]struct{}{}, changed: make(chan struct{}, 1)}
}

// join adds an attachment. Code unavailable: the patience has ended.
func (p *presence) join() (chan Notice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil, choir.E("guest.attach", choir.CodeUnavailable, "the sandbox ends, because no control plane was attached for %s", p.patience)
	}
	ch := make(chan Notice, noticeBacklog)
	p.attached[ch] = struct{}{}
	p.poke()
	return ch, nil
}

// endPatience ends the patience, unless a control plane was attached in its last moment.
func (p *presence) endPatience() (over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = len(p.attached) == 0
	return p.over
}

// leave removes an attachment and closes its channel, unless that has happened.
func (p *presence) leave(ch chan Notice) {
	p.mu.Lock()
	if _, ok := p.attached[ch]; ok {
		delete(p.attached, ch)
		close(ch)
	}
	p.mu.Unlock()
	p.poke()
}

// broadcast sends a notice to every attachment. It ends an attachment whose queue is
// full.
func (p *presence) broadcast(n Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ch := range p.attached {
		select {
		case ch <- n:
		default:
			delete(p.attached, ch)
			close(ch)
			p.poke()
		}
	}
}

func (p *presence) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *presence) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.attached) == 0
}

// wait returns nil when ctx ends, and code timeout once no control plane was attached for
// the duration of patience.
func (p *presence) wait(ctx context.Context) error {
	for {
		over, err := p.waitOnce(ctx)
		if over {
			return err
		}
	}
}

// waitOnce waits for a change of the attachments. over reports that ctx or the patience
// has ended instead, with the error for wait to return.
func (p *presence) waitOnce(ctx context.Context) (over bool, err error) {
	var timeout <-chan time.Time
	if p.patience > 0 && p.empty() {
		timer := time.NewTimer(p.patience)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
		return true, nil
	case <-p.changed:
		return false, nil
	case <-timeout:
		if !p.endPatience() {
			return false, nil
		}
		return true, choir.E("guest.serve", choir.CodeTimeout, "no control plane was attached for %s", p.patience)
	}
}

// attach handles the operation attach: it sends notices until the client closes the
// connection.
func (s *Server) attach(ctx context.Context, w *wire, _ *request) (any, error) {
	// The driver has opened the port by now, if it could; without it names do not resolve.
	_ = s.names.open(s.cfg.Names)
	ch, err := s.presence.join()
	if err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() { // ends when the connection does, which serveConn closes
		defer close(gone)
		w.read()
		s.presence.leave(ch)
	}()
	if err := w.writeJSON(frameControl, control{Started: 1}); err != nil {
		return nil, waitGone(w, gone, err)
	}
	for n := range ch {
		if err := w.writeJSON(frameControl, control{Notice: &n}); err != nil {
			return nil, waitGone(w, gone, err)
		}
	}
	return nil, waitGone(w, gone, nil)
}

func waitGone(w *wire, gone <-chan struct{}, err error) error {
	w.conn.Close()
	<-gone
	return err
}
