package eventstore

import "choiros/internal/choir"

// checkpointsTable stores the checkpoints by id.
var checkpointsTable = &keyed[Checkpoint]{
	projection: projection{
		name: "checkpoints", since: 1, key: 1, columns: []column{keyColumn, seqColumn, valueColumn},
		indexes: []string{"checkpoints_by_seq ON checkpoints (seq)"},
		on:      reducers{choir.TypeCheckpointCreated: on(checkpointCreated)},
	},
	index: func(x *Checkpoint) row { return row{seq: x.Seq} },
}

func checkpointCreated(checkpoints *cells[Checkpoint], e *choir.Event, p *choir.CheckpointCreated) error {
	if _, known, err := checkpoints.get(p.Checkpoint); err != nil || known {
		return err
	}
	checkpoints.put(p.Checkpoint, Checkpoint{
		ID: p.Checkpoint, Seq: e.Seq, At: e.Time, Run: e.Run, Task: e.Task, Snapshot: p.Snapshot, Subject: p.Subject,
		Trigger: p.Trigger, Verified: p.Verified, Commits: p.Commits, Withheld: p.Withheld,
	})
	return nil
}
