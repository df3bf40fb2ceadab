package choir

// ComputerCreated is the first event of every log.
type ComputerCreated struct {
	Name   string `json:"name" choir:"len=1..100" doc:"Name the owner sees."`
	Format int    `json:"format" choir:"range=1..1" doc:"Version of the log format, see docs/FORMAT.md."`
}

// SessionStarted says that the computer woke.
type SessionStarted struct {
	Version   string `json:"version" choir:"len=1..100" doc:"Version of choir."`
	Isolation string `json:"isolation" choir:"len=1..200" doc:"Isolation level that is really in force."`
	Recovered bool   `json:"recovered,omitempty" doc:"The session before did not end in order."`
	Boot      string `json:"boot,omitempty" choir:"len=1..100" doc:"Names the time since the machine was started."`
}

// SessionEnded says that the computer went to sleep.
type SessionEnded struct {
	Reason string `json:"reason" choir:"len=1..400" doc:"Why."`
}

// SandboxStarted says that a sandbox runs and how well it is isolated.
type SandboxStarted struct {
	Role      Role     `json:"role" choir:"enum=director|associate|pool" doc:"Whose sandbox."`
	Driver    string   `json:"driver" choir:"len=1..40" doc:"Rung of the isolation ladder."`
	Level     string   `json:"level" choir:"len=1..400" doc:"Level that is really in force."`
	Missing   []string `json:"missing,omitempty" choir:"len=0..32,each=1..400" doc:"Protections that this machine could not give."`
	PublicKey string   `json:"public_key,omitempty" choir:"len=1..200" doc:"Ed25519 key, base64, made in the sandbox; verifies the Director's answers."`
	Recovered bool     `json:"recovered,omitempty" doc:"It ran already and was taken up again."`
}

// SandboxStopped says that a sandbox is gone.
type SandboxStopped struct {
	Role   Role   `json:"role" choir:"enum=director|associate|pool" doc:"Whose sandbox."`
	Reason string `json:"reason" choir:"len=1..400" doc:"Why."`
}

// SandboxOutOfMemory is the reason of SandboxStopped where the kernel ended a sandbox for its memory.
const SandboxOutOfMemory = "a program in it took more memory than the sandbox may have"

// SnapshotTaken says that the whole workspace, exactly, is in the store.
type SnapshotTaken struct {
	Snapshot Digest `json:"snapshot" choir:"digest" doc:"Digest of the root folder's manifest."`
	Reason   string `json:"reason" choir:"enum=created|task_started|task_ended|tool_called|tool_returned|checkpoint|rewind|undo|taken|approved|repo_added|changed_outside|power_cut" doc:"Why it was taken."`
	Files    int64  `json:"files" choir:"range=0..9007199254740991" doc:"Files and links in the tree."`
	Bytes    int64  `json:"bytes" choir:"range=0..9007199254740991" doc:"Bytes of content in the tree."`
}

// CachesLeftOut lists the paths that snapshots leave out from here on: caches above the
// limit, and other paths that are too much for a snapshot. None when both lists are
// empty.
type CachesLeftOut struct {
	Paths []string `json:"paths,omitempty" choir:"len=0..100,each=1..16384" doc:"Folders below the workspace root, escaped; the first hundred."`
	Limit int64    `json:"limit" choir:"range=0..9007199254740991" doc:"Bytes that a cache may have to be kept; 0 is no limit."`
	// Over is absent in events of older versions.
	Over []LeftPath `json:"over,omitempty" choir:"len=0..100" doc:"Other paths that no snapshot holds, with the reason; the first hundred."`
}

// LeftReason says why no snapshot holds a path.
type LeftReason string

// The reasons. Each but the last four has a limit: storage.file_mb,
// storage.workspace_mb, storage.entries, and 1000 folders or 4096 characters.
const (
	LeftFileTooLarge LeftReason = "file_too_large"
	LeftTreeTooLarge LeftReason = "workspace_too_large"
	LeftTooMany      LeftReason = "too_many"
	LeftTooDeep      LeftReason = "too_deep"
	LeftChanging     LeftReason = "changing"   // it did not hold still while it was read
	LeftNoSpace      LeftReason = "no_space"   // the disk has no room for a copy
	LeftUnreadable   LeftReason = "unreadable" // it belongs to another user, who lets nobody read it
	LeftRemoving     LeftReason = "removing"   // it is being removed for good
)

// LeftPath is one path that no snapshot holds, with everything below it.
type LeftPath struct {
	Path   string     `json:"path" choir:"len=1..4096" doc:"Path below the workspace root, escaped."`
	Reason LeftReason `json:"reason" choir:"enum=file_too_large|workspace_too_large|too_many|too_deep|changing|no_space|unreadable|removing" doc:"Why no snapshot holds it."`
	Size   int64      `json:"size,omitempty" choir:"range=0..9007199254740991" doc:"Bytes of a file."`
}

// FileWritten lists files that are new or changed. Paths are below the
// workspace root and escaped as in FileChange.
type FileWritten struct {
	Files    []FileState `json:"files" choir:"len=1..4096" doc:"The files as they are now."`
	Snapshot Digest      `json:"snapshot" choir:"digest" doc:"The snapshot in which they are."`
}

// FileState is one file as it is.
type FileState struct {
	Path   string `json:"path" choir:"len=1..4096" doc:"Path below the workspace root."`
	Kind   string `json:"kind" choir:"enum=file|dir|symlink|fifo" doc:"What it is."`
	Mode   uint32 `json:"mode" choir:"range=0..4095" doc:"Permission bits."`
	Size   int64  `json:"size" choir:"range=0..9007199254740991" doc:"Bytes."`
	MTime  int64  `json:"mtime_ms" choir:"range=-9007199254740991..9007199254740991" doc:"Modification time, Unix milliseconds; the snapshot has nanoseconds."`
	Digest Digest `json:"digest,omitempty" choir:"digest" doc:"Content of a file."`
	Target string `json:"target,omitempty" choir:"len=0..4096" doc:"Target of a link, escaped as a path."`
}

