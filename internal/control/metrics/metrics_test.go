package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/control/metrics"
	"choiros/internal/control/supervisor"
	"choiros/internal/eventstore"
)

const id = choir.ID("019aa000-0000-7000-8000-000000000001")

func text(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// has fails for each line that the figures lack.
func has(t *testing.T, figures string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+figures, "\n"+strings.ReplaceAll(line, "ID", string(id))+"\n") {
			t.Errorf("the figures lack %s", line)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(figures) {
			if strings.HasPrefix(line, "choir_") && !strings.Contains(line, "_bucket") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
}

func TestWhatAComputerDoesIsCounted(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	o := m.Computer(id)
	task, at := choir.ID("019aa000-0000-7000-8000-00000000000a"), choir.Time(1_800_000_000_000)
	commit := func(p choir.Payload, after choir.Time) {
		o.Committed(&choir.Event{Type: p.EventType(), Task: task, Time: at + after}, p, 100)
	}
	commit(&choir.TaskDispatched{Task: choir.DirectorTask{TaskID: task, Kind: choir.TaskGit, GitAction: choir.GitCheckpoint}}, 0)
	commit(&choir.TaskReturned{Result: choir.AssociateResult{TaskID: task, Status: choir.StatusOK}}, 2000)
	commit(&choir.ModelReturned{Provider: "anthropic", Model: "m-1", InputTokens: 900, OutputTokens: 90, CachedTokens: 400, CostUSD: 0.25, DurationMS: 1500, FirstTokenMS: 300}, 0)
	commit(&choir.ModelReturned{Provider: "anthropic", Model: "m-1", Code: choir.CodeOverloaded, CostUSD: 0.25}, 0)
	commit(&choir.ModelReturned{Provider: "anthropic", Model: "m-1", Code: "a_code_of_a_newer_choir"}, 0)
	commit(&choir.RunFinished{Outcome: choir.OutcomeDone}, 0)
	commit(&choir.SandboxStarted{Role: choir.RoleAssociate, Driver: "local"}, 0)
	commit(&choir.SandboxStarted{Role: choir.RoleDirector, Driver: "local", Recovered: true}, 0)
	commit(&choir.SandboxStopped{Role: choir.RoleAssociate}, 0)
	o.Appended(2*time.Millisecond, nil)
	o.Appended(time.Millisecond, choir.E("", choir.CodeNoSpace, "full"))
	o.Scanned(20*time.Millisecond, nil)
	o.Scanned(0, context.DeadlineExceeded)
	o.Answered(choir.VerbTaskCommit, 30*time.Millisecond, nil)
	o.Answered("no such verb", 0, nil)
	o.EgressRefused()
	o.SandboxFailed(choir.RoleAssociate, choir.E("", choir.CodeUnavailable, "gone"))
	has(t, text(t, m),
		`choir_events_total{computer="ID",type="`+string(choir.TypeModelReturned)+`"} 3`, `choir_event_bytes_total{computer="ID"} 900`,
		`choir_append_seconds_count{computer="ID"} 1`, `choir_append_seconds_bucket{computer="ID",le="0.0025"} 1`, `choir_append_failures_total{code="no_space",computer="ID"} 1`,
		`choir_task_seconds_sum{kind="git_checkpoint",status="ok"} 2`,
		`choir_model_calls_total{model="m-1",outcome="ok",provider="anthropic"} 1`, `choir_model_calls_total{model="m-1",outcome="overloaded",provider="anthropic"} 1`,
		`choir_model_calls_total{model="m-1",outcome="internal",provider="anthropic"} 1`,
		`choir_model_tokens_total{kind="input",model="m-1",provider="anthropic"} 900`, `choir_model_tokens_total{kind="cached",model="m-1",provider="anthropic"} 400`,
		`choir_model_cost_usd_total{model="m-1",provider="anthropic"} 0.5`, `choir_model_first_token_seconds_count{model="m-1",provider="anthropic"} 1`,
		`choir_runs_finished_total{outcome="done"} 1`,
		`choir_sandbox_starts_total{driver="local",how="made",role="associate"} 1`, `choir_sandbox_starts_total{driver="local",how="recovered",role="director"} 1`,
		`choir_sandbox_stops_total{role="associate"} 1`, `choir_sandbox_failures_total{code="unavailable",role="associate"} 1`,
		`choir_scan_seconds_count 1`, `choir_scan_failures_total{code="timeout"} 1`, `choir_command_seconds_count{verb="task-commit"} 1`,
		`choir_egress_refused_total{computer="ID"} 1`)
}

func TestAServiceThatMakesUpModelsMakesFewFigures(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	o := m.Computer(id)
	for i := range 2000 {
		p := &choir.ModelReturned{Provider: "openai", Model: fmt.Sprintf("made-up-\xff-%d", i), CostUSD: 1}
		o.Committed(&choir.Event{Type: p.EventType()}, p, 1)
	}
	all := text(t, m)
	if n := strings.Count(all, "\nchoir_model_cost_usd_total{"); n != 65 {
		t.Errorf("%d figures of cost", n)
	}
	has(t, all, `choir_model_cost_usd_total{model="other",provider="other"} 1936`)
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	route := func(r *http.Request) string { return "GET " + r.URL.Path }
	s := httptest.NewServer(m.Requests("web", route, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/copied":
			if _, err := io.Copy(w, strings.NewReader("whole")); err != nil {
				t.Error(err)
			}
		case "/refused":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusForbidden)
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/socket":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		}
	})))
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // one that asks again is counted twice
	for _, path := range []string{"/copied", "/copied", "/refused", "/cut", "/socket"} {
		res, err := client.Get(s.URL + path)
		if err != nil {
			continue // as it is meant to be for two of them
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || path == "/copied" && string(body) != "whole" {
			t.Errorf("%s: %q %v", path, body, err)
		}
	}
	s.Close()
	has(t, text(t, m),
		`choir_http_requests_total{door="web",route="GET /copied",status="2xx"} 2`, `choir_http_request_seconds_count{door="web",route="GET /copied"} 2`,
		`choir_http_requests_total{door="web",route="GET /refused",status="4xx"} 1`, `choir_http_requests_total{door="web",route="GET /cut",status="0xx"} 1`)
}

