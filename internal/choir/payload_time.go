package choir

// TimelineUndone says that what one action changed was undone, and what
// came after it kept.
type TimelineUndone struct {
	Of       ID     `json:"of" choir:"id7" doc:"The run, the task or the tool call."`
	Snapshot Digest `json:"snapshot" choir:"digest" doc:"The workspace now."`
	Before   Digest `json:"before" choir:"digest" doc:"The workspace just before, so that this can be rewound."`
	Files    int64  `json:"files" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
}

// TimelineForked says that another computer begins with this one's past.
type TimelineForked struct {
	Computer ID     `json:"computer" choir:"id7" doc:"The new computer."`
	Seq      uint64 `json:"at_seq" choir:"range=1..9007199254740991" doc:"Last event that both have."`
}

// ComputerForked is the first event that a fork has alone.
type ComputerForked struct {
	From ID     `json:"from" choir:"id7" doc:"The computer it was forked from."`
	Seq  uint64 `json:"at_seq" choir:"range=1..9007199254740991" doc:"Last event that both have."`
	Hash Digest `json:"hash" choir:"digest" doc:"Hash of that event, and so of all before it."`
	Name string `json:"name" choir:"len=1..100" doc:"Name the owner sees."`
}

// ComputerImported is the first event that an imported computer has alone.
type ComputerImported struct {
	From    ID     `json:"from" choir:"id7" doc:"The computer that was exported."`
	Seq     uint64 `json:"at_seq" choir:"range=1..9007199254740991" doc:"Last event that was exported."`
	Hash    Digest `json:"hash" choir:"digest" doc:"Hash of that event, and so of all before it."`
	Archive Digest `json:"archive" choir:"digest" doc:"SHA-256 of the manifest of the file it came in."`
	Name    string `json:"name" choir:"len=1..100" doc:"Name the owner sees."`
}

// ComputerExported says that the whole computer was written into a file.
type ComputerExported struct {
	Seq      uint64   `json:"at_seq" choir:"range=1..9007199254740991" doc:"Last event in the file."`
	Archive  Digest   `json:"archive" choir:"digest" doc:"SHA-256 of the manifest of the file."`
	Withheld []string `json:"withheld,omitempty" choir:"len=0..256,each=1..4096" doc:"Paths that look like keys: their content is not in the file."`
}

// ChangesTaken says that changes of another computer were applied to this one.
type ChangesTaken struct {
	From     ID     `json:"from" choir:"id7" doc:"The computer they came from."`
	Seq      uint64 `json:"at_seq" choir:"range=1..9007199254740991" doc:"Its last event then."`
	Snapshot Digest `json:"snapshot" choir:"digest" doc:"The workspace now."`
	Before   Digest `json:"before" choir:"digest" doc:"The workspace just before, so that this can be rewound."`
	Files    int64  `json:"files" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
}

// EventType implements Payload.
func (TimelineUndone) EventType() Type { return "timeline.undone" }

// EventType implements Payload.
func (TimelineForked) EventType() Type { return "timeline.forked" }

// EventType implements Payload.
func (ComputerForked) EventType() Type { return "computer.forked" }

// EventType implements Payload.
func (ComputerImported) EventType() Type { return "computer.imported" }

// EventType implements Payload.
func (ComputerExported) EventType() Type { return "computer.exported" }

// EventType implements Payload.
func (ChangesTaken) EventType() Type { return "changes.taken" }
