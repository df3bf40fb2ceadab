package eventstore

import "choiros/internal/choir"

// snapshotsTable stores the snapshot of the workspace after an event, by the event's
// number; the value is a choir.SnapshotTaken.
var snapshotsTable = &listed{projection{
	name: "snapshots", since: 1, key: 1, columns: []column{seqColumn, valueColumn},
	on: reducers{
		choir.TypeSnapshotTaken: on(func(snapshots *listedRows, e *choir.Event, p *choir.SnapshotTaken) error {
			return snapshots.addJSON(row{seq: e.Seq}, p)
		}),
		choir.TypeTaskStarted: on(func(snapshots *listedRows, e *choir.Event, p *choir.TaskStarted) error {
			return snapshots.addJSON(row{seq: e.Seq}, choir.SnapshotTaken{Snapshot: p.Base, Reason: "task_started"})
		}),
		choir.TypeTimelineRewound: on(func(snapshots *listedRows, e *choir.Event, p *choir.TimelineRewound) error {
			return snapshots.addJSON(row{seq: e.Seq}, choir.SnapshotTaken{Snapshot: p.Snapshot, Reason: "rewind"})
		}),
	},
}}
