package eventstore

import "choiros/internal/choir"

// undosTable has the actions that were undone; the key is the run, the task or the
// tool call, the value an Undo. A rewind to before the undo takes the row back, as
// it does the files.
var undosTable = newVersioned("undos", 8, reducers{
	choir.TypeTimelineUndone: on(func(undos *versions, e *choir.Event, p *choir.TimelineUndone) error {
		return undos.setJSON(string(p.Of), e.Seq, Undo{Seq: e.Seq, At: e.Time})
	}),
	choir.TypeTimelineRewound: on(goBack),
})
