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

// clusterConfig is where the second copies of the logs are kept; nil for nowhere.
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

// notReplicated says why a computer's log is not copied at the moment, or nil.
func notReplicated(c *computer.Computer) error {
	if r := c.Replica(); r != nil && c.Store().ReadOnly() == "" {
		return r.Healthy()
	}
	return nil
}

// replicationChecks say of each computer how far its copy is.
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

// clusterCheck tries the cluster that the configuration names.
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
