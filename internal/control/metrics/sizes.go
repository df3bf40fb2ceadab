package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"choiros/internal/choir"
	"choiros/internal/control/supervisor"
)

// Source measures the control plane at each scrape; supervisor.System implements it.
type Source interface {
	Figures(ctx context.Context) supervisor.Figures
}

// Watch registers a source that is measured at each scrape. It is called once.
func (m *Metrics) Watch(s Source) { m.registry.MustRegister(newSizes(s)) }

// measureTime is the maximum time for measuring at one scrape.
const measureTime = 5 * time.Second

// sizes are the gauges, measured at each scrape.
type sizes struct {
	source  Source
	failing *gauge
	plane   []planeGauge
	each    []computerGauge
	running *gauge
	pool    *gauge
	disk    *gauge
}

type gauge struct{ desc *prometheus.Desc }

// planeGauge is a gauge of the control plane.
type planeGauge struct {
	*gauge
	of func(f *supervisor.Figures) float64
}

// computerGauge is a gauge of each computer; ok is false if its value is not known.
type computerGauge struct {
	*gauge
	of func(c *supervisor.ComputerFigures) (value float64, ok bool)
}

func newGauge(name, help string, labels ...string) *gauge {
	return &gauge{prometheus.NewDesc("choir_"+name, help, labels, nil)}
}