// FileRemoved lists files that are gone.
type FileRemoved struct {
	Paths    []string `json:"paths" choir:"len=1..4096,each=1..4096" doc:"Paths below the workspace root."`
	Snapshot Digest   `json:"snapshot" choir:"digest" doc:"The snapshot in which they are gone."`
}

// CheckpointCreated names a snapshot and its git commits.
type CheckpointCreated struct {
	Checkpoint ID       `json:"checkpoint" choir:"id7" doc:"Name of the checkpoint."`
	Snapshot   Digest   `json:"snapshot" choir:"digest" doc:"The workspace, exactly."`
	Subject    string   `json:"subject" choir:"len=1..200" doc:"First line of the commit message."`
	Trigger    string   `json:"trigger" choir:"enum=task|manual|count|time|deploy" doc:"Why it was made."`
	Verified   bool     `json:"verified" doc:"The change passed verification, says the Associate."`
	Commits    []Commit `json:"commits,omitempty" choir:"len=0..64" doc:"Git commits; none when there was nothing to commit."`
	Withheld   []string `json:"withheld,omitempty" choir:"len=0..256,each=1..4096" doc:"Paths that look like keys: in the snapshot, not in the commit."`
}

// Commit is one git commit.
type Commit struct {
	Repo   string `json:"repo" choir:"len=0..100" doc:"Project under workspace/; empty for the workspace's own repository."`
	Commit string `json:"commit" choir:"len=40..64" doc:"Object name."`
}

// TimelineRewound says that what can be rewound is as it was after event ToSeq.
type TimelineRewound struct {
	ToSeq    uint64 `json:"to_seq" choir:"range=1..9007199254740991" doc:"The moment gone back to."`
	Snapshot Digest `json:"snapshot" choir:"digest" doc:"The workspace now, as it was then."`
	Before   Digest `json:"before" choir:"digest" doc:"The workspace just before, so that this can be rewound."`
	Files    int64  `json:"files" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
}

// RepoAdded says that a person brought a project.
type RepoAdded struct {
	Name  string `json:"name" choir:"len=1..100" doc:"Folder under workspace/."`
	Files int64  `json:"files" choir:"range=0..9007199254740991" doc:"Files unpacked, without those of its git history."`
	Bytes int64  `json:"bytes" choir:"range=0..9007199254740991" doc:"Bytes unpacked."`
	Head  string `json:"head,omitempty" choir:"len=1..64" doc:"Commit it came with."`
}

// RepoExported says that work left the computer.
type RepoExported struct {
	Name   string `json:"name" choir:"len=1..100" doc:"Folder under workspace/."`
	Format string `json:"format" choir:"enum=bundle|patch" doc:"A branch in a bundle, or a patch."`
	Commit string `json:"commit,omitempty" choir:"len=1..64" doc:"Commit exported."`
}

// LogRepaired says that a damaged copy was restored from the other.
type LogRepaired struct {
	Copy   string `json:"copy" choir:"enum=journal|sqlite" doc:"The copy that was damaged."`
	From   uint64 `json:"from" choir:"range=1..9007199254740991" doc:"First event restored."`
	To     uint64 `json:"to" choir:"range=1..9007199254740991" doc:"Last event restored."`
	Damage string `json:"damage" choir:"len=1..400" doc:"What was wrong."`
	Kind   string `json:"kind,omitempty" choir:"enum=record|chain|header|missing|file|rows" doc:"Kind of the damage: as in FORMAT.md for the journal; the file or rows of the SQLite copy."`
	File   string `json:"file,omitempty" choir:"len=1..255" doc:"Segment of the journal that was damaged."`
	Offset int64  `json:"offset,omitempty" choir:"range=0..9007199254740991" doc:"First byte of the file that was wrong."`
	End    int64  `json:"end,omitempty" choir:"range=0..9007199254740991" doc:"Byte behind the last that was wrong; as offset when nothing was there."`
}

// EventType implements Payload.
func (ComputerCreated) EventType() Type { return "computer.created" }

// EventType implements Payload.
func (SessionStarted) EventType() Type { return "session.started" }

// EventType implements Payload.
func (SessionEnded) EventType() Type { return "session.ended" }

// EventType implements Payload.
func (SandboxStarted) EventType() Type { return "sandbox.started" }

// EventType implements Payload.
func (SandboxStopped) EventType() Type { return "sandbox.stopped" }

// EventType implements Payload.
func (SnapshotTaken) EventType() Type { return "snapshot.taken" }

// EventType implements Payload.
func (CachesLeftOut) EventType() Type { return "caches.left_out" }

// EventType implements Payload.
func (FileWritten) EventType() Type { return "file.written" }

// EventType implements Payload.
func (FileRemoved) EventType() Type { return "file.removed" }

// EventType implements Payload.
func (CheckpointCreated) EventType() Type { return "checkpoint.created" }

// EventType implements Payload.
func (TimelineRewound) EventType() Type { return "timeline.rewound" }

// EventType implements Payload.
func (RepoAdded) EventType() Type { return "repo.added" }

// EventType implements Payload.
func (RepoExported) EventType() Type { return "repo.exported" }

// EventType implements Payload.
func (LogRepaired) EventType() Type { return "log.repaired" }
