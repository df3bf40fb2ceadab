package modelgw

import (
	"context"
	"fmt"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// wait is why a call has not been answered yet.
type wait struct {
	run choir.ID
	why string
}

// Waits says why a model call of a run waits, such as for a service that is
// overloaded; empty when none does.
func (g *Gateway) Waits(run choir.ID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waits {
		if w.run == run {
			return w.why
		}
	}
	return ""
}

// noting returns the context of a call whose provider tells when it waits.
func (g *Gateway) noting(ctx context.Context, info model.CallInfo) context.Context {
	return model.WithWaiting(ctx, func(why error, pause time.Duration) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waits[keyOf(info)] = wait{info.Run, fmt.Sprintf("%s; it is asked again after %s", said(why), pause.Round(100*time.Millisecond))}
	})
}

// answers notes that a call is being answered, or is over.
func (g *Gateway) answers(info model.CallInfo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waits, keyOf(info))
}