// still is a control plane that does not move.
type still struct{ f supervisor.Figures }

func (s still) Figures(context.Context) supervisor.Figures { return s.f }

func TestSizesAreMeasuredAtEachScrape(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	c := supervisor.ComputerFigures{
		ID: id, Log: eventstore.Figures{Head: 70, Copied: 64, Behind: 600, JournalBytes: 7000, CopyBytes: 9000}, Calls: 3,
		Known: true, Runs: 1, Tasks: 2, Workspace: choir.SnapshotTaken{Files: 5, Bytes: 50}, Running: map[choir.Role]bool{choir.RoleDirector: true},
	}
	unknown := supervisor.ComputerFigures{ID: "019aa000-0000-7000-8000-000000000002", Log: eventstore.Figures{Head: 1, Copied: 2}}
	m.Watch(still{supervisor.Figures{
		Failing: map[string]int{"sandbox": 2}, Bus: bus.Figures{Connections: 8, StoreBytes: 99}, Disk: supervisor.DiskFigures{Size: 1000, Free: 400},
		Computers: []supervisor.ComputerFigures{c, unknown},
	}})
	all := text(t, m)
	has(t, all, `choir_failing{part="sandbox"} 2`, `choir_failing{part="bus"} 0`, `choir_bus_connections 8`, `choir_bus_store_bytes 99`, `choir_data_free_bytes 400`,
		`choir_log_head{computer="ID"} 70`, `choir_log_copy_lag_events{computer="ID"} 6`, `choir_log_copy_lag_bytes{computer="ID"} 600`,
		`choir_runs_open{computer="ID"} 1`, `choir_tasks_open{computer="ID"} 2`, `choir_model_calls_open{computer="ID"} 3`, `choir_workspace_files{computer="ID"} 5`,
		`choir_disk_bytes{computer="ID",part="journal"} 7000`, `choir_disk_bytes{computer="ID",part="copy"} 9000`, `choir_disk_bytes{computer="ID",part="workspace"} 50`,
		`choir_sandbox_running{computer="ID",role="director"} 1`, `choir_sandbox_running{computer="ID",role="associate"} 0`)
	if strings.Contains(all, `choir_runs_open{computer="`+string(unknown.ID)) || !strings.Contains(all, `choir_log_copy_lag_events{computer="`+string(unknown.ID)+`"} 0`) {
		t.Error("what is not known is told, or what is known is not")
	}
	for _, figure := range []string{"go_goroutines ", "process_resident_memory_bytes ", "process_open_fds ", `choir_build_info{go="`} {
		if !strings.Contains(all, "\n"+figure) {
			t.Errorf("the figures lack %s", figure)
		}
	}
}
