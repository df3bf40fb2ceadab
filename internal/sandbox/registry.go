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

// Registry is a Driver over several: it makes sandboxes with the driver of one rung,
// and finds those of an earlier session with the driver that made them, so that a
// computer can change its rung between two starts. Its methods may be called at once.
type Registry struct {
	wanted Driver
	byName map[string]Driver
}

var (
	_ Driver  = (*Registry)(nil)
	_ Toolbox = (*Registry)(nil)
)

// NewRegistry makes a registry that makes sandboxes of the rung wanted. Code invalid
// when none of the drivers is of that rung, or two are of one.
func NewRegistry(wanted string, drivers ...Driver) (*Registry, error) {
	r := &Registry{byName: map[string]Driver{}}
	for _, d := range drivers {
		if r.byName[d.Name()] != nil {
			return nil, choir.Invalid("runtime.mode", "there are two drivers named %q", d.Name())
		}
		r.byName[d.Name()] = d
	}
	if r.wanted = r.byName[wanted]; r.wanted == nil {
		return nil, choir.Invalid("runtime.mode", "this choir has no driver %q; it has %s", wanted, r.names())
	}
	return r, nil
}

func (r *Registry) names() string {
	return strings.Join(slices.Sorted(maps.Keys(r.byName)), ", ")
}

// Name is the rung of new sandboxes.
func (r *Registry) Name() string { return r.wanted.Name() }

// Probe finds out what this machine can isolate on the rung of new sandboxes.
func (r *Registry) Probe(ctx context.Context) Report { return r.wanted.Probe(ctx) }

// Create boots a sandbox of the wanted rung.
func (r *Registry) Create(ctx context.Context, spec Spec) (Sandbox, error) {
	return r.wanted.Create(ctx, spec)
}

// Recover takes a sandbox up again with the driver that its handle names. Code invalid
// when this choir has no such driver: the sandbox may live.
func (r *Registry) Recover(ctx context.Context, h Handle) (Sandbox, error) {
	d := r.byName[h.Driver]
	if d == nil {
		return nil, choir.E("sandbox.recover", choir.CodeInvalid, "a handle of driver %q, which this choir does not have; it has %s", h.Driver, r.names())
	}
	return d.Recover(ctx, h)
}

// Tools implements Toolbox; it is empty for a driver that cannot say.
func (r *Registry) Tools(ctx context.Context) []Check {
	if t, ok := r.wanted.(Toolbox); ok {
		return t.Tools(ctx)
	}
	return nil
}

// Close closes every driver that can be closed.
func (r *Registry) Close() error {
	var err error
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		if c, ok := r.byName[name].(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
