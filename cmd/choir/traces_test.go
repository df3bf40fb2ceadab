package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"choiros/internal/choir"
)

// receiver is an OpenTelemetry collector that keeps what it is sent.
type receiver struct {
	mu    sync.Mutex // guards what follows
	spans map[string]string
	raw   strings.Builder
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &in) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	for _, of := range in.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans[s.Name] = string(s.TraceId)
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// TestAChoirThatIsToldWhereToSendsTraces runs a task with a collector on loopback, and
// ends choir, which hands over what is left.
func TestAChoirThatIsToldWhereToSendsTraces(t *testing.T) {
	got := &receiver{spans: map[string]string{}}
	s := httptest.NewServer(got)
	defer s.Close()
	m := newMachine(t, "[trace]\nendpoint = '"+s.URL+"'\n")
	up := m.up()
	up.healthy()
	task := strings.Replace(shellTask("edit_repo", "", "mkdir -p workspace; echo "+marked+" > workspace/"+marked, `,"verify_profile":{"mode":"none"}`), `"repo":"",`, "", 1)
	if r := m.runWith(strings.Replace(task, "Do it.", marked, 1), "task", "-"); r.code != 0 {
		t.Fatalf("the task: %d %s%s", r.code, r.out, r.errOut)
	}
	var run choir.ID
	for _, e := range m.client().log(t) {
		if e.Type == choir.TypeTaskReturned {
			run = e.Run
		}
	}
	up.stop()
	got.mu.Lock()
	defer got.mu.Unlock()
	if got.spans["task"] == "" || got.spans["GET /health"] == "" {
		t.Fatalf("the collector has %q", got.spans)
	}
	if want := strings.ReplaceAll(string(run), "-", ""); hexOf(got.spans["task"]) != want {
		t.Errorf("the task of run %s is in trace %s", want, hexOf(got.spans["task"]))
	}
	if strings.Contains(got.raw.String(), marked) {
		t.Error("the owner's words are in the spans")
	}
}

func hexOf(b string) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for i := range len(b) {
		out.WriteByte(digits[b[i]>>4])
		out.WriteByte(digits[b[i]&15])
	}
	return out.String()
}
