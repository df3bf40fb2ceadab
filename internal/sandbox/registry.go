package sandbox

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Registry is a Driver over several drivers. It creates sandboxes with the driver of one
// rung and recovers those of an earlier session with the driver that made them, so that a
// computer can change its rung between two starts. It is safe for concurrent use.
type Registry struct {
	wanted Driver
	byName map[string]Driver
}

var (
	_ Driver  = (*Registry)(nil)
	_ Toolbox = (*Registry)(nil)
)

// NewRegistry returns a registry that creates sandboxes of the rung wanted. If no driver
// has that name, or two have the same, the error is code invalid.
func NewRegistry(wanted string, drivers ...Driver) (*Registry, error) {
	r := &Registry{byName: map[string]Driver{}}
	for _, d := range drivers {
		if r.byName[d.Name()] != nil {
			return nil, choir.Invalid("runtime.mode", "there are two drivers named %q", d.Name())
		}
		r.byName[d.Name()] = d
	}
	if r.wanted = r.byName[wanted]; r.wanted == nil {
		return nil, choir.RefuseField("runtime.mode", choir.ReasonNoDriver, choir.TextOf("given", wanted), choir.TextOf("names", r.names()))
	}
	return r, nil
}

func (r *Registry) names() string {
	return strings.Join(slices.Sorted(maps.Keys(r.byName)), ", ")
}

// Name returns the rung of new sandboxes.
func (r *Registry) Name() string { return r.wanted.Name() }

// Capabilities returns the capabilities of the driver that makes new sandboxes.
func (r *Registry) Capabilities() Capabilities { return r.wanted.Capabilities() }

// Probe reports the isolation that the driver of new sandboxes offers on this machine.
func (r *Registry) Probe(ctx context.Context) Report { return r.wanted.Probe(ctx) }

// Create boots a sandbox of the wanted rung, see Driver.
func (r *Registry) Create(ctx context.Context, spec Spec) (Sandbox, error) {
	return r.wanted.Create(ctx, spec)
}

// Recover recovers a sandbox with the driver that its handle names, see Driver. If this
// choir lacks that driver the error is code invalid (verdict NotMine): the sandbox may
// still live.
func (r *Registry) Recover(ctx context.Context, h Handle) (Sandbox, error) {
	d := r.byName[h.Driver]
	if d == nil {
		return nil, choir.Refuse("sandbox.recover", choir.ReasonHandleOfOtherDriver, choir.TextOf("driver", h.Driver), choir.TextOf("names", r.names()))
	}
	return d.Recover(ctx, h)
}

// Tools looks for the programs of verification, see Toolbox; it returns nil for a driver
// that is no Toolbox.
func (r *Registry) Tools(ctx context.Context) []Check {
	if t, ok := r.wanted.(Toolbox); ok {
		return t.Tools(ctx)
	}
	return nil
}

// Close closes every driver that implements io.Closer and returns their errors, joined.
func (r *Registry) Close() error {
	var err error
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if c, ok := r.byName[name].(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
