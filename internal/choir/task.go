package choir

// ContractVersion is the version of both envelopes.
const ContractVersion = 1

// DirectorTask is a task of the Director for the Associate. It is answered by exactly
// one AssociateResult; TaskID is the idempotency key.
type DirectorTask struct {
	Version            int            `json:"version" choir:"range=1..1" doc:"Contract version."`
	TaskID             ID             `json:"task_id" choir:"id7" doc:"Idempotency key: the same id is executed once, a second delivery gets the first result."`
	RunID              ID             `json:"run_id" choir:"id7" doc:"The run it serves."`
	Kind               TaskKind       `json:"kind" choir:"enum=edit_repo|run|git|inspect" doc:"Change files, execute without changing files, a git verb, or read only."`
	Title              string         `json:"title,omitempty" choir:"len=1..200" doc:"For people, and the subject of the commit of the change. Default the time."`
	Instruction        string         `json:"instruction" choir:"len=1..20000" doc:"The goal in words."`
	AcceptanceCriteria []string       `json:"acceptance_criteria,omitempty" choir:"len=0..64,each=1..2000" doc:"What the Director will judge by."`
	Repo               string         `json:"repo,omitempty" choir:"len=1..100" doc:"The project under workspace/ it is about; default the whole workspace."`
	BaseRef            string         `json:"base_ref,omitempty" choir:"len=1..200" doc:"Git ref or snapshot the task expects; a mismatch fails with stale_base."`
	FromAttempt        ID             `json:"from_attempt,omitempty" choir:"id7" doc:"Failed task of the run, in the same project, from whose attempt this one goes on."`
	Worktree           bool           `json:"worktree,omitempty" doc:"It works in a copy of the project, beside other tasks of it, and its verified change is merged into the project at its end; only for kind edit_repo in a project, and without from_attempt."`
	GitAction          GitAction      `json:"git_action,omitempty" choir:"enum=git_checkpoint|git_reset|git_checkout|git_status" doc:"Only for kind git, required there."`
	GitArgs            []string       `json:"git_args,omitempty" choir:"len=0..64,each=0..4096" doc:"Arguments of the git action."`
	Trigger            string         `json:"trigger,omitempty" choir:"enum=manual|count|time|deploy" doc:"Why a git_checkpoint is made. Default manual."`
	AllowedTools       []Tool         `json:"allowed_tools,omitempty" choir:"len=0..16,enum=read_file|write_file|edit_file|list_files|search_files|bash|fetch_url|screenshot" doc:"Anything else the model calls is refused and recorded. Default: all that the kind permits."`
	EgressProfile      *EgressProfile `json:"egress_profile,omitempty" doc:"What the task may reach outside; never wider than the computer's policy."`
	VerifyProfile      *VerifyProfile `json:"verify_profile,omitempty" doc:"How the change is verified. Default smoke."`
	Commands           []Command      `json:"commands,omitempty" choir:"len=0..256" doc:"When present the task is deterministic: exactly these run, no model."`
	TimeBudgetS        int            `json:"time_budget_s,omitempty" choir:"range=1..86400" doc:"Seconds of work until the task's whole process tree is stopped; waiting for its model does not count. Default 300."`
	TokenBudget        int            `json:"token_budget,omitempty" choir:"range=1..1000000000" doc:"Tokens for the Associate's own model loop."`
	ModelBudget        *ModelBudget   `json:"model_budget,omitempty" doc:"What programs that the task starts may spend on model calls of their own. Default: they may make none."`
	Return             *ReturnSpec    `json:"return,omitempty" doc:"What the result must carry."`
}

// TaskKind decides the rights of a task.
type TaskKind string

// The task kinds.
const (
	TaskEditRepo TaskKind = "edit_repo"
	TaskRun      TaskKind = "run"
	TaskGit      TaskKind = "git"
	TaskInspect  TaskKind = "inspect"
)

// GitAction is the verb of a git task.
type GitAction string