func newSizes(s Source) *sizes {
	return &sizes{
		source:  s,
		failing: newGauge("failing", "Things that fail, by part, as in /health; all 0 when choir is well.", "part"),
		running: newGauge("sandbox_running", "1 while the sandbox of the role runs.", "computer", "role"),
		pool:    newGauge("computers", "Computers of the data folder, by state.", "state"),
		disk:    newGauge("disk_bytes", "Bytes of a computer: its journal and the SQLite copy on disk, its blobs as measured last, and the files of its workspace at the newest snapshot.", "computer", "part"),
		plane: []planeGauge{
			{newGauge("bus_connections", "Connections to the bus: roles, pages and the control plane."), func(f *supervisor.Figures) float64 { return float64(f.Bus.Connections) }},
			{newGauge("bus_slow_consumers", "Connections that the bus ended because they did not keep up, since it started."), func(f *supervisor.Figures) float64 { return float64(f.Bus.SlowConsumers) }},
			{newGauge("bus_store_bytes", "Bytes of the delivery stream on disk."), func(f *supervisor.Figures) float64 { return float64(f.Bus.StoreBytes) }},
			{newGauge("computers_opened", "Computers that were opened since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Pool.Opened) }},
			{newGauge("computers_hibernations", "Computers that were closed because they were idle, since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Pool.Closed) }},
			{newGauge("computers_frozen", "Open computers whose programs stand still."), func(f *supervisor.Figures) float64 { return float64(f.Pool.Frozen) }},
			{newGauge("computers_thaws", "Frozen computers that went on, since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Pool.Thawed) }},
			{newGauge("sandboxes_ready", "Sandboxes that were started before they are needed."), func(f *supervisor.Figures) float64 { return float64(f.Ready.Ready) }},
			{newGauge("sandboxes_claimed", "Sandboxes that were ready when they were needed, since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Ready.Claimed) }},
			{newGauge("sandboxes_missed", "Sandboxes that were needed and not ready, since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Ready.Missed) }},
			{newGauge("sandboxes_dropped", "Sandboxes that were started beforehand and ended unused, since choir started."), func(f *supervisor.Figures) float64 { return float64(f.Ready.Dropped) }},
			{newGauge("data_size_bytes", "Size of the file system that has the data folder."), func(f *supervisor.Figures) float64 { return float64(f.Disk.Size) }},
			{newGauge("data_free_bytes", "Bytes of it that choir may still use."), func(f *supervisor.Figures) float64 { return float64(f.Disk.Free) }},
		},
		each: computerGauges(),
	}
}

// computerGauges returns the gauges of each computer.
func computerGauges() []computerGauge {
	always := func(of func(c *supervisor.ComputerFigures) float64) func(*supervisor.ComputerFigures) (float64, bool) {
		return func(c *supervisor.ComputerFigures) (float64, bool) { return of(c), true }
	}
	known := func(of func(c *supervisor.ComputerFigures) float64) func(*supervisor.ComputerFigures) (float64, bool) {
		return func(c *supervisor.ComputerFigures) (float64, bool) { return of(c), c.Known }
	}
	each := func(name, help string, of func(*supervisor.ComputerFigures) (float64, bool)) computerGauge {
		return computerGauge{newGauge(name, help, "computer"), of}
	}
	return []computerGauge{
		each("log_head", "Number of the newest event.", always(func(c *supervisor.ComputerFigures) float64 { return float64(c.Log.Head) })),
		each("log_read_only", "1 while the log takes no events.", always(func(c *supervisor.ComputerFigures) float64 { return truth(c.ReadOnly) })),
		each("log_copy_lag_events", "Events that the SQLite copy of the log lacks.", always(func(c *supervisor.ComputerFigures) float64 {
			return float64(max(c.Log.Head, c.Log.Copied) - c.Log.Copied)
		})),
		each("log_copy_lag_bytes", "Bytes of those events.", always(func(c *supervisor.ComputerFigures) float64 { return float64(c.Log.Behind) })),
		each("model_calls_open", "Model calls that are being made, or wait for their turn.", always(func(c *supervisor.ComputerFigures) float64 { return float64(c.Calls) })),
		each("runs_open", "Runs that have not ended.", known(func(c *supervisor.ComputerFigures) float64 { return float64(c.Runs) })),
		each("tasks_open", "Tasks without a result.", known(func(c *supervisor.ComputerFigures) float64 { return float64(c.Tasks) })),
		each("workspace_files", "Files and links of the workspace at the newest snapshot.", known(func(c *supervisor.ComputerFigures) float64 { return float64(c.Workspace.Files) })),
	}
}

// truth returns 1 for true and 0 for false.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (s *sizes) Describe(to chan<- *prometheus.Desc) {
	for _, g := range []*gauge{s.failing, s.running, s.pool, s.disk} {
		to <- g.desc
	}
	for _, g := range s.plane {
		to <- g.desc
	}
	for _, g := range s.each {
		to <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (s *sizes) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), measureTime)
	defer cancel()
	f := s.source.Figures(ctx)
	for _, part := range supervisor.Parts {
		s.failing.send(to, float64(f.Failing[part]), part)
	}
	for _, g := range s.plane {
		g.send(to, g.of(&f))
	}
	s.pool.send(to, float64(f.Pool.Open), "open")
	s.pool.send(to, float64(f.Pool.Hibernated), "hibernated")
	s.pool.send(to, float64(f.Pool.Failed), "failed")
	for i := range f.Computers {
		s.collectComputer(to, &f.Computers[i])
	}
}

// collectComputer sends the gauges of one computer.
func (s *sizes) collectComputer(to chan<- prometheus.Metric, c *supervisor.ComputerFigures) {
	id := string(c.ID)
	for _, g := range s.each {
		if v, ok := g.of(c); ok {
			g.send(to, v, id)
		}
	}
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		s.running.send(to, truth(c.Running[role]), id, string(role))
	}
	s.disk.send(to, float64(c.Log.JournalBytes), id, "journal")
	s.disk.send(to, float64(c.Log.CopyBytes), id, "copy")
	if c.BlobsKnown {
		s.disk.send(to, float64(c.Blobs.Bytes), id, "blobs")
	}
	if c.Known {
		s.disk.send(to, float64(c.Workspace.Bytes), id, "workspace")
	}
}

// send sends the value of a gauge with labels.
func (g *gauge) send(to chan<- prometheus.Metric, v float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, v, labels...)
}
