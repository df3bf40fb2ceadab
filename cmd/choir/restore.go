package main

import (
	"context"
	"strconv"

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
	a.warn("restore.noContent")
	if a.json {
		a.printJSON(restored{id, name, last.Seq, last.Hash})
		return nil
	}
	a.say("restore.done", "name", strconv.Quote(name), "data", a.data, "seq", last.Seq, "hash", last.Hash)
	return nil
}
