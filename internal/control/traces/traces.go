// Package traces tells OpenTelemetry how long runs, tasks, calls and requests take. It
// is the one place that knows OpenTelemetry. Spans of runs are made from the log: the id
// of a run is the id of its trace, and the ids of its spans follow from those of its
// tasks and calls, so that what a run did before a restart and after it is one trace.
// No attribute is a person's or a guest's word.
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

// Traces hands spans to an exporter, in batches and in the background. What it cannot
// take any more is dropped: nobody waits for it.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// exportTime bounds one hand-over to a collector.
const exportTime = 10 * time.Second

// Open makes traces that go to a collector by OTLP over HTTP, at /v1/traces of an
// endpoint without a path. It connects to nobody yet.
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

// New makes traces that go to an exporter.
func New(to sdktrace.SpanExporter, version string) *Traces {
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(to, sdktrace.WithExportTimeout(exportTime)), sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "choir"), attribute.String("service.version", version))),
	)
	return &Traces{provider: provider, tracer: provider.Tracer("choir")}
}

// Close hands over what is left, for as long as the context lasts, and ends.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Requests makes a span of each request that a handler answers, in a trace of its own.
// route names what a request asks for, out of a closed list.
func (t *Traces) Requests(door string, route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := t.tracer.Start(r.Context(), route(r), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("choir.door", door)))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// fixed are the ids that a span must have.
type fixed struct {
	trace trace.TraceID
	span  trace.SpanID
}

type fixedKey struct{}

// ids gives spans the ids that their context fixes, and random ones elsewhere.
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

// traceOf is the trace of a run, which is the run's id.
func traceOf(run choir.ID) (id trace.TraceID) {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(run), "-", ""))
	if err == nil {
		copy(id[:], raw)
	}
	return id
}

// spanOf is the span of a run, a task or a call.
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

// write hands a span over. One of no run is left out.
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
