package modelgw

import (
	"context"
	"fmt"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// wait is the reason why a call of a run has not been answered yet.
type wait struct {
	run choir.ID
	why string
}

// Waits returns the reason why a model call of the run waits, such as an overloaded
// service; "" if none waits.
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

// withWaits returns the context of a call in which the provider reports its waits to the
// gateway, for Waits.
func (g *Gateway) withWaits(ctx context.Context, info model.CallInfo) context.Context {
	return model.WithWaiting(ctx, func(why error, pause time.Duration) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waits[keyOf(info)] = wait{info.Run, fmt.Sprintf("%s; it is asked again after %s", errorText(why), pause.Round(100*time.Millisecond))}
	})
}

// endWait removes a call's wait, because its answer has begun or the call has ended.
func (g *Gateway) endWait(info model.CallInfo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waits, keyOf(info))
}
