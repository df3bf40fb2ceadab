package traces_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"choiros/internal/choir"
	"choiros/internal/control/traces"
	"choiros/internal/eventstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is in every word that a person, a guest or a service writes.
const secret = "zq-secret-5b1e"

func newID(t *testing.T) choir.ID {
	t.Helper()
	id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// lab is a log, and what is appended to it.
type lab struct {
	t     *testing.T
	dir   string
	store *eventstore.Store
	at    choir.Time
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, dir: t.TempDir(), at: 1_800_000_000_000}
	l.open()
	t.Cleanup(func() { l.store.Close() })
	return l
}

func (l *lab) open() {
	l.t.Helper()
	var err error
	l.store, err = eventstore.Open(l.t.Context(), l.dir, eventstore.Config{Computer: "019aa000-0000-7000-8000-000000000001", User: "019aa000-0000-7000-8000-000000000002", Now: func() choir.Time { return l.at }})
	if err != nil {
		l.t.Fatal(err)
	}
}

// say appends one event, a second after the one before.
func (l *lab) say(role choir.Role, p choir.Payload, run, task, cause choir.ID) choir.ID {
	l.t.Helper()
	l.at += 1000
	d, err := choir.NewDraft(newID(l.t), p)
	if err == nil {
		d = d.ForRun(run, task)
		if cause != "" {
			d = d.CausedBy(cause)
		}
		_, err = l.store.Append(l.t.Context(), role, d)
	}
	if err != nil {
		l.t.Fatalf("%s: %v", p.EventType(), err)
	}
	return d.ID
}

// first begins a run with a task and a model call, and second ends all of it.
func (l *lab) first(run, task choir.ID) (call choir.ID) {
	digest := choir.DigestOf([]byte(secret))
	l.say(choir.RoleShell, choir.PromptSubmitted{Text: secret}, run, "", "")
	l.say(choir.RoleDirector, choir.TaskDispatched{Task: choir.DirectorTask{Version: 1, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: secret}}, run, task, "")
	return l.say(choir.RoleControl, choir.ModelCalled{Call: newID(l.t), Caller: "associate", Provider: "openai", Model: secret, Request: digest}, run, task, "")
}

func (l *lab) second(run, task, call choir.ID) {
	digest := choir.DigestOf([]byte(secret))
	l.say(choir.RoleControl, choir.ModelReturned{Call: newID(l.t), Caller: "associate", Provider: "openai", Model: secret, Response: digest, InputTokens: 7, CostUSD: 0.5, Error: secret, Code: choir.CodeOverloaded}, run, task, call)
	tool := newID(l.t)
	l.say(choir.RoleAssociate, choir.ToolCalled{Call: tool, Tool: secret, Input: choir.ToolInput{Command: secret, Path: secret}}, run, task, "")
	l.say(choir.RoleAssociate, choir.ToolReturned{Call: tool, Output: secret, Code: secret}, run, task, "")
	l.say(choir.RoleAssociate, choir.TaskReturned{Result: choir.AssociateResult{
		Version: 1, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: secret, FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{},
		Verify: choir.VerifyOutcome{Mode: "smoke", Status: "pass"}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
	}}, run, task, "")
	l.say(choir.RoleDirector, choir.RunFinished{Outcome: choir.OutcomeDone, Answer: secret}, run, "", "")
}

// follow makes spans until there are as many as wanted.
func (l *lab) follow(to sdktrace.SpanExporter, during func()) {
	l.t.Helper()
	tr := traces.New(to, "v1")
	ctx, cancel := context.WithCancel(l.t.Context())
	reading := make(chan struct{})
	head, _ := l.store.Head()
	ended := make(chan error, 1)
	go func() {
		ended <- tr.Follow(ctx, "019aa000-0000-7000-8000-000000000001", &seen{Store: l.store, reading: reading, from: head, until: cancel})
	}()
	<-reading
	during()
	l.say(choir.RoleControl, choir.SessionEnded{Reason: "end"}, "", "", "")
	if err := <-ended; err != nil && choir.CodeOf(err) != choir.CodeCancelled {
		l.t.Error(err)
	}
	if err := tr.Close(context.WithoutCancel(ctx)); err != nil {
		l.t.Error(err)
	}
}

