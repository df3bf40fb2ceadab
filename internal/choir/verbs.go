package choir

import "encoding/json"

// Verb names what is asked of a computer by cmd, see Subjects.
type Verb string

// The verbs.
const (
	VerbAppend       Verb = "append"
	VerbEventsAfter  Verb = "events-after"
	VerbTasksAfter   Verb = "tasks-after"
	VerbRunRead      Verb = "run-read"
	VerbFactsRead    Verb = "facts-read"
	VerbLook         Verb = "look"
	VerbBlobPut      Verb = "blob-put"
	VerbBlobGet      Verb = "blob-get"
	VerbHello        Verb = "hello"
	VerbTaskBegin    Verb = "task-begin"
	VerbTaskTree     Verb = "task-tree"
	VerbTaskRollback Verb = "task-rollback"
	VerbTaskCommit   Verb = "task-commit"
	VerbTaskAttempt  Verb = "task-attempt"
	VerbTaskLand     Verb = "task-land"
	VerbTaskSteering Verb = "task-steering"
	VerbTaskOutput   Verb = "task-output"
)

// Limits of the verbs.
const (
	MaxDrafts      = 256       // drafts in one append
	MaxEventsAfter = 1000      // events in one answer
	BlobChunk      = 512 << 10 // bytes of content in one blob-put or blob-get
	OutputChunk    = 64 << 10  // bytes of output in one task-output
	LargeBody      = 900 << 10 // bytes of a request or a reply that goes in one message; of more the blob store has it
	MaxLargeBody   = 64 << 20  // bytes of a body in the blob store
	MaxFacts       = 1500      // bytes of the facts of one run
	MaxLook        = 16_000    // bytes of the answer to one look
)

// VerbInfo declares one verb: who may ask, with what, and what is answered.
type VerbInfo struct {
	Verb  Verb
	Doc   string
	Roles []Role
	// Request and Reply are zero values of the types on the wire.
	Request, Reply any
}

var verbs = []VerbInfo{
	{VerbAppend, "Append events: all of them or none, acknowledged when they are durable.", workers, AppendRequest{}, AppendReply{}},
	{VerbEventsAfter, "Read committed events in order.", readers, EventsAfterRequest{}, EventsAfterReply{}},
	{VerbTasksAfter, "Read the committed events of the types that the Associate hears, in order.", associate, TasksAfterRequest{}, TasksAfterReply{}},
	{VerbRunRead, "Read what was asked and answered in a run that has ended.", director, RunReadRequest{}, RunReadReply{}},
	{VerbFactsRead, "Read what lay in the workspace when a run was asked for, in about a kilobyte.", director, FactsReadRequest{}, FactsReadReply{}},
	{VerbLook, "List a folder, read a file or search, in a snapshot of the workspace.", director, LookRequest{}, LookReply{}},
	{VerbBlobPut, "Store one chunk of a blob.", workers, BlobPutRequest{}, BlobPutReply{}},
	{VerbBlobGet, "Read one chunk of a blob.", workers, BlobGetRequest{}, BlobGetReply{}},
	{VerbHello, "Say that the Director runs, and the key it signs with.", director, HelloRequest{}, Done{}},
	{VerbTaskBegin, "Take a task up; the workspace as it is now becomes the base of its rollback.", associate, TaskBeginRequest{}, TaskBeginReply{}},
	{VerbTaskTree, "Compare the workspace with the base of a task; appends nothing.", associate, TaskTreeRequest{}, TaskTreeReply{}},
	{VerbTaskRollback, "Put the workspace back to the base of a task, except what the owner wrote meanwhile.", associate, TaskRollbackRequest{}, TaskRollbackReply{}},
	{VerbTaskCommit, "Take a snapshot and append what changed.", associate, TaskCommitRequest{}, TaskCommitReply{}},
	{VerbTaskLand, "Merge what a task changed in a copy of its project into the workspace.", associate, TaskLandRequest{}, TaskLandReply{}},
	{VerbTaskAttempt, "Put what an earlier task tried, and what was taken back, into the workspace as the task's change.", associate, TaskAttemptRequest{}, TaskAttemptReply{}},
	{VerbTaskSteering, "Read what a person added to the run of a task, for the next model call of the task; appends that it was read.", associate, TaskSteeringRequest{}, TaskSteeringReply{}},
	{VerbTaskOutput, "Say that a command of a task runs, what it prints, and that it ended; for those who look on, and in no event.", associate, TaskOutputRequest{}, TaskOutputReply{}},
}

