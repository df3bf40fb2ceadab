package eventstore

import (
	"path/filepath"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// RunState is the state of a run.
type RunState string

// The states of a run.
const (
	RunPlanning  RunState = "planning"
	RunRunning   RunState = "running"
	RunWaiting   RunState = "waiting"
	RunDone      RunState = "done"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// Open reports whether the run has not ended yet.
func (s RunState) Open() bool { return s == RunPlanning || s == RunRunning || s == RunWaiting }

// Run is one intent of the user, from prompt to outcome.
type Run struct {
	ID        choir.ID     `json:"id"`
	Prompt    string       `json:"prompt"`
	Repo      string       `json:"repo,omitempty"`
	Source    choir.Source `json:"source,omitempty"`    // who prompted
	After     choir.ID     `json:"after,omitempty"`     // the run it follows up
	Paced     bool         `json:"paced,omitempty"`     // its recording plays at the pace of a reader
	Dismissed bool         `json:"dismissed,omitempty"` // its card was put away
	State     RunState     `json:"state" enum:"planning,running,waiting,done,failed,cancelled"`
	Code      choir.Code   `json:"code,omitempty"`
	// Status is how much of what was asked is done, says the Director; empty for done.
	Status choir.AnswerStatus `json:"status,omitempty" enum:"partly,not_done"`
	// PausedSeq is the number of the event that paused the run, while it is paused.
	PausedSeq  uint64          `json:"paused_seq,omitempty"`
	Answer     string          `json:"answer,omitempty"`
	Signature  string          `json:"signature,omitempty"`
	Document   choir.ID        `json:"document,omitempty"`
	FirstSeq   uint64          `json:"first_seq"`
	LastSeq    uint64          `json:"last_seq"`
	StartedAt  choir.Time      `json:"started_at"`
	FinishedAt choir.Time      `json:"finished_at,omitzero"`
	Question   *choir.Question `json:"question,omitempty"`
	Held       []choir.ID      `json:"held,omitempty"`   // tasks whose results wait for the owner's approval
	Undone     *Undo           `json:"undone,omitempty"` // what it changed was taken back, and no rewind has put it there again
	Usage      Usage           `json:"usage"`
}

// Undo is the event that undid an action.
type Undo struct {
	Seq uint64     `json:"seq"`
	At  choir.Time `json:"at"`
}

// Usage is the summed usage and cost of model calls.
type Usage struct {
	Calls        int64   `json:"calls"`
	Failed       int64   `json:"failed"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	DurationMS   int64   `json:"duration_ms"`
}

// TaskState is the state of a task.
type TaskState string

// The states of a task.
const (
	TaskDispatched TaskState = "dispatched"
	TaskStarted    TaskState = "started"
	TaskHeld       TaskState = "held" // its result waits for the owner; it changes nothing any more
	TaskReturned   TaskState = "returned"
)

// Task is one DirectorTask and, once it returned, its AssociateResult.
type Task struct {
	ID            choir.ID               `json:"id"`
	Run           choir.ID               `json:"run"`
	Kind          choir.TaskKind         `json:"kind"`
	Instruction   string                 `json:"instruction"`
	State         TaskState              `json:"state" enum:"dispatched,started,held,returned"`
	Base          choir.Digest           `json:"base,omitempty"`
	Attempt       int                    `json:"attempt,omitempty"`
	Worktree      choir.Digest           `json:"worktree,omitempty"` // copy of its project in which it began
	Landed        bool                   `json:"landed,omitempty"`   // what it changed there came, or is about to come, into the workspace
	Status        choir.Status           `json:"status,omitempty"`
	Code          choir.ResultCode       `json:"code,omitempty"`
	Summary       string                 `json:"summary,omitempty"`
	Step          string                 `json:"step,omitempty"`
	Verdict       choir.Verdict          `json:"verdict,omitempty"`
	Task          choir.DirectorTask     `json:"task"`
	Result        *choir.AssociateResult `json:"result,omitempty"`
	DispatchedSeq uint64                 `json:"dispatched_seq"`
	StartedSeq    uint64                 `json:"started_seq,omitempty"`
	ReturnedSeq   uint64                 `json:"returned_seq,omitempty"`
	HeldSeq       uint64                 `json:"held_seq,omitempty"` // event since which its result waited for the owner
	Answer        choir.EffectAnswer     `json:"answer,omitempty"`   // the owner's
	Again         choir.ID               `json:"again,omitempty"`    // task that does it again, for the answer again
}

// Unheld returns the tasks that may still change something: without the held ones.
func Unheld(tasks []Task) []Task {
	return slices.DeleteFunc(tasks, func(t Task) bool { return t.State == TaskHeld })
}

// InWorktree reports whether the task works in a copy of its project, and has nothing in the
// workspace.
func (t *Task) InWorktree() bool { return t.Worktree != "" && !t.Landed }

// Waits reports whether the task's result waits for the owner's answer.
func (t *Task) Waits() bool { return t.State == TaskHeld && t.Answer == "" }

// Checkpoint is a snapshot with a name.
type Checkpoint struct {
	ID       choir.ID       `json:"id"`
	Seq      uint64         `json:"seq"`
	At       choir.Time     `json:"at"`
	Run      choir.ID       `json:"run,omitempty"`
	Task     choir.ID       `json:"task,omitempty"`
	Snapshot choir.Digest   `json:"snapshot"`
	Subject  string         `json:"subject"`
	Trigger  string         `json:"trigger"`
	Verified bool           `json:"verified"`
	Commits  []choir.Commit `json:"commits,omitempty"`
	Withheld []string       `json:"withheld,omitempty"`
}

// Document is a living document at one of its versions.
type Document struct {
	ID      choir.ID     `json:"id"`
	Run     choir.ID     `json:"run"`
	Title   string       `json:"title"`
	Version int          `json:"version"`
	Content string       `json:"content,omitempty"`
	Blob    choir.Digest `json:"blob,omitempty"`
	Note    string       `json:"note,omitempty"`
	By      choir.Source `json:"by,omitempty" doc:"Who wrote it."` // of queries only: the row itself leaves it to its event
	Seq     uint64       `json:"seq"`
	At      choir.Time   `json:"at"`
}

// Conversation is the conversation of one run; its id is the run's.
type Conversation struct {
	ID       choir.ID   `json:"id"`
	Title    string     `json:"title"`
	FirstSeq uint64     `json:"first_seq"`
	At       choir.Time `json:"at"`
}

// Message is one message of a conversation.
type Message struct {
	Conversation choir.ID     `json:"conversation"`
	Seq          uint64       `json:"seq"`
	At           choir.Time   `json:"at"`
	From         choir.Source `json:"from"`
	Type         choir.Type   `json:"type"`
	Text         string       `json:"text"`
}

// Report is the result of Verify.
type Report struct {
	Events   uint64              `json:"events"`   // records compared
	Head     choir.Digest        `json:"head"`     // hash of the last one
	Repaired []choir.LogRepaired `json:"repaired"` // damaged in one copy, restored from the other
	Holes    []Hole              `json:"holes"`    // damaged in both
	// Damaged is in one copy and not restored: the store was only read.
	Damaged []choir.LogRepaired `json:"damaged,omitempty"`
	// Cluster is the copy in a cluster; the store knows nothing of it.
	Cluster *ClusterReport `json:"cluster,omitempty"`
}

// ClusterReport compares the copy in a cluster with the log.
type ClusterReport struct {
	Events uint64     `json:"events"`           // compared, and the same
	Code   choir.Code `json:"code,omitempty"`   // what kept it from being the same, or from being compared
	Reason string     `json:"reason,omitempty"` // in words
}

// Hole is a range of events that are damaged in both copies.
type Hole struct {
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	Damage string `json:"damage"`
	// Kind, File, Offset and End say the same for programs, as in
	// choir.LogRepaired.
	Kind   string `json:"kind,omitempty"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	End    int64  `json:"end,omitempty"`
}

// holeOf returns the Hole for the events from..to of a damaged range of the journal.
func holeOf(d journal.Damage, from, to uint64) Hole {
	return Hole{From: from, To: to, Damage: d.String(), Kind: d.Kind, File: filepath.Base(d.File), Offset: d.Offset, End: d.End}
}
