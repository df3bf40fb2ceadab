package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"choiros/internal/choir"
)

// observer counts the figures of one computer.
type observer struct {
	m        *Metrics
	computer string
	// The counters of appends are looked up once, when the observer is made.
	events   map[choir.Type]prometheus.Counter
	bytes    prometheus.Counter
	appended prometheus.Observer
	refused  prometheus.Counter

	// open are the tasks dispatched since the start without a result. Only Committed
	// accesses it, which is called by one goroutine at a time.
	open map[choir.ID]openTask
}

// openTask is a dispatched task without a result.
type openTask struct {
	kind string
	at   choir.Time
}

// maxOpen is the maximum of open tasks whose duration is measured, since the Director
// can dispatch any number.
const maxOpen = 4096

func newObserver(m *Metrics, computer string) *observer {
	o := &observer{
		m: m, computer: computer, events: map[choir.Type]prometheus.Counter{}, open: map[choir.ID]openTask{},
		bytes: m.eventBytes.WithLabelValues(computer), appended: m.appends.WithLabelValues(computer), refused: m.refused.WithLabelValues(computer),
	}
	for _, t := range choir.Types() {
		o.events[t.Type] = m.events.WithLabelValues(computer, string(t.Type))
	}
	return o
}

// Appended implements eventstore.Observer.
func (o *observer) Appended(took time.Duration, err error) {
	if err != nil {
		o.m.appendFailures.WithLabelValues(o.computer, codeOf(err)).Inc()
		return
	}
	o.appended.Observe(took.Seconds())
}

// Committed implements eventstore.Observer.
func (o *observer) Committed(e *choir.Event, payload choir.Payload, bytes int) {
	o.bytes.Add(float64(bytes))
	if c := o.events[e.Type]; c != nil {
		c.Inc()
	}
	switch p := payload.(type) {
	case *choir.ModelReturned:
		o.m.modelReturned(p)
	case *choir.TaskDispatched:
		if len(o.open) < maxOpen {
			o.open[e.Task] = openTask{kindOf(&p.Task), e.Time}
		}
	case *choir.TaskReturned:
		if t, ok := o.open[e.Task]; ok {
			delete(o.open, e.Task)
			o.m.tasks.WithLabelValues(t.kind, string(p.Result.Status)).Observe(max(0, e.Time.Std().Sub(t.at.Std()).Seconds()))
		}
	case *choir.RunFinished:
		o.m.runs.WithLabelValues(string(p.Outcome)).Inc()
	case *choir.SandboxStarted:
		how := "made"
		if p.Recovered {
			how = "recovered"
		}
		o.m.starts.WithLabelValues(string(p.Role), p.Driver, how).Inc()
	case *choir.SandboxStopped:
		o.m.stops.WithLabelValues(string(p.Role)).Inc()
	}
}

// kindOf returns the kind of a task, or for a git task its git action, as a label.
func kindOf(t *choir.DirectorTask) string {
	if t.Kind == choir.TaskGit {
		return string(t.GitAction)
	}
	return string(t.Kind)
}

// modelReturned counts a model call that ended, with its tokens, cost and duration.
func (m *Metrics) modelReturned(p *choir.ModelReturned) {
	provider, model := m.models.bounded(p.Provider, p.Model)
	outcome := "ok"
	switch {
	case p.Code != "":
		outcome = string(closed(p.Code))
	case p.Recorded:
		outcome = "recorded"
	}
	m.calls.WithLabelValues(provider, model, outcome).Inc()
	m.tokens.WithLabelValues(provider, model, "input").Add(float64(p.InputTokens))
	m.tokens.WithLabelValues(provider, model, "output").Add(float64(p.OutputTokens))
	m.tokens.WithLabelValues(provider, model, "cached").Add(float64(p.CachedTokens))
	m.cost.WithLabelValues(provider, model).Add(p.CostUSD)
	m.callSeconds.WithLabelValues(provider, model).Observe(float64(p.DurationMS) / 1000)
	if p.FirstTokenMS > 0 {
		m.firstToken.WithLabelValues(provider, model).Observe(float64(p.FirstTokenMS) / 1000)
	}
}

// Scanned implements computer.Observer.
func (o *observer) Scanned(took time.Duration, err error) {
	if err != nil {
		o.m.scanFailures.WithLabelValues(codeOf(err)).Inc()
		return
	}
	o.m.scans.Observe(took.Seconds())
}

// Answered implements computer.Observer.
func (o *observer) Answered(verb choir.Verb, took time.Duration, err error) {
	if _, ok := choir.LookupVerb(verb); !ok {
		return
	}
	o.m.commands.WithLabelValues(string(verb)).Observe(took.Seconds())
	if err != nil {
		o.m.failed.WithLabelValues(string(verb), codeOf(err)).Inc()
	}
}

// EgressRefused implements computer.Observer.
func (o *observer) EgressRefused() { o.refused.Inc() }

// SandboxFailed implements computer.Observer.
func (o *observer) SandboxFailed(role choir.Role, err error) {
	o.m.startFailures.WithLabelValues(string(role), codeOf(err)).Inc()
}

// codeOf returns the code of an error as a label.
func codeOf(err error) string { return string(closed(choir.CodeOf(err))) }

// closed returns c if it is in the closed list of codes, and otherwise internal, because
// a log of another choir may have other codes.
func closed(c choir.Code) choir.Code {
	if c.Known() {
		return c
	}
	return choir.CodeInternal
}
