package main

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/control/supervisor"
)

// restored is the JSON output of --restore-from-cluster.
type restored struct {
	ID   choir.ID     `json:"id"`
	Name string       `json:"name"`
	Seq  uint64       `json:"seq"`
	Hash choir.Digest `json:"hash"`
}

func runRestore(ctx context.Context, a *app, id choir.ID) error {
	file, from, err := a.loadConfig()
	if err != nil {
		return err
	}
	name, last, err := supervisor.RestoreFromCluster(ctx, supervisor.Config{Data: a.data, File: file, From: from, Cluster: clusterOf(file, nil)}, id)
	if err != nil {
		return err
	}
	a.warn("the cluster keeps the log and no content: bring the blobs from a backup before the first start, or files and large documents are missing")
	if a.json {
		a.printJSON(restored{id, name, last.Seq, last.Hash})
		return nil
	}
	a.printf("The log of %q is in %s, up to event %d with hash %s.\n", name, a.data, last.Seq, last.Hash)
	return nil
}