// The git actions.
const (
	GitCheckpoint GitAction = "git_checkpoint"
	GitReset      GitAction = "git_reset"
	GitCheckout   GitAction = "git_checkout"
	GitStatus     GitAction = "git_status"
)

// Tool is a tool of the Associate.
type Tool string

// The tools.
const (
	ToolReadFile    Tool = "read_file"
	ToolWriteFile   Tool = "write_file"
	ToolEditFile    Tool = "edit_file"
	ToolListFiles   Tool = "list_files"
	ToolSearchFiles Tool = "search_files"
	ToolBash        Tool = "bash"
	ToolFetchURL    Tool = "fetch_url"
	ToolScreenshot  Tool = "screenshot"
)

// EgressProfile lists the hosts that a task may reach outside its sandbox.
type EgressProfile struct {
	Mode      EgressMode   `json:"mode" choir:"enum=none|git+pkg|allowlist" doc:"The profile."`
	Allowlist []EgressHost `json:"allowlist,omitempty" choir:"len=0..256" doc:"Only for mode allowlist."`
}

// EgressMode names an egress profile.
type EgressMode string

// The egress profiles.
const (
	EgressNone      EgressMode = "none"
	EgressGitPkg    EgressMode = "git+pkg"
	EgressAllowlist EgressMode = "allowlist"
)

// EgressHost is one host of an allow list.
type EgressHost struct {
	Host    string   `json:"host" choir:"len=1..253" doc:"Exact host name."`
	Port    int      `json:"port,omitempty" choir:"range=1..65535" doc:"Default 443."`
	Methods []string `json:"methods,omitempty" choir:"len=0..16,each=1..16" doc:"HTTP methods; default all."`
	Paths   []string `json:"paths,omitempty" choir:"len=0..64,each=1..1024" doc:"Path prefixes; default all."`
}

// VerifyProfile is how a change is verified.
type VerifyProfile struct {
	Mode     VerifyMode `json:"mode" choir:"enum=none|smoke|full" doc:"none, the fastest check, or every check discovered."`
	Commands []Command  `json:"commands,omitempty" choir:"len=0..64" doc:"Exactly these checks; else discovered ones."`
}

// VerifyMode is how thoroughly a change is verified.
type VerifyMode string

// The verification modes.
const (
	VerifyNone  VerifyMode = "none"
	VerifySmoke VerifyMode = "smoke"
	VerifyFull  VerifyMode = "full"
)

// Command is one command of a deterministic task or of a verification. Exactly
// one of Argv and Shell is set.
type Command struct {
	Argv     []string `json:"argv,omitempty" choir:"len=1..1024,each=0..131072" doc:"Program and arguments, run as they are."`
	Shell    string   `json:"shell,omitempty" choir:"len=1..131072" doc:"A command line for sh."`
	Cwd      string   `json:"cwd,omitempty" choir:"len=1..4096" doc:"Folder below the task's root; default the root."`
	Env      []EnvVar `json:"env,omitempty" choir:"len=0..256" doc:"Additional environment."`
	TimeoutS int      `json:"timeout_s,omitempty" choir:"range=1..86400" doc:"Seconds; default what is left of the task's budget."`
}

// EnvVar is one environment variable.
type EnvVar struct {
	Name  string `json:"name" choir:"len=1..256" doc:"Name."`
	Value string `json:"value" choir:"len=0..131072" doc:"Value."`
}

// ModelBudget bounds the model calls that the programs of a task make by
// themselves. What is left out is bounded by the run's limits alone.
type ModelBudget struct {
	Calls   int     `json:"calls,omitempty" choir:"range=1..1000000" doc:"Calls."`
	Tokens  int64   `json:"tokens,omitempty" choir:"range=1..1000000000000" doc:"Input and output tokens together."`
	CostUSD float64 `json:"cost_usd,omitempty" choir:"range=0..1000000" doc:"US dollars."`
}

