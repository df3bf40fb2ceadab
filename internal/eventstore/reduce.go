package eventstore

import (
	"encoding/json"

	"choiros/internal/choir"
)

// reducer turns one event into changes of the view. It is pure: the same events
// over the same view always give the same rows.
type reducer func(v *view, e *choir.Event, p choir.Payload) error

// on makes a reducer of a function for one payload.
func on[P any](f func(*view, *choir.Event, *P) error) reducer {
	return func(v *view, e *choir.Event, p choir.Payload) error { return f(v, e, any(p).(*P)) }
}

// reducers are the event types that projections follow from; all others only
// lie in the log.
var reducers = map[choir.Type]reducer{
	"prompt.submitted":   on(promptSubmitted),
	"steering.submitted": on(steeringSubmitted),
	"plan.made":          on(planMade),
	"question.asked":     on(questionAsked),
	"question.answered":  on(questionAnswered),
	"toast.shown":        on(toastShown),
	"run.finished":       on(runFinished),
	"run.dismissed":      on(runDismissed),
	"task.dispatched":    on(taskDispatched),
	"task.started":       on(taskStarted),
	"task.returned":      on(taskReturned),
	"task.judged":        on(taskJudged),
	"model.returned":     on(modelReturned),
	"checkpoint.created": on(checkpointCreated),
	"snapshot.taken":     on(snapshotTaken),
	"document.created":   on(documentCreated),
	"document.versioned": on(documentVersioned),
	"document.renamed":   on(documentRenamed),
	"document.removed":   on(documentRemoved),
	"overlay.added":      on(overlayAdded),
	"overlay.settled":    on(overlaySettled),
	"file.written":       on(fileWritten),
	"file.removed":       on(fileRemoved),
	"window.opened":      on(windowOpened),
	"window.moved":       on(windowMoved),
	"window.shown":       on(windowShown),
	"window.retitled":    on(windowRetitled),
	"window.focused":     on(windowFocused),
	"window.closed":      on(windowClosed),
	"theme.changed":      on(themeChanged),
	"setting.changed":    on(settingChanged),
	"desktop.upgraded":   on(desktopUpgraded),
	"timeline.rewound":   on(timelineRewound),
	"timeline.undone":    on(timelineUndone),
}

// reduce applies an event. The payload is decoded when it is not given.
func (v *view) reduce(e *choir.Event, p choir.Payload) error {
	r, ok := reducers[e.Type]
	if !ok {
		return nil
	}
	if p == nil {
		var err error
		if p, err = choir.ReadPayload(e.Type, e.Payload); err != nil {
			return choir.Wrap("eventstore.reduce", choir.CodeCorrupt, err, "event %d", e.Seq)
		}
	}
	return r(v, e, p)
}

func encode(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}
