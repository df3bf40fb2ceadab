package sandboxtest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Narrow wraps a Maker so that its drivers have only the capabilities c and refuse specs
// that need more. Without Streams each sandbox can be dialled once.
func Narrow(newDriver Maker, c sandbox.Capabilities) Maker {
	return func(t testing.TB, s Setup) sandbox.Driver { return NarrowDriver(newDriver(t, s), c) }
}

// NarrowDriver wraps an existing driver as Narrow does.
func NarrowDriver(d sandbox.Driver, c sandbox.Capabilities) sandbox.Driver {
	return &narrow{Driver: d, can: c}
}

type narrow struct {
	sandbox.Driver
	can sandbox.Capabilities
}

// Capabilities implements sandbox.Driver.
func (n *narrow) Capabilities() sandbox.Capabilities { return n.can }

// Create implements sandbox.Driver.
func (n *narrow) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Check(n.can); err != nil {
		return nil, err
	}
	return n.box(n.Driver.Create(ctx, spec))
}

// Recover implements sandbox.Driver.
func (n *narrow) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	return n.box(n.Driver.Recover(ctx, h))
}

// Close closes the wrapped driver if it implements io.Closer.
func (n *narrow) Close() error {
	if c, ok := n.Driver.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (n *narrow) box(b sandbox.Sandbox, err error) (sandbox.Sandbox, error) {
	if err != nil || n.can.Streams {
		return b, err
	}
	return &narrowBox{Sandbox: b}, nil
}

// narrowBox is a sandbox that can be dialled once.
type narrowBox struct {
	sandbox.Sandbox
	dialled atomic.Bool
}

// Dial implements sandbox.Sandbox.
func (b *narrowBox) Dial(ctx context.Context) (net.Conn, error) {
	if b.dialled.Swap(true) {
		return nil, choir.E("sandboxtest.dial", choir.CodeUnavailable, "the only stream of this sandbox was taken")
	}
	return b.Sandbox.Dial(ctx)
}

// Pause implements sandbox.Pauser by the sandbox. Code unavailable: it cannot be paused.
func (b *narrowBox) Pause(ctx context.Context) error {
	if p, ok := b.Sandbox.(sandbox.Pauser); ok {
		return p.Pause(ctx)
	}
	return choir.E("sandboxtest.pause", choir.CodeUnavailable, "sandboxes of this driver cannot be paused")
}

// Resume implements sandbox.Pauser by the sandbox.
func (b *narrowBox) Resume(ctx context.Context) error {
	if p, ok := b.Sandbox.(sandbox.Pauser); ok {
		return p.Resume(ctx)
	}
	return nil
}
