package bus

// DraftChanged is the message that a draft of an app (typed text that is not saved)
// changed or was removed. Pages then read the text over HTTP.
type DraftChanged struct {
	App     string `json:"app"`
	Subject string `json:"subject"`
	// Revision is the draft's current revision; 0 if it was saved or discarded.
	Revision int64 `json:"revision"`
}