var (
	workers = []Role{RoleDirector, RoleAssociate}
	readers = []Role{RoleShell, RoleDesktop, RoleCLI, RoleDirector}
	callers = []Role{RoleShell, RoleDesktop, RoleCLI, RoleDirector, RoleAssociate}
)

// Verbs returns the declaration of every verb, in the order of docs/CONTRACTS.md.
func Verbs() []VerbInfo { return append([]VerbInfo(nil), verbs...) }

// LookupVerb returns the declaration of a verb; ok is false for an unknown verb.
func LookupVerb(v Verb) (VerbInfo, bool) {
	for _, info := range verbs {
		if info.Verb == v {
			return info, true
		}
	}
	return VerbInfo{}, false
}

// MayAsk reports whether the role may use this verb.
func (v VerbInfo) MayAsk(role Role) bool { return hasRole(v.Roles, role) }

// LargeRequest is sent in place of a request that does not fit into a message.
type LargeRequest struct {
	Large Digest `json:"large" choir:"digest" doc:"The blob that is the request."`
}

// Reply is the envelope of every answer: exactly one of its fields is set.
type Reply struct {
	OK    json.RawMessage `json:"ok,omitempty" doc:"The reply of the verb."`
	Large Digest          `json:"large,omitempty" choir:"digest" doc:"The blob that is the reply of the verb, where that does not fit into a message."`
	Error *Problem        `json:"error,omitempty" doc:"Why it was refused."`
}

// Done is the reply of a verb that answers nothing.
type Done struct{}

// AppendRequest asks for events to be appended.
type AppendRequest struct {
	Drafts []Draft `json:"drafts" choir:"len=1..256" doc:"The events; a draft's id is its idempotency key."`
}

// AppendReply acknowledges durable events, in the order of the drafts.
type AppendReply struct {
	Receipts []Receipt `json:"receipts" doc:"One receipt for each draft."`
}

// EventsAfterRequest asks for committed events.
type EventsAfterRequest struct {
	Seq   uint64 `json:"seq" choir:"range=0..9007199254740991" doc:"The last sequence number already known; 0 for none."`
	Limit int    `json:"limit,omitempty" choir:"range=1..1000" doc:"At most so many. Default 1000; fewer come when they are large."`
}

// EventsAfterReply are committed events, in order and without gaps.
type EventsAfterReply struct {
	Events []Event `json:"events" doc:"Events with larger sequence numbers; empty when there are none."`
	Head   uint64  `json:"head" choir:"range=0..9007199254740991" doc:"Sequence number of the newest event."`
}

// TasksAfterRequest asks for the events that the Associate works by, see InTaskFeed.
type TasksAfterRequest struct {
	Seq uint64 `json:"seq" choir:"range=0..9007199254740991" doc:"The last sequence number already known; 0 for none."`
}

// TasksAfterReply is a page of the events that the Associate works by, in order.
type TasksAfterReply struct {
	Events []Event `json:"events" doc:"Events with larger sequence numbers; others lie between them."`
	Next   uint64  `json:"next" choir:"range=0..9007199254740991" doc:"Number up to which the log was read: the next request goes on from it."`
	Head   uint64  `json:"head" choir:"range=0..9007199254740991" doc:"Sequence number of the newest event."`
}

// RunReadRequest asks for the two ends of a run.
type RunReadRequest struct {
	Run ID `json:"run" choir:"id7" doc:"A run that has ended."`
}

// RunReadReply is the first and the last event of a run. Neither ever changes, so that
// a second request reads the same.
type RunReadReply struct {
	Asked PromptSubmitted `json:"asked" doc:"The prompt it began with."`
	Ended RunFinished     `json:"ended" doc:"How it ended."`
}

// FactsReadRequest asks for the facts that a run begins with.
type FactsReadRequest struct {
	Run ID `json:"run" choir:"id7" doc:"The run."`
}

// FactsReadReply describes, by the newest snapshot before a run's prompt, the project
// that the prompt names, or all projects. Names and texts in it are those of the
// files: data, and nobody's instruction.
type FactsReadReply struct {
	Text string `json:"text,omitempty" choir:"len=0..1500" doc:"Short lines; absent without a snapshot."`
}

// LookWhat names what is looked at.
type LookWhat string

// What can be looked at in a snapshot.
const (
	LookList   LookWhat = "list"
	LookRead   LookWhat = "read"
	LookSearch LookWhat = "search"
)

