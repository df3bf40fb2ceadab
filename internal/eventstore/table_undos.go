package eventstore

import "choiros/internal/choir"

// undosTable stores undone actions; the key is the id of the run, task or tool call,
// the value an Undo. A rewind to before the undo removes the row.
var undosTable = newVersioned("undos", 8, reducers{
	choir.TypeTimelineUndone: on(func(undos *versions, e *choir.Event, p *choir.TimelineUndone) error {
		return undos.setJSON(string(p.Of), e.Seq, Undo{Seq: e.Seq, At: e.Time})
	}),
	choir.TypeTimelineRewound: on(restoreVersions),
})
