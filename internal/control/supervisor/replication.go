package supervisor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"choiros/internal/bus/cluster"
	"choiros/internal/computer"
	"choiros/internal/sandbox"
)

// clusterConfig returns the connection to the cluster that stores second copies of the
// logs; nil if storage.durability is not "replicated".
func clusterConfig(cfg Config) *cluster.Config {
	if cfg.File.Storage.Durability != "replicated" {
		return nil
	}
	b := cfg.File.Bus
	c := &cluster.Config{Servers: b.Cluster, Credentials: b.ClusterCredentials, Timeout: time.Duration(b.ClusterTimeout) * time.Second}
	if cfg.Log != nil {
		c.Log = cfg.Log.Warn
	}
	return c
}

// notReplicated returns the reason why a computer's log is not replicated at the moment;
// nil if it is, has no replica or is read-only.
func notReplicated(c *computer.Computer) error {
	if r := c.Replica(); r != nil && c.Store().ReadOnly() == "" {
		return r.Healthy()
	}
	return nil
}

// replicationChecks returns a check per replicated computer, with the number of events
// that its cluster has.
func replicationChecks(all []*computer.Computer) (out []sandbox.Check) {
	for _, c := range all {
		r := c.Replica()
		if r == nil {
			continue
		}
		head, _ := c.Store().Head()
		check := sandbox.Check{Name: "copy of " + c.Name(), OK: true, Detail: fmt.Sprintf("the cluster has %d of %d events", r.Acked(), head)}
		if err := notReplicated(c); err != nil {
			check.OK, check.Detail, check.Remedy = false, err.Error(), "start the nodes of bus.cluster; appends wait for them, and nothing is lost"
		}
		out = append(out, check)
	}
	return out
}

// clusterCheck tests the connection to the configured cluster; none without one.
func clusterCheck(ctx context.Context, cfg Config) []sandbox.Check {
	c := clusterConfig(cfg)
	if c == nil {
		return nil
	}
	check := sandbox.Check{Name: "cluster", OK: true, Detail: strings.Join(c.Servers, " ") + " answers"}
	if err := c.Probe(ctx); err != nil {
		check.OK, check.Detail = false, err.Error()
	}
	return []sandbox.Check{check}
}