// seen is a log that says when it is followed, and ends that with the session.
type seen struct {
	*eventstore.Store
	reading chan struct{}
	from    uint64
	until   func()
}

func (s *seen) Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		close(s.reading)
		for e, err := range s.Store.Follow(ctx, cursor) {
			if err != nil || !yield(e, err) {
				return
			}
			if e.Type == choir.TypeSessionEnded && e.Seq > s.from {
				s.until()
			}
		}
	}
}

// kept is an exporter in memory that keeps its spans over its end.
type kept struct{ spans tracetest.SpanStubs }

func (k *kept) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	k.spans = append(k.spans, tracetest.SpanStubsFromReadOnlySpans(spans)...)
	return nil
}

func (k *kept) Shutdown(context.Context) error { return nil }

func TestTheSpansOfARunOverARestartAreOneTrace(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	run, task := newID(t), newID(t)
	var call choir.ID
	out := &kept{}
	l.follow(out, func() { call = l.first(run, task) })
	if len(out.spans) != 0 {
		t.Fatalf("what has not ended is told: %+v", out.spans)
	}
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.follow(out, func() { l.second(run, task, call) })
	var got []string
	byID := map[string]string{}
	for _, s := range out.spans {
		byID[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range out.spans {
		if id := s.SpanContext.TraceID().String(); id != strings.ReplaceAll(string(run), "-", "") {
			t.Errorf("%s is in trace %s", s.Name, id)
		}
		got = append(got, fmt.Sprintf("%s below %q for %s %s", s.Name, byID[s.Parent.SpanID().String()], s.EndTime.Sub(s.StartTime), s.Status.Description))
		for _, a := range s.Attributes {
			if strings.Contains(a.Value.String(), secret) {
				t.Errorf("%s has %s = %s", s.Name, a.Key, a.Value.String())
			}
		}
		if strings.Contains(fmt.Sprintf("%+v", s), secret) {
			t.Errorf("%s holds the secret: %+v", s.Name, s)
		}
	}
	slices.Sort(got)
	want := []string{`model below "task" for 2s overloaded`, `run below "" for 8s `, `task below "run" for 6s `, `tool below "task" for 1s internal`}
	if !slices.Equal(got, want) {
		t.Errorf("the spans are\n%s", strings.Join(got, "\n"))
	}
	out.spans = nil
	l.follow(out, func() {})
	if len(out.spans) != 0 {
		t.Errorf("after another start the same is told again: %+v", out.spans)
	}
}

func TestACollectorIsSentTheSpansByOTLP(t *testing.T) {
	t.Parallel()
	got := make(chan *collector.ExportTraceServiceRequest, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		in := &collector.ExportTraceServiceRequest{}
		if err := errors.Join(err, proto.Unmarshal(raw, in)); err != nil || r.URL.Path != "/v1/traces" || strings.Contains(string(raw), secret) {
			t.Errorf("%s %v", r.URL, err)
		}
		got <- in
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer s.Close()
	tr, err := traces.Open(t.Context(), s.URL+"/v1/traces", "v1")
	if err != nil {
		t.Fatal(err)
	}
	h := tr.Requests("web", func(*http.Request) string { return "GET /api/computers/{computer}/files/{path...}" }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	r := httptest.NewRequest(http.MethodGet, "/api/computers/x/files/"+secret+"?q="+secret, nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := <-got
	span := in.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if span.Name != "GET /api/computers/{computer}/files/{path...}" || len(span.TraceId) != 16 {
		t.Errorf("%v", span)
	}
}
