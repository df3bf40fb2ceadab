package eventstore

import (
	"encoding/json"

	"choiros/internal/choir"
)

// overlaysTable stores the overlays of documents; the key is the document's id, "/" and
// the overlay's id, the value an Overlay.
var overlaysTable = newVersioned("overlays", 5, reducers{
	choir.TypeOverlayAdded:    on(overlayAdded),
	choir.TypeOverlaySettled:  on(overlaySettled),
	choir.TypeTimelineRewound: on(restoreVersions),
})

// Overlay is a proposal or a comment over a version of a document.
type Overlay struct {
	ID       choir.ID             `json:"id"`
	Document choir.ID             `json:"document"`
	Version  int                  `json:"version" doc:"Version it was made on."`
	Kind     choir.OverlayKind    `json:"kind"`
	Anchor   choir.TextAnchor     `json:"anchor"`
	Text     string               `json:"text"`
	ReplyTo  choir.ID             `json:"reply_to,omitempty"`
	By       choir.Source         `json:"by"`
	Seq      uint64               `json:"seq"`
	At       choir.Time           `json:"at"`
	Outcome  choir.OverlayOutcome `json:"outcome,omitempty" doc:"What became of it; none while it is open."`
}

func overlayKey(document, overlay choir.ID) string { return string(document) + "/" + string(overlay) }

func overlayAdded(overlays *versions, e *choir.Event, p *choir.OverlayAdded) error {
	return overlays.setJSON(overlayKey(p.Document, p.Overlay), e.Seq, Overlay{
		ID: p.Overlay, Document: p.Document, Version: p.Version, Kind: p.Kind, Anchor: p.Anchor, Text: p.Text,
		ReplyTo: p.ReplyTo, By: e.Source, Seq: e.Seq, At: e.Time,
	})
}

// overlaySettled sets the outcome of an overlay. It does nothing if there is no such
// overlay.
func overlaySettled(overlays *versions, e *choir.Event, p *choir.OverlaySettled) error {
	key := overlayKey(p.Document, p.Overlay)
	c, err := overlays.get(key)
	if err != nil || !c.exists {
		return err
	}
	var o Overlay
	if err := json.Unmarshal([]byte(c.value), &o); err != nil {
		return damagedRow(overlays.table, key, err)
	}
	if o.Outcome = p.Outcome; p.Outcome == choir.OverlayReopened {
		o.Outcome = ""
	}
	return overlays.setJSON(key, e.Seq, o)
}
