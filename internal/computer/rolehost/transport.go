package rolehost

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// transport returns the driver's preferred transport of the workspace into new sandboxes;
// "" for a role without a workspace.
func (s *seat) transport() sandbox.Transport {
	if offered := s.h.cfg.Driver.Capabilities().Transports; s.role == choir.RoleAssociate && len(offered) > 0 {
		return offered[0]
	}
	return ""
}

// copied reports whether new sandboxes get their own copy of the workspace.
func (s *seat) copied() bool { return s.transport() == sandbox.TransportCopy }

// connect returns a client of the sandbox's choir-init. If the driver offers only one
// stream, all connections share it through a mux.
func (s *seat) connect(l *live) *guest.Client {
	dial := l.sandbox.Dial
	if !s.h.cfg.Driver.Capabilities().Streams {
		l.mux = guest.NewMux(dial)
		dial = l.mux.Dial
	}
	return guest.NewClient(dial)
}

// copyPatience is how long the workspace's copy may take before its sandbox is destroyed.
const copyPatience = 15 * time.Second

// closePatience returns how long closing the sandbox may take.
func (s *seat) closePatience(l *live) time.Duration {
	const end = 10 * time.Second
	if l.copied {
		return copyPatience + end
	}
	return end
}

// copyOut stores the workspace of a live sandbox that has the only copy, after ending the role's process.
// For any other sandbox it does nothing.
func (s *seat) copyOut(ctx context.Context, l *live) error {
	if !l.copied || l.unfilled || l.client == nil {
		return nil
	}
	select {
	case <-l.sandbox.Done():
		return nil // it took the workspace along; the log has the last moment of it
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	s.rolePID.Store(0)
	if err := l.client.StopRole(ctx); err != nil {
		return err
	}
	return s.h.workspace.CopyOut(ctx, l.client)
}
