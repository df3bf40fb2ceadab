package choir

// AssociateResult is the one answer to a DirectorTask.
type AssociateResult struct {
	Version       int           `json:"version" choir:"range=1..1" doc:"Contract version."`
	TaskID        ID            `json:"task_id" choir:"id7" doc:"Echoed."`
	RunID         ID            `json:"run_id" choir:"id7" doc:"Echoed."`
	Status        Status        `json:"status" choir:"enum=ok|needs_input|failed" doc:"failed whenever verification failed; needs_input only when the user alone can unblock it."`
	Code          ResultCode    `json:"code,omitempty" choir:"enum=verify_failed|time_budget|token_budget|stale_base|tool_refused|egress_refused|command_failed|crashed|cancelled|model_error|invalid_task|limit|disk_full|isolation_unavailable|not_approved|conflict" doc:"Stable reason when not ok."`
	Summary       string        `json:"summary" choir:"len=0..20000" doc:"What changed and why."`
	Diff          *Diff         `json:"diff" doc:"The change, or the attempted change; null when there is none."`
	FilesChanged  []FileChange  `json:"files_changed" doc:"Changed paths."`
	IgnoredFiles  []string      `json:"ignored_files,omitempty" doc:"Files that git ignores and that changed."`
	Conflicts     []string      `json:"conflicts,omitempty" doc:"Paths both the task and the owner wrote; the owner's are kept. With code conflict, paths that were changed in the project too."`
	CommandsRun   []CommandRun  `json:"commands_run" doc:"Commands in the order they ran."`
	Verify        VerifyOutcome `json:"verify" doc:"What verification found."`
	Artifacts     []BlobRef     `json:"artifacts" doc:"Files kept."`
	Usage         TaskUsage     `json:"usage" doc:"Measured where the provider or the kernel tells."`
	Checkpoint    *string       `json:"checkpoint" doc:"Git commit, or null."`
	Committed     *Committed    `json:"committed,omitempty" doc:"What a checkpoint by hand committed."`
	Snapshot      Digest        `json:"snapshot,omitempty" choir:"digest" doc:"The workspace after the task."`
	Attempt       Digest        `json:"attempt,omitempty" choir:"digest" doc:"The workspace with what a failed task tried, from before that was taken back; another task can begin from it."`
	Questions     []Question    `json:"questions" doc:"What only the user can answer."`
	SuggestedNext *string       `json:"suggested_next" doc:"What to do next, or null."`
}

// Committed describes the commits of a checkpoint by hand.
type Committed struct {
	Commits int    `json:"commits" choir:"range=0..1000000" doc:"How many commits were made; none where nothing differed."`
	Subject string `json:"subject" choir:"len=0..2000" doc:"Subject of the commits."`
	Failed  string `json:"failed,omitempty" choir:"len=1..2000" doc:"What git said where it could not commit all."`
}

// Status is how a task ended.
type Status string

// The statuses.
const (
	StatusOK         Status = "ok"
	StatusNeedsInput Status = "needs_input"
	StatusFailed     Status = "failed"
)

// ResultCode is the stable reason a task is not ok.
type ResultCode string

// The reasons.
const (
	ResultVerifyFailed         ResultCode = "verify_failed"
	ResultTimeBudget           ResultCode = "time_budget"
	ResultTokenBudget          ResultCode = "token_budget"
	ResultStaleBase            ResultCode = "stale_base"
	ResultToolRefused          ResultCode = "tool_refused"
	ResultEgressRefused        ResultCode = "egress_refused"
	ResultCommandFailed        ResultCode = "command_failed"
	ResultCrashed              ResultCode = "crashed"
	ResultCancelled            ResultCode = "cancelled"
	ResultModelError           ResultCode = "model_error"
	ResultInvalidTask          ResultCode = "invalid_task"
	ResultLimit                ResultCode = "limit"
	ResultDiskFull             ResultCode = "disk_full"
	ResultIsolationUnavailable ResultCode = "isolation_unavailable"
	ResultNotApproved          ResultCode = "not_approved"
	ResultConflict             ResultCode = "conflict"
)

// Diff is a change as text that `git apply` accepts. Exactly one of Content and
// Blob is set.
type Diff struct {
	Format  string `json:"format" choir:"enum=unified" doc:"Always unified."`
	Content string `json:"content,omitempty" doc:"The diff, up to 64 KiB."`
	Blob    Digest `json:"blob,omitempty" choir:"digest" doc:"The diff, above 64 KiB."`
}

// FileChange is one changed path. A path that is not UTF-8 is written with the
// bytes that are not as %XX and a literal percent sign as %25.
type FileChange struct {
	Path   string     `json:"path" choir:"len=1..4096" doc:"Path below the workspace."`
	Change ChangeKind `json:"change" choir:"enum=added|modified|deleted|renamed" doc:"What happened."`
	From   string     `json:"from,omitempty" choir:"len=1..4096" doc:"Former path of a renamed file."`
}

// ChangeKind is the kind of a change to a path.
type ChangeKind string

// The kinds of change.
const (
	ChangeAdded    ChangeKind = "added"
	ChangeModified ChangeKind = "modified"
	ChangeDeleted  ChangeKind = "deleted"
	ChangeRenamed  ChangeKind = "renamed"
)

