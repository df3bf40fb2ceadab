// Package traces exports spans of runs, tasks, calls and requests to OpenTelemetry. It
// is the only package that imports OpenTelemetry. Spans of runs are made from the log: a
// run's id is its trace id, and span ids are derived from those of tasks and calls, so
// that the parts of a run before and after a restart form one trace. No attribute
// contains text of a person or a guest.
package traces

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"choiros/internal/choir"
)

// Traces exports spans in batches in the background. It drops spans when its queue is
// full, so that callers never wait.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// exportTime is the maximum time for sending one batch to the collector.
const exportTime = 10 * time.Second

// Open returns traces that are sent to a collector by OTLP over HTTP, at /v1/traces if
// endpoint has no path. It does not connect yet.
func Open(ctx context.Context, endpoint, version string) (*Traces, error) {
	if u, err := url.Parse(endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		endpoint = u.JoinPath("v1", "traces").String()
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithTimeout(exportTime))
	if err != nil {
		return nil, choir.Wrap("traces.open", choir.CodeUnavailable, err, "make the exporter of traces")
	}
	return New(to, version), nil
}

// New returns traces that are sent to an exporter. version is choir's.
func New(to sdktrace.SpanExporter, version string) *Traces {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(to, sdktrace.WithExportTimeout(exportTime)), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "choir"), attribute.String("service.version", version))),
	)
	return &Traces{provider: provider, tracer: provider.Tracer("choir")}
}

// Close sends the remaining spans until ctx ends, and stops.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Requests wraps a handler so that each request has a span in a trace of its own. door
// names the listener; route returns a request's route out of a closed list.
func (t *Traces) Requests(door string, route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := t.tracer.Start(r.Context(), route(r), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("choir.door", door)))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// fixed are predetermined ids of a span.
type fixed struct {
	trace trace.TraceID
	span  trace.SpanID
}

type fixedKey struct{}

// ids is an id generator that uses the fixed ids of a context, and random ones without.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if f, ok := ctx.Value(fixedKey{}).(fixed); ok {
		return f.trace, f.span
	}
	var f fixed
	rand.Read(f.trace[:]) // never fails
	rand.Read(f.span[:])
	return f.trace, f.span
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if f, ok := ctx.Value(fixedKey{}).(fixed); ok {
		return f.span
	}
	var span trace.SpanID
	rand.Read(span[:])
	return span
}

// traceOf returns the trace id of a run, which is the run's id; the invalid zero id if
// that is no UUID.
func traceOf(run choir.ID) (id trace.TraceID) {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(run), "-", ""))
	if err == nil {
		copy(id[:], raw)
	}
	return id
}

// spanOf returns the span id of a run, task or call, derived from its name and id.
func spanOf(s subject) (id trace.SpanID) {
	sum := sha256.Sum256([]byte(s.name + " " + string(s.id)))
	copy(id[:], sum[:])
	return id
}

// record is a span that has ended.
type record struct {
	run        choir.ID
	of, parent subject // parent is empty for none
	from, to   choir.Time
	code       string // of its failure
	attributes []attribute.KeyValue
}

// write exports a span with its fixed ids. A span without a valid run is left out.
func (t *Traces) write(r record) {
	f := fixed{traceOf(r.run), spanOf(r.of)}
	if !f.trace.IsValid() {
		return
	}
	ctx := context.WithValue(context.Background(), fixedKey{}, f)
	if r.parent != (subject{}) {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: f.trace, SpanID: spanOf(r.parent), TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	_, span := t.tracer.Start(ctx, r.of.name, trace.WithTimestamp(r.from.Std()), trace.WithAttributes(r.attributes...))
	if r.code != "" {
		span.SetStatus(codes.Error, r.code)
	}
	span.End(trace.WithTimestamp(r.to.Std()))
}
