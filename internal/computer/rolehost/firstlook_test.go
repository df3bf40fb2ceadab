package rolehost

import (
	"context"
	"errors"
	"testing"
	"time"

	"choiros/internal/choir"
)

// soon is a context that ends while a first look is held up.
func (g *ground) soon() context.Context {
	ctx, cancel := context.WithTimeout(g.t.Context(), 50*time.Millisecond)
	g.t.Cleanup(cancel)
	return ctx
}

// TestAStartGoesOnBesideALongFirstLook holds the first look up. Listings get the
// sandbox at once and scans after the look; terminals wait for a look that may rewrite
// the workspace and for no other.
func TestAStartGoesOnBesideALongFirstLook(t *testing.T) {
	for name, rewrites := range map[string]bool{"a look that only reads": false, "a look that may rewrite": true} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, nil)
			release := make(chan struct{})
			g.workspace.rewrites = rewrites
			g.workspace.look = func(ctx context.Context) error {
				select {
				case <-release:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			l := g.serve(func(c *Config) { c.StartPatience = time.Millisecond })
			l.started(choir.RoleAssociate, 1)
			l.client()
			_, err := l.LookedAt(g.soon())
			wantCode(t, err, choir.CodeTimeout)
			ctx, want := g.within(), choir.Code("")
			if rewrites {
				ctx, want = g.soon(), choir.CodeTimeout
			}
			_, err = l.GuestForNew(ctx)
			wantCode(t, err, want)
			close(release)
			must(l.LookedAt(l.within()))(t)
			must(l.GuestForNew(l.within()))(t)
		})
	}
}

func TestAFirstLookThatFailsEndsTheSandbox(t *testing.T) {
	for name, waits := range map[string]time.Duration{"while the start waits": patience, "behind the start": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, nil)
			tries := 0 // a look ends before the next begins
			g.workspace.look = func(ctx context.Context) error {
				if tries++; tries > 1 {
					return nil
				}
				if waits < patience {
					g.started(choir.RoleAssociate, 1) // the start went on
				}
				return errors.New("the disk is gone")
			}
			l := g.serve(func(c *Config) { c.StartPatience = waits })
			l.eventually(func() bool { return g.machine.Made() == 3 })
			must(l.LookedAt(l.within()))(t)
			if most := g.machine.Most(l.seats[choir.RoleAssociate].workspace()); most != 1 {
				t.Errorf("%d sandboxes had the workspace at once", most)
			}
		})
	}
}

func TestAStopDoesNotWaitForALongFirstLook(t *testing.T) {
	g := newGround(t, nil)
	g.workspace.look = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	l := g.serve(func(c *Config) { c.StartPatience = time.Millisecond })
	l.started(choir.RoleAssociate, 1)
	l.stop()
	if living := g.machine.Living(l.seats[choir.RoleAssociate].workspace()); living != 0 {
		t.Errorf("%d sandboxes live", living)
	}
}
