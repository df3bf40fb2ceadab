package choir

// DocumentRenamed gives a document another title.
type DocumentRenamed struct {
	Document ID     `json:"document" choir:"id7" doc:"The document."`
	Title    string `json:"title" choir:"len=1..200" doc:"Its title now."`
}

// DocumentRemoved takes a document away; its versions stay in the log.
type DocumentRemoved struct {
	Document ID `json:"document" choir:"id7" doc:"The document."`
}

// OverlayKind is the kind of an overlay: a proposal or a comment.
type OverlayKind string

// The kinds of overlay.
const (
	OverlayProposal OverlayKind = "proposal"
	OverlayComment  OverlayKind = "comment"
)

// OverlayAdded puts something over a version of a document without changing it.
type OverlayAdded struct {
	Overlay  ID          `json:"overlay" choir:"id7" doc:"The overlay."`
	Document ID          `json:"document" choir:"id7" doc:"The document."`
	Version  int         `json:"version" choir:"range=0..1000000" doc:"Version it was made on."`
	Kind     OverlayKind `json:"kind" choir:"enum=proposal|comment" doc:"Text to take the place of other text, or words about it."`
	Anchor   TextAnchor  `json:"anchor" doc:"Text it is about; without one it is about the whole."`
	Text     string      `json:"text" choir:"len=0..20000" doc:"Markdown: what is proposed, or said."`
	ReplyTo  ID          `json:"reply_to,omitempty" choir:"id7" doc:"Overlay that this answers."`
}

// TextAnchor finds text again in another version: the text itself, and what was
// around it (the TextQuoteSelector of the W3C Web Annotation Data Model).
type TextAnchor struct {
	Exact  string `json:"exact,omitempty" choir:"len=0..4000" doc:"The text, without its marks."`
	Prefix string `json:"prefix,omitempty" choir:"len=0..200" doc:"Text just before it; without the text itself, the place after this."`
	Suffix string `json:"suffix,omitempty" choir:"len=0..200" doc:"Text just after it."`
}

// ProposalTarget is where a run's answer is proposed: over a version of a
// document.
type ProposalTarget struct {
	Document ID         `json:"document" choir:"id7" doc:"The document."`
	Version  int        `json:"version" choir:"range=0..1000000" doc:"Version that was read."`
	Anchor   TextAnchor `json:"anchor" doc:"Text that the answer may take the place of."`
}

// OverlayOutcome is how an overlay was settled.
type OverlayOutcome string

// The outcomes of an overlay; an open one has none.
const (
	OverlayAccepted OverlayOutcome = "accepted"
	OverlayRejected OverlayOutcome = "rejected"
	OverlayResolved OverlayOutcome = "resolved"
	OverlayReopened OverlayOutcome = "reopened"
)

// OverlaySettled records how an overlay was settled.
type OverlaySettled struct {
	Overlay  ID             `json:"overlay" choir:"id7" doc:"The overlay."`
	Document ID             `json:"document" choir:"id7" doc:"The document."`
	Outcome  OverlayOutcome `json:"outcome" choir:"enum=accepted|rejected|resolved|reopened" doc:"accepted and rejected are for proposals, resolved for comments."`
}

// EventType implements Payload.
func (DocumentRenamed) EventType() Type { return "document.renamed" }

// EventType implements Payload.
func (DocumentRemoved) EventType() Type { return "document.removed" }

// EventType implements Payload.
func (OverlayAdded) EventType() Type { return "overlay.added" }

// EventType implements Payload.
func (OverlaySettled) EventType() Type { return "overlay.settled" }