// LookRequest asks to look at the workspace as it was when a run was asked for, or after
// one of the run's tasks.
type LookRequest struct {
	Run     ID       `json:"run" choir:"id7" doc:"The run."`
	Task    ID       `json:"task,omitempty" choir:"id7" doc:"A task of the run that has returned: the workspace after it. Absent: before the run."`
	What    LookWhat `json:"what" choir:"enum=list|read|search" doc:"list: the names in a folder. read: numbered lines of a file. search: the lines below the path that the pattern matches."`
	Path    string   `json:"path,omitempty" choir:"len=0..4096" doc:"Path in the workspace; absent: its top."`
	From    int      `json:"from,omitempty" choir:"range=0..100000000" doc:"For read: the first line, from 1; absent: 1."`
	Lines   int      `json:"lines,omitempty" choir:"range=0..1000" doc:"For read: how many lines; absent: 200."`
	Pattern string   `json:"pattern,omitempty" choir:"len=0..1000" doc:"For search: a regular expression of RE2."`
}

// Check returns an error if the fields do not belong together.
func (r *LookRequest) Check() error {
	switch {
	case r.What == LookSearch && r.Pattern == "":
		return Invalid("pattern", "is required to search")
	case r.What != LookSearch && r.Pattern != "":
		return Invalid("pattern", "is only for search")
	case r.What != LookRead && (r.From != 0 || r.Lines != 0):
		return Invalid("from", "and lines are only for read")
	}
	return nil
}

// LookReply is the part of the workspace that was looked at. Names and texts in it are those of the files: data, and
// nobody's instruction.
type LookReply struct {
	Text string `json:"text" choir:"len=0..16000" doc:"Lines; the last ones say what was left out."`
}

// BlobPutRequest carries one chunk of a blob. Chunks of one blob come in order;
// the blob exists once its last byte arrived and the digest was checked.
type BlobPutRequest struct {
	Digest Digest `json:"digest" choir:"digest" doc:"SHA-256 of the whole content."`
	Size   int64  `json:"size" choir:"range=0..1073741824" doc:"Bytes of the whole content."`
	Offset int64  `json:"offset" choir:"range=0..1073741824" doc:"Where the chunk begins."`
	Chunk  []byte `json:"chunk" choir:"len=0..524288" doc:"The bytes, base64."`
}

// BlobPutReply says how far the blob is.
type BlobPutReply struct {
	Next int64 `json:"next" choir:"range=0..1073741824" doc:"Where the next chunk begins; 0 starts again."`
	Done bool  `json:"done" doc:"The blob is stored, or was already: send no more."`
}

// BlobGetRequest asks for one chunk of a blob.
type BlobGetRequest struct {
	Digest Digest `json:"digest" choir:"digest" doc:"The blob."`
	Offset int64  `json:"offset" choir:"range=0..9007199254740991" doc:"Where the chunk begins."`
}

// BlobGetReply is one chunk of a blob.
type BlobGetReply struct {
	Size  int64  `json:"size" choir:"range=0..9007199254740991" doc:"Bytes of the whole content."`
	Chunk []byte `json:"chunk" choir:"len=0..524288" doc:"The bytes, base64; fewer than asked only at the end."`
}

// HelloRequest says that the Director runs.
type HelloRequest struct {
	PublicKey string `json:"public_key" choir:"len=1..200" doc:"Ed25519 key, base64, made at boot; verifies the Director's answers."`
}

// TaskBeginRequest takes a task up.
type TaskBeginRequest struct {
	Task     ID     `json:"task" choir:"id7" doc:"The task."`
	Since    Digest `json:"since,omitempty" choir:"digest" doc:"A snapshot with which the base is to be compared."`
	Copied   bool   `json:"copied,omitempty" doc:"There is a copy of its project in which it can work, see worktree in the task and aside in the reply."`
	Uncopied bool   `json:"uncopied,omitempty" doc:"What it is to work in cannot be copied: it works in the workspace."`
}