// Check returns an error if no limit is set. DecodeStrict calls it.
func (b *ModelBudget) Check() error {
	if *b == (ModelBudget{}) {
		return RefuseField("cost_usd", ReasonModelBudgetZero)
	}
	return nil
}

// ReturnSpec lists the parts that a result must have.
type ReturnSpec struct {
	Diff         bool     `json:"diff,omitempty" doc:"The diff of the change."`
	DiffFormat   string   `json:"diff_format,omitempty" choir:"enum=unified" doc:"Format of the diff."`
	Logs         bool     `json:"logs,omitempty" doc:"Full output of commands as blobs."`
	FilesChanged bool     `json:"files_changed,omitempty" doc:"The list of changed paths."`
	Artifacts    []string `json:"artifacts,omitempty" choir:"len=0..64,each=1..1024" doc:"Globs of files to keep as artifacts."`
}

// Defaults of a task.
const (
	DefaultTimeBudgetS = 300
	MaxInstruction     = 20_000
)

// ModelWaitS is how long a task waits for the answers of its model, all together, in
// seconds. Its time budget does not count them.
const ModelWaitS = 1800

// VerifyRounds is how often a failed verification goes back to the model that made the
// change, in the same conversation, before its task fails.
const VerifyRounds = 3

// ToolVerify is the name under which the checks of a task with a model are in the log, as
// tool calls. It is no tool of the model's.
const ToolVerify Tool = "verify"

// Check returns an error if a git field or an attempt is set for another kind of task, a git task lacks
// its action or has commands, a trigger is set without git_checkpoint, or Repo is neither
// empty nor a valid project name. DecodeStrict calls it.
func (t *DirectorTask) Check() error {
	switch {
	case t.Kind == TaskGit && t.GitAction == "":
		return RefuseField("git_action", ReasonTaskGitAction)
	case t.Kind != TaskGit && t.GitAction != "":
		return RefuseField("git_action", ReasonTaskOnlyGit, TextOf("kind", t.Kind))
	case t.GitAction == "" && len(t.GitArgs) > 0:
		return RefuseField("git_args", ReasonTaskGitArgs)
	case t.Kind != TaskEditRepo && t.FromAttempt != "":
		return RefuseField("from_attempt", ReasonTaskOnlyEdit, TextOf("kind", t.Kind))
	case t.Worktree && (t.Kind != TaskEditRepo || t.Repo == ""):
		return RefuseField("worktree", ReasonTaskWorktreeProject)
	case t.Worktree && t.FromAttempt != "":
		return RefuseField("worktree", ReasonTaskWorktreeAttempt)
	case t.Trigger != "" && t.GitAction != GitCheckpoint:
		return RefuseField("trigger", ReasonTaskTrigger)
	case t.Kind == TaskGit && len(t.Commands) > 0:
		return RefuseField("commands", ReasonTaskNoCommands)
	}
	return checkRepo("repo", t.Repo)
}

// Check returns an error unless exactly one of Argv and Shell is set. DecodeStrict calls
// it.
func (c *Command) Check() error {
	if (len(c.Argv) == 0) == (c.Shell == "") {
		return RefuseField("argv", ReasonArgvOrShell)
	}
	return nil
}

// Check returns an error if there is an allow list and the mode is not allowlist.
// DecodeStrict calls it.
func (p *EgressProfile) Check() error {
	if p.Mode != EgressAllowlist && len(p.Allowlist) > 0 {
		return RefuseField("allowlist", ReasonAllowlistMode, TextOf("mode", p.Mode))
	}
	return nil
}

// validRepoName reports whether name has only the characters of a project name. It
// accepts the empty name, which means the whole workspace.
func validRepoName(name string) bool {
	for i, r := range name {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || r != '.' && r != '-') && r != '_' {
			return false
		}
	}
	return true
}

// ValidRepoName reports whether name is a valid project name: 1 to 100 ASCII letters,
// digits, and . _ -, of which . and - may not come first.
func ValidRepoName(name string) bool {
	return name != "" && len(name) <= 100 && validRepoName(name)
}
