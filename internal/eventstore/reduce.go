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
	choir.TypePromptSubmitted:   on(promptSubmitted),
	choir.TypeSteeringSubmitted: on(steeringSubmitted),
	choir.TypePlanMade:          on(planMade),
	choir.TypeQuestionAsked:     on(questionAsked),
	choir.TypeQuestionAnswered:  on(questionAnswered),
	choir.TypeToastShown:        on(toastShown),
	choir.TypeRunFinished:       on(runFinished),
	choir.TypeRunDismissed:      on(runDismissed),
	choir.TypeTaskDispatched:    on(taskDispatched),
	choir.TypeTaskStarted:       on(taskStarted),
	choir.TypeTaskReturned:      on(taskReturned),
	choir.TypeTaskJudged:        on(taskJudged),
	choir.TypeModelReturned:     on(modelReturned),
	choir.TypeCheckpointCreated: on(checkpointCreated),
	choir.TypeSnapshotTaken:     on(snapshotTaken),
	choir.TypeDocumentCreated:   on(documentCreated),
	choir.TypeDocumentVersioned: on(documentVersioned),
	choir.TypeDocumentRenamed:   on(documentRenamed),
	choir.TypeDocumentRemoved:   on(documentRemoved),
	choir.TypeOverlayAdded:      on(overlayAdded),
	choir.TypeOverlaySettled:    on(overlaySettled),
	choir.TypeFileWritten:       on(fileWritten),
	choir.TypeFileRemoved:       on(fileRemoved),
	choir.TypeWindowOpened:      on(windowOpened),
	choir.TypeWindowMoved:       on(windowMoved),
	choir.TypeWindowShown:       on(windowShown),
	choir.TypeWindowRetitled:    on(windowRetitled),
	choir.TypeWindowFocused:     on(windowFocused),
	choir.TypeWindowClosed:      on(windowClosed),
	choir.TypeThemeChanged:      on(themeChanged),
	choir.TypeSettingChanged:    on(settingChanged),
	choir.TypeDesktopUpgraded:   on(desktopUpgraded),
	choir.TypeTimelineRewound:   on(timelineRewound),
	choir.TypeTimelineUndone:    on(timelineUndone),
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