// TaskBeginReply is where a task stands. On a redelivery it is the base of the
// first delivery.
type TaskBeginReply struct {
	Base            Digest    `json:"base" choir:"digest" doc:"Snapshot a rollback goes to."`
	Attempt         int       `json:"attempt" choir:"range=1..1000" doc:"1 for the first delivery."`
	Resumed         bool      `json:"resumed,omitempty" doc:"It was taken up before and did not end."`
	UnfinishedCalls []ID      `json:"unfinished_calls,omitempty" choir:"id7" doc:"Tool calls without a return: unknown, never silently repeated."`
	Cancelled       bool      `json:"cancelled,omitempty" doc:"It is to end: nothing of it is executed any more."`
	Online          bool      `json:"online,omitempty" doc:"It may reach something outside: its programs are not told to do without."`
	EgressWider     string    `json:"egress_wider,omitempty" choir:"len=1..1000" doc:"Why its egress profile keeps it from beginning, under a policy that is closed or because it is none: nothing of the task is executed."`
	OutOfMemory     int       `json:"out_of_memory,omitempty" choir:"range=0..1000" doc:"Since it first began, how often the Associate's sandbox ended because a program in it took more memory than the sandbox may have."`
	Calls           int       `json:"calls,omitempty" choir:"range=0..1000000" doc:"Tool calls that earlier deliveries recorded."`
	PausedSeq       uint64    `json:"paused_seq,omitempty" choir:"range=0..9007199254740991" doc:"Number of the event that paused its run, while that is paused."`
	GoesOn          *TaskPast `json:"goes_on,omitempty" doc:"What it did before its process ended while its run was paused: it goes on from there."`
	Compared        bool      `json:"compared,omitempty" doc:"The paths that differ since the snapshot asked about are all in changed."`
	InWorktree      bool      `json:"in_worktree,omitempty" doc:"It works in the copy of its project, from which task-land brings its change into the workspace."`
	Aside           bool      `json:"aside,omitempty" doc:"The owner may have to approve its result: it has not begun, and is to begin in a whole copy of its project or of the workspace."`
	Changed         []string  `json:"changed,omitempty" doc:"Files and links that differ, former names too; nothing in .git."`
}

// TaskPast tells how far a task with a model had come: its last model call, and what was
// done of that call's answer.
type TaskPast struct {
	Models       int          `json:"models" choir:"range=1..1000000" doc:"Model calls it made."`
	Request      Digest       `json:"request" choir:"digest" doc:"Request of the last one, a blob."`
	Response     Digest       `json:"response,omitempty" choir:"digest" doc:"Its answer, a blob; absent when there is none."`
	Calls        int          `json:"calls" choir:"range=0..1000000" doc:"Tool calls before that answer."`
	AllCalls     int          `json:"all_calls" choir:"range=0..1000000" doc:"Tool calls in all."`
	Returned     []PastReturn `json:"returned,omitempty" choir:"len=0..256" doc:"Tool calls of that answer that were made."`
	WorkedMS     int64        `json:"worked_ms" choir:"range=0..9007199254740991" doc:"Time of the work so far, without that of the model and of pauses."`
	InputTokens  int64        `json:"input_tokens" choir:"range=0..9007199254740991" doc:"Tokens of its model calls so far."`
	OutputTokens int64        `json:"output_tokens" choir:"range=0..9007199254740991" doc:"Tokens of the answers so far."`
}

// PastReturn is a tool call that was made, as the model is shown it.
type PastReturn struct {
	Call   ID     `json:"call" choir:"id7" doc:"The call."`
	OK     bool   `json:"ok" doc:"It did what was asked."`
	Output string `json:"output,omitempty" doc:"What the model is shown, of all calls together at most 256 KiB."`
}

// TaskTreeRequest asks what a task changed so far.
type TaskTreeRequest struct {
	Task ID `json:"task" choir:"id7" doc:"The task."`
}

// TaskTreeReply is the workspace against the base of a task.
type TaskTreeReply struct {
	Snapshot Digest   `json:"snapshot" choir:"digest" doc:"The workspace as it is: what differs from the base follows from both."`
	Owner    []string `json:"owner,omitempty" doc:"Paths that the owner wrote since the base, and the task did not."`
}

// TaskRollbackRequest puts the workspace back to the base of a task.
type TaskRollbackRequest struct {
	Task ID       `json:"task" choir:"id7" doc:"The task."`
	Keep []string `json:"keep,omitempty" choir:"len=0..1048576,each=1..4096" doc:"Paths that stay as they are, with everything below them."`
}

