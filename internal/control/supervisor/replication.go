package supervisor

import (
	"context"
	"fmt"
	"strings"

	"choiros/internal/computer"
	"choiros/internal/sandbox"
)

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
	c := cfg.Cluster
	if c == nil {
		return nil
	}
	check := sandbox.Check{Name: "cluster", OK: true, Detail: strings.Join(c.Nodes(), " ") + " answers"}
	if err := c.Probe(ctx); err != nil {
		check.OK, check.Detail = false, err.Error()
	}
	return []sandbox.Check{check}
}
