package bus

// DraftChanged says that a draft of an app was changed, or is gone: what a person
// typed and has not saved. Its text is read over HTTP.
type DraftChanged struct {
	App     string `json:"app"`
	Subject string `json:"subject"`
	// Revision is that of the draft now; 0 when it was saved or discarded.
	Revision int64 `json:"revision"`
}