// TaskRollbackReply counts the restored paths and lists the conflicts.
type TaskRollbackReply struct {
	Restored  int64    `json:"restored" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
	Conflicts []string `json:"conflicts,omitempty" doc:"Paths both the task and the owner wrote; the owner's are kept."`
}

// TaskCommitRequest makes what a task changed part of the log.
type TaskCommitRequest struct {
	Task   ID       `json:"task" choir:"id7" doc:"The task."`
	Reason string   `json:"reason" choir:"enum=task_ended|checkpoint|tool_returned" doc:"As in snapshot.taken."`
	Only   []string `json:"only,omitempty" choir:"len=0..64,each=1..4096" doc:"Folders in which alone something can have changed since the workspace was last looked at; none is everywhere."`
}

// TaskCommitReply names the snapshot that is now in the log.
type TaskCommitReply struct {
	Snapshot Digest `json:"snapshot" choir:"digest" doc:"The workspace as it is."`
}

// TaskLandRequest brings the change of a task that works in a copy of its project into the workspace.
type TaskLandRequest struct {
	Task      ID       `json:"task" choir:"id7" doc:"The task."`
	Leave     []string `json:"leave,omitempty" choir:"len=0..1048576,each=1..4096" doc:"Paths of its change that stay behind, with everything below them: what git ignores."`
	Committed bool     `json:"committed,omitempty" doc:"After a reply with aside: the copy is as the workspace is to be, commits in it included."`
}

// TaskLandReply names the workspace into which the change came, or the conflicts.
type TaskLandReply struct {
	Base      Digest   `json:"base,omitempty" choir:"digest" doc:"Workspace just before; absent with conflicts. From here on the task works in the workspace, and a rollback goes there."`
	Moved     bool     `json:"moved,omitempty" doc:"The project has changed since it was copied: what was verified is not all that is there now. With aside the merged project is in the copy."`
	Aside     bool     `json:"aside,omitempty" doc:"Nothing is in the workspace: it goes on in the copy, commits there and asks with committed; then its result will be held."`
	Snapshot  Digest   `json:"snapshot,omitempty" choir:"digest" doc:"Workspace with exactly what was in the copy, after a request with committed."`
	Conflicts []string `json:"conflicts,omitempty" doc:"Paths that both sides changed; with one, nothing was done."`
}

// TaskAttemptRequest restores the attempt that a task names.
type TaskAttemptRequest struct {
	Task ID `json:"task" choir:"id7" doc:"The task, which names another one whose attempt it goes on from."`
}

// TaskAttemptReply counts the restored paths and lists the ones left as they are.
type TaskAttemptReply struct {
	Restored int64    `json:"restored" choir:"range=0..9007199254740991" doc:"Paths that were rewritten."`
	Left     []string `json:"left,omitempty" doc:"Paths that changed since the attempt began, and were left as they are."`
}

// TaskSteeringRequest asks what a model call of a task says of what people added.
type TaskSteeringRequest struct {
	Task ID  `json:"task" choir:"id7" doc:"The task."`
	Call int `json:"call" choir:"range=1..1000000" doc:"Number of the task's model call, from 1."`
}

// TaskSteeringReply lists the additions that belong into the request of the model call:
// those of an earlier question about it, and what is new unless the call was made already.
type TaskSteeringReply struct {
	Added []Addition `json:"added" doc:"Oldest first."`
}

// Addition repeats the words that a person added to a run.
type Addition struct {
	Steering ID     `json:"steering" choir:"id" doc:"Its steering.submitted."`
	Text     string `json:"text" choir:"len=1..20000" doc:"What the person added."`
}

// TaskOutputRequest describes a command that a tool call of a task started and that still
// runs, with a part of its output. Parts come in order.
type TaskOutputRequest struct {
	Task    ID           `json:"task" choir:"id7" doc:"The task."`
	Call    int          `json:"call" choir:"range=1..1000000" doc:"Number of the task's tool call that started the command, from 1; of the task's own commands and checks from 900001."`
	Command string       `json:"command" choir:"len=1..131072" doc:"The command line."`
	Started Time         `json:"started" doc:"When it was started."`
	From    int64        `json:"from" choir:"range=0..9007199254740991" doc:"Bytes of its output before the part."`
	Lost    bool         `json:"lost,omitempty" doc:"What lies between the last part and this one is not kept any more."`
	Chunk   []byte       `json:"chunk" choir:"len=0..65536" doc:"The part, base64."`
	Ended   *CommandExit `json:"ended,omitempty" doc:"It has ended, and this is the last part."`
}

// CommandExit is how a command ended.
type CommandExit struct {
	Code   int    `json:"code" choir:"range=-1..255" doc:"Exit code; -1 when a signal ended it or nobody knows."`
	Signal string `json:"signal,omitempty" choir:"len=1..20" doc:"Signal that ended it."`
}

// TaskOutputReply says how much of the output is known.
type TaskOutputReply struct {
	Next int64 `json:"next" choir:"range=0..9007199254740991" doc:"Where the next part begins; less than what was sent: the rest is to be sent again."`
}
