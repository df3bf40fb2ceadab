package main

import (
	"context"
	"net/http"
	"time"

	"github.com/thejerf/suture/v4"
	"go.opentelemetry.io/otel"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/gateway"
	"choiros/internal/control/supervisor"
	"choiros/internal/control/traces"
)

// openTraces has each computer of a control plane traced, where the configuration says
// where to; nil where it does not.
func openTraces(ctx context.Context, cfg *supervisor.Config) (*traces.Traces, error) {
	endpoint := cfg.File.Trace.Endpoint
	if endpoint == "" {
		return nil, nil
	}
	spans, err := traces.Open(ctx, endpoint, version)
	if err != nil {
		return nil, err
	}
	log := cfg.Log
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not taken", "error", err) }))
	cfg.Beside = func(c *computer.Computer) suture.Service { return tracer{spans, c} }
	return spans, nil
}

// tracer makes the spans of one computer. It is a service.
type tracer struct {
	spans *traces.Traces
	c     *computer.Computer
}

// Serve makes spans until the context ends.
func (t tracer) Serve(ctx context.Context) error {
	err := t.spans.Follow(ctx, t.c.ID(), t.c.Store())
	if choir.CodeOf(err) == choir.CodeCancelled {
		return nil
	}
	return err
}

// String names the service.
func (t tracer) String() string { return "traces of " + string(t.c.ID()) }

// tracedRequests makes a span of each request to a gateway, where there are traces.
func tracedRequests(spans *traces.Traces, to *gateway.Gateway, next http.Handler) http.Handler {
	if spans == nil {
		return next
	}
	return spans.Requests("web", to.Route, next)
}

// lastSpans is how long the end of choir waits for a collector to take what is left.
const lastSpans = 2 * time.Second

func closeTraces(spans *traces.Traces) error {
	if spans == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans)
	defer cancel()
	// A collector that takes no more is no failure of choir.
	_ = spans.Close(ctx)
	return nil
}