// CommandRun is one command that ran. The tails are the last 500 characters.
type CommandRun struct {
	Command    string `json:"command" doc:"The command line."`
	ExitCode   int    `json:"exit_code" choir:"range=-1..255" doc:"-1 when it was ended by a signal."`
	Signal     string `json:"signal,omitempty" doc:"The signal that ended it."`
	Started    Time   `json:"started" doc:"When."`
	DurationMS int64  `json:"duration_ms" choir:"range=0..9007199254740991" doc:"Wall time in milliseconds."`
	Stdout     Digest `json:"stdout,omitempty" choir:"digest" doc:"Whole output, as a blob."`
	Stderr     Digest `json:"stderr,omitempty" choir:"digest" doc:"Whole error output, as a blob."`
	StdoutTail string `json:"stdout_tail,omitempty" doc:"Last 500 characters."`
	StderrTail string `json:"stderr_tail,omitempty" doc:"Last 500 characters."`
}

// VerifyOutcome is the result of verification.
type VerifyOutcome struct {
	Mode     VerifyMode   `json:"mode" choir:"enum=none|smoke|full" doc:"How it was verified."`
	Status   VerifyStatus `json:"status" choir:"enum=pass|fail|unknown" doc:"unknown is never shown as verified."`
	Commands []CommandRun `json:"commands,omitempty" doc:"The checks."`
	Log      string       `json:"log,omitempty" doc:"Why unknown, or the end of the failing check's output."`
	Proves   string       `json:"proves,omitempty" doc:"What the checks prove, in words: how many tests ran, and how many of them are new or gone."`
	Suspect  []string     `json:"suspect,omitempty" choir:"len=0..32,each=1..1000" doc:"Why a check that ended well proves less than it seems; never beside pass."`
	JudgedBy []string     `json:"judged_by,omitempty" choir:"len=0..256,each=1..4096" doc:"Changed files that judge this change themselves: tests, their configuration, scripts, CI."`
}

// VerifyStatus is the outcome of verification.
type VerifyStatus string

// The outcomes.
const (
	VerifyPass    VerifyStatus = "pass"
	VerifyFail    VerifyStatus = "fail"
	VerifyUnknown VerifyStatus = "unknown"
)

// BlobRef points at content in the blob store.
type BlobRef struct {
	Name   string `json:"name" choir:"len=1..4096" doc:"Name or path."`
	Digest Digest `json:"digest" choir:"digest" doc:"SHA-256."`
	Size   int64  `json:"size" choir:"range=0..9007199254740991" doc:"Bytes."`
}

// TaskUsage is the cost of a task, measured rather than estimated where the provider or
// the kernel reports it.
type TaskUsage struct {
	Model        string  `json:"model,omitempty" doc:"Model, when one was used."`
	InputTokens  int64   `json:"input_tokens" choir:"range=0..9007199254740991" doc:"Input tokens."`
	OutputTokens int64   `json:"output_tokens" choir:"range=0..9007199254740991" doc:"Output tokens."`
	CachedTokens int64   `json:"cached_tokens" choir:"range=0..9007199254740991" doc:"Input tokens read from the provider's cache."`
	CostUSD      float64 `json:"cost_usd" choir:"range=0..1000000000" doc:"US dollars."`
	WallMS       int64   `json:"wall_ms" choir:"range=0..9007199254740991" doc:"Wall time, milliseconds."`
	CPUMS        int64   `json:"cpu_ms" choir:"range=0..9007199254740991" doc:"CPU time, milliseconds."`
	MaxRSSBytes  int64   `json:"max_rss_bytes" choir:"range=0..9007199254740991" doc:"Largest resident set of one process, bytes."`
	EgressBytes  int64   `json:"egress_bytes" choir:"range=0..9007199254740991" doc:"0: what the programs of the task sent and received is in the events egress.passed."`
}

// Question is something only the user can answer.
type Question struct {
	ID      string   `json:"id" choir:"len=1..64" doc:"Unique within the run."`
	Text    string   `json:"text" choir:"len=1..4000" doc:"The question."`
	Choices []string `json:"choices,omitempty" choir:"len=0..16,each=1..400" doc:"Suggested answers."`
}

// Check returns an error unless Code is absent for status ok and present for status
// failed, the status is failed if verification failed, and nothing is suspect in a
// verification that passed. DecodeStrict calls it.
func (r *AssociateResult) Check() error {
	switch {
	case r.Status == StatusOK && r.Code != "":
		return Invalid("code", "must be absent when the status is ok")
	case r.Status != StatusOK && r.Code == "" && r.Status == StatusFailed:
		return Invalid("code", "is required when the status is failed")
	case r.Verify.Status == VerifyFail && r.Status != StatusFailed:
		return Invalid("status", "must be failed when verification failed")
	case r.Verify.Status == VerifyPass && len(r.Verify.Suspect) > 0:
		return Invalid("verify.suspect", "must be absent when the verification passed")
	}
	return nil
}

// Check returns an error if both Content and Blob are set. DecodeStrict calls it.
func (d *Diff) Check() error {
	if d.Content != "" && d.Blob != "" {
		return Invalid("blob", "a diff has content or a blob, not both")
	}
	return nil
}
