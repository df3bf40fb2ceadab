package choir

// EffectAnswer is the owner's answer to a result that waits for approval.
type EffectAnswer string

// The answers.
const (
	EffectApprove EffectAnswer = "approve" // the result is in the workspace
	EffectRefuse  EffectAnswer = "refuse"  // nothing of it is
	EffectAgain   EffectAnswer = "again"   // another task does it again, on the workspace as it is now
)

// EffectHost is a host that something in a task wanted.
type EffectHost struct {
	Host string `json:"host" choir:"len=1..300" doc:"The host."`
	Port int    `json:"port,omitempty" choir:"range=1..65535" doc:"Its port, when it could be read."`
	Sent bool   `json:"sent,omitempty" doc:"It was reached; else nothing was sent."`
	// Programs choose the address that says whose they are.
	Beside bool `json:"beside,omitempty" doc:"Something else in the sandbox reached it while the task worked, or the task did so in its place."`
}

// EffectHeld is a finished task whose result waits for the owner's approval. Nothing of it is in
// the workspace.
type EffectHeld struct {
	Rules      []string        `json:"rules" choir:"len=1..64,each=1..400" doc:"Rules of choir.toml that demand the approval, in words."`
	Base       Digest          `json:"base" choir:"digest" doc:"The workspace before the task."`
	Snapshot   Digest          `json:"snapshot" choir:"digest" doc:"The same workspace with what the task changed, and nothing else: what an approval lands."`
	Files      int64           `json:"files" choir:"range=0..9007199254740991" doc:"Files that it changes, outside of .git folders."`
	Added      int64           `json:"added" choir:"range=0..9007199254740991" doc:"Lines that it adds."`
	Removed    int64           `json:"removed" choir:"range=0..9007199254740991" doc:"Lines that it removes."`
	Tools      []string        `json:"tools" choir:"len=0..64,each=1..100" doc:"Tools that were called."`
	Hosts      []EffectHost    `json:"hosts" choir:"len=0..64" doc:"Hosts that it wanted, as the control plane saw it."`
	MoreHosts  bool            `json:"more_hosts,omitempty" doc:"There are more hosts than are listed, or than the log has."`
	Result     AssociateResult `json:"result" doc:"The task's result, which it gets once this is approved."`
	Checkpoint *HeldCheckpoint `json:"checkpoint,omitempty" doc:"Checkpoint of the result."`
}

// HeldCheckpoint is a checkpoint that is made with the approval of a result; see CheckpointCreated.
type HeldCheckpoint struct {
	Checkpoint ID       `json:"checkpoint" choir:"id7" doc:"Name of the checkpoint."`
	Subject    string   `json:"subject" choir:"len=1..200" doc:"First line of the commit message."`
	Trigger    string   `json:"trigger" choir:"enum=task|manual|count|time|deploy" doc:"Why it was made."`
	Verified   bool     `json:"verified" doc:"The change passed verification, says the Associate."`
	Commits    []Commit `json:"commits,omitempty" choir:"len=0..64" doc:"Git commits, which are in the snapshot."`
	Withheld   []string `json:"withheld,omitempty" choir:"len=0..256,each=1..4096" doc:"Paths that look like keys: in the snapshot, not in the commit."`
}

// EffectAnswered is the owner's one answer to a result that waits. Of an approval it says that
// the result has landed.
type EffectAnswered struct {
	Answer   EffectAnswer `json:"answer" choir:"enum=approve|refuse|again" doc:"What the owner wants."`
	Reason   string       `json:"reason,omitempty" choir:"len=1..2000" doc:"Why, for the Director."`
	Before   Digest       `json:"before,omitempty" choir:"digest" doc:"The workspace just before an approved result landed."`
	Snapshot Digest       `json:"snapshot,omitempty" choir:"digest" doc:"The workspace with it."`
	Files    int64        `json:"files,omitempty" choir:"range=0..9007199254740991" doc:"Files that it changed."`
	Again    ID           `json:"again,omitempty" choir:"id7" doc:"Task that does it again; its result becomes this task's."`
}

// EventType implements Payload.
func (EffectHeld) EventType() Type { return "effect.held" }

// EventType implements Payload.
func (EffectAnswered) EventType() Type { return "effect.answered" }
