// Package metrics exports the figures of a control plane to Prometheus. It is the only
// package that imports Prometheus: other packages declare small observer interfaces, and
// cmd binds them. No label contains text of a person or a guest, and each has a bounded
// number of values.
package metrics

import (
	"net/http"
	"runtime"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"choiros/internal/choir"
	"choiros/internal/computer"
)

// Metrics are the figures of one control plane. Its methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler
	// models bounds the number of provider and model labels, because a service chooses
	// the name of the model in its answer.
	models pairs

	events         *prometheus.CounterVec
	eventBytes     *prometheus.CounterVec
	appends        *prometheus.HistogramVec
	appendFailures *prometheus.CounterVec
	scans          prometheus.Histogram
	scanFailures   *prometheus.CounterVec
	commands       *prometheus.HistogramVec
	failed         *prometheus.CounterVec
	runs           *prometheus.CounterVec
	tasks          *prometheus.HistogramVec
	calls          *prometheus.CounterVec
	tokens         *prometheus.CounterVec
	cost           *prometheus.CounterVec
	callSeconds    *prometheus.HistogramVec
	firstToken     *prometheus.HistogramVec
	refused        *prometheus.CounterVec
	starts         *prometheus.CounterVec
	stops          *prometheus.CounterVec
	startFailures  *prometheus.CounterVec
	requests       *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
}

// Upper bounds of the histograms' buckets, in seconds.
var (
	diskSeconds  = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
	quickSeconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	workSeconds  = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	modelSeconds = []float64{.25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320}
)

// New returns the figures of a control plane, all zero. version is choir's, for a label.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), models: pairs{known: map[pair]bool{}}}
	m.registerLogs()
	m.registerWork()
	m.registerModelCalls()
	m.registerSandboxes()
	m.requests = m.counter("http_requests_total", "HTTP requests by the door they came through, their route and the class of the answer's status.", "door", "route", "status")
	m.requestSeconds = m.histogram("http_request_seconds", "Time to the end of the answer; sockets are left out, and some reads wait for something new.", quickSeconds, "door", "route")
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "choir_build_info", Help: "1, with the version of choir and of Go.",
		ConstLabels: prometheus.Labels{"version": strings.ToValidUTF8(version, "?"), "go": runtime.Version()},
	})
	build.Set(1)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce})
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// registerLogs creates the metrics of logs.
func (m *Metrics) registerLogs() {
	m.events = m.counter("events_total", "Events appended since the start, by type.", "computer", "type")
	m.eventBytes = m.counter("event_bytes_total", "Bytes of events appended since the start.", "computer")
	m.appends = m.histogram("append_seconds", "Time of one append, until it was durable.", diskSeconds, "computer")
	m.appendFailures = m.counter("append_failures_total", "Appends that were refused or failed, by code.", "computer", "code")
}

// registerWork creates the metrics of scans, commands, runs and tasks.
func (m *Metrics) registerWork() {
	m.scans = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "choir_scan_seconds", Help: "Time of one look at a workspace.", Buckets: quickSeconds})
	m.registry.MustRegister(m.scans)
	m.scanFailures = m.counter("scan_failures_total", "Looks at a workspace that failed, by code.", "code")
	m.commands = m.histogram("command_seconds", "Time of one command from the bus; task-commit takes snapshots and checkpoints.", quickSeconds, "verb")
	m.failed = m.counter("command_failures_total", "Commands from the bus that were refused or failed, by code.", "verb", "code")
	m.runs = m.counter("runs_finished_total", "Runs that ended, by outcome.", "outcome")
	m.tasks = m.histogram("task_seconds", "Time from a task's dispatch to its result; git_checkpoint is a checkpoint by itself.", workSeconds, "kind", "status")
}

// registerModelCalls creates the metrics of model calls.
func (m *Metrics) registerModelCalls() {
	m.calls = m.counter("model_calls_total", "Model calls that ended: ok, recorded, or the code of the failure.", "provider", "model", "outcome")
	m.tokens = m.counter("model_tokens_total", "Tokens of model calls: input, output, and cached, which is a part of input.", "provider", "model", "kind")
	m.cost = m.counter("model_cost_usd_total", "Cost of model calls in US dollars, by the price table.", "provider", "model")
	m.callSeconds = m.histogram("model_call_seconds", "Time of one model call.", modelSeconds, "provider", "model")
	m.firstToken = m.histogram("model_first_token_seconds", "Time to the first piece of an answer.", modelSeconds, "provider", "model")
}

// registerSandboxes creates the metrics of sandboxes and their egress.
func (m *Metrics) registerSandboxes() {
	m.refused = m.counter("egress_refused_total", "Requests from sandboxes for hosts that the policy refuses.", "computer")
	m.starts = m.counter("sandbox_starts_total", "Sandboxes that run: made, or recovered after a restart.", "role", "driver", "how")
	m.stops = m.counter("sandbox_stops_total", "Sandboxes that ended or were ended.", "role")
	m.startFailures = m.counter("sandbox_failures_total", "Sandboxes that did not start, or ended by themselves, by code.", "role", "code")
}

// counter creates and registers a counter with the prefix choir_.
func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "choir_" + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

// histogram creates and registers a histogram with the prefix choir_. bounds are in
// seconds.
func (m *Metrics) histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "choir_" + name, Help: help, Buckets: bounds}, labels)
	m.registry.MustRegister(v)
	return v
}

// Computer returns the observer that counts one computer's figures.
func (m *Metrics) Computer(id choir.ID) computer.Observer { return newObserver(m, string(id)) }

// scrapesAtOnce is the maximum of concurrent scrapes; more are answered with status 503.
const scrapesAtOnce = 2

// ServeHTTP answers a scrape with all figures, in the format that the request accepts.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// maxModels is the maximum of provider and model pairs with labels of their own.
const maxModels = 64

// others is the label of all pairs beyond maxModels.
const others = "other"

type pair struct{ provider, model string }

// pairs are the first maxModels pairs of provider and model that occurred.
type pairs struct {
	mu    sync.Mutex // guards known
	known map[pair]bool
}

// bounded returns the labels of a pair: its own names, or others for pairs beyond
// maxModels.
func (p *pairs) bounded(provider, model string) (string, string) {
	key := pair{strings.ToValidUTF8(provider, "?"), strings.ToValidUTF8(model, "?")}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known[key] {
		if len(p.known) >= maxModels {
			return others, others
		}
		p.known[key] = true
	}
	return key.provider, key.model
}
