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

// openTraces connects to the configured collector and makes cfg trace every computer; nil if none is
// configured. The caller closes the traces.
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

// tracer is the service that makes the spans of one computer.
type tracer struct {
	spans *traces.Traces
	c     *computer.Computer
}

// Serve makes the spans of the computer's events until ctx ends.
func (t tracer) Serve(ctx context.Context) error {
	err := t.spans.Follow(ctx, t.c.ID(), t.c.Store())
	if choir.CodeOf(err) == choir.CodeCancelled {
		return nil
	}
	return err
}

// String returns the name of the service.
func (t tracer) String() string { return "traces of " + string(t.c.ID()) }

// tracedRequests returns next, wrapped to make a span for each request to the gateway if spans is not
// nil.
func tracedRequests(spans *traces.Traces, to *gateway.Gateway, next http.Handler) http.Handler {
	if spans == nil {
		return next
	}
	return spans.Requests("web", to.Route, next)
}

// lastSpans is how long choir's end waits for the collector to receive the last spans.
const lastSpans = 2 * time.Second

// closeTraces sends the last spans and closes spans, which may be nil. It ignores errors.
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
