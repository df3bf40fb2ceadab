package main

import (
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"choiros/internal/bus/cluster"
	"choiros/internal/config"
)

// TestTheClusterIsTheOneConfigured: without durability "replicated" there is none, and no
// pointer that looks like one.
func TestTheClusterIsTheOneConfigured(t *testing.T) {
	file := config.Default()
	file.Bus.Cluster, file.Bus.ClusterCredentials, file.Bus.ClusterTimeout = []string{"nats://127.0.0.1:4222"}, "/k", 7
	if c := clusterOf(file, nil); c != nil {
		t.Errorf("a cluster without replication: %v", c)
	}
	file.Storage.Durability = "replicated"
	c, ok := clusterOf(file, slog.New(slog.NewTextHandler(io.Discard, nil))).(cluster.Config)
	if !ok || !slices.Equal(c.Nodes(), file.Bus.Cluster) || c.Credentials != "/k" || c.Timeout != 7*time.Second || c.Log == nil {
		t.Errorf("the cluster is %+v", c)
	}
}
