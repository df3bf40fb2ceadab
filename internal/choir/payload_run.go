package choir

// PromptSubmitted begins a run.
type PromptSubmitted struct {
	Text     string          `json:"text" choir:"len=1..20000" doc:"What the person asked for."`
	Repo     string          `json:"repo,omitempty" choir:"len=1..100" doc:"Project under workspace/ it is about."`
	Proposal *ProposalTarget `json:"proposal,omitempty" doc:"What the answer is proposed for; without it the answer stands by itself."`
	// After is held against the log by the control plane before the append.
	After ID `json:"after,omitempty" choir:"id7" doc:"Finished run that this one follows up: its Director is told what was asked and answered there."`
	// Recording is set by the control plane alone, for the demo.
	Recording string `json:"recording,omitempty" choir:"len=1..100" doc:"The model's words of this run come from this recording."`
	// Paced is set by the control plane alone, for the demo of the desktop.
	Paced bool `json:"paced,omitempty" doc:"The recording plays at the pace of a reader, until a person wants it faster."`
}

// SteeringSubmitted adds to a run while it works.
type SteeringSubmitted struct {
	Text string `json:"text" choir:"len=1..20000" doc:"What the person added."`
}

// RunCancelRequested stops a run.
type RunCancelRequested struct {
	Reason string `json:"reason,omitempty" choir:"len=1..400" doc:"Why."`
}

// RunPaused holds a run: it begins nothing more until run.resumed. What it has in hand, a
// command or a call of a model, comes to its end.
type RunPaused struct{}

// RunResumed lets a paused run go on where it was.
type RunResumed struct{}

// RunFinished ends a run. Signature is Ed25519 over SignedText.
type RunFinished struct {
	Outcome   Outcome      `json:"outcome" choir:"enum=done|failed|cancelled" doc:"How it ended."`
	Code      Code         `json:"code,omitempty" choir:"len=1..40" doc:"Stable reason when not done."`
	Status    AnswerStatus `json:"status,omitempty" choir:"enum=partly|not_done" doc:"How much of what was asked is done, says the Director; absent is done."`
	Answer    string       `json:"answer" choir:"len=0..20000" doc:"The Director's answer to the user."`
	Document  ID           `json:"document,omitempty" choir:"id7" doc:"The document that was asked for, which the Director wrote; the run's record is another."`
	File      string       `json:"file,omitempty" choir:"len=1..4096" doc:"The file that was asked for, below the workspace's folder."`
	Signature string       `json:"signature,omitempty" choir:"len=1..200" doc:"Ed25519, base64, by the key in sandbox.started."`
	Said      string       `json:"said,omitempty" choir:"len=1..2000" doc:"What a model said that ended the run in plain words, without one of its tools. Nobody answers for it."`
}

// RunDismissed says that a person has read how a run ended and put its card away.
type RunDismissed struct{}

// AnswerStatus is how much of what was asked a run's answer gives.
type AnswerStatus string

// The statuses of answers.
const (
	AnsweredDone    AnswerStatus = "done"
	AnsweredPartly  AnswerStatus = "partly"
	AnsweredNotDone AnswerStatus = "not_done"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	OutcomeDone      Outcome = "done"
	OutcomeFailed    Outcome = "failed"
	OutcomeCancelled Outcome = "cancelled"
)

// SignedText returns the bytes that the Director signs for an answer: a fixed first line,
// the event type, the run and the text, separated by newlines.
func SignedText(t Type, run ID, text string) []byte {
	return []byte("choir answer 1\n" + string(t) + "\n" + string(run) + "\n" + text)
}

// PlanMade is an accepted plan.
type PlanMade struct {
	Goal  string     `json:"goal" choir:"len=1..4000" doc:"What the run shall reach."`
	Steps []PlanStep `json:"steps" choir:"len=1..32" doc:"Steps in an order in which they can run."`
}

// PlanStep is one step of a plan; it becomes one or more tasks.
type PlanStep struct {
	ID                 string         `json:"id" choir:"len=1..64" doc:"Unique within the plan."`
	Title              string         `json:"title" choir:"len=1..200" doc:"For people."`
	Kind               TaskKind       `json:"kind" choir:"enum=edit_repo|run|git|inspect" doc:"As in DirectorTask."`
	Instruction        string         `json:"instruction" choir:"len=1..20000" doc:"As in DirectorTask."`
	Repo               string         `json:"repo,omitempty" choir:"len=1..100" doc:"As in DirectorTask; default the run's."`
	AcceptanceCriteria []string       `json:"acceptance_criteria" choir:"len=1..64,each=1..2000" doc:"As in DirectorTask."`
	Worktree           bool           `json:"worktree,omitempty" doc:"As in DirectorTask. Such a step and the next one run at once when both have it and the next depends on none that is not accepted."`
	DependsOn          []string       `json:"depends_on,omitempty" choir:"len=0..32,each=1..64" doc:"Steps that must be accepted before."`
	GitAction          GitAction      `json:"git_action,omitempty" choir:"enum=git_checkpoint|git_reset|git_checkout|git_status" doc:"As in DirectorTask."`
	GitArgs            []string       `json:"git_args,omitempty" choir:"len=0..64,each=0..4096" doc:"As in DirectorTask."`
	AllowedTools       []Tool         `json:"allowed_tools,omitempty" choir:"len=0..16,enum=read_file|write_file|edit_file|list_files|search_files|bash|fetch_url|screenshot" doc:"As in DirectorTask."`
	EgressProfile      *EgressProfile `json:"egress_profile,omitempty" doc:"As in DirectorTask."`
	VerifyProfile      *VerifyProfile `json:"verify_profile,omitempty" doc:"As in DirectorTask."`
	Commands           []Command      `json:"commands,omitempty" choir:"len=0..256" doc:"As in DirectorTask."`
	TimeBudgetS        int            `json:"time_budget_s,omitempty" choir:"range=1..86400" doc:"As in DirectorTask."`
}

// PlanChanged replaces the steps of a plan that are not accepted.
type PlanChanged struct {
	Goal  string     `json:"goal" choir:"len=1..4000" doc:"What the run shall reach."`
	Steps []PlanStep `json:"steps" choir:"len=1..32" doc:"The steps that are left, in an order in which they can run. Accepted steps stay."`
}

// PlanRefused says why a plan did not hold.
type PlanRefused struct {
	Problems []string `json:"problems" choir:"len=1..64,each=1..2000" doc:"What is wrong, each with the field's path."`
}

// DecisionRefused says why a tool call of the Director was refused.
type DecisionRefused struct {
	Tool   string `json:"tool" choir:"len=1..64" doc:"The tool."`
	Reason string `json:"reason" choir:"len=1..20000" doc:"What the model was told."`
}

// TaskDispatched hands a task to the Associate.
type TaskDispatched struct {
	Task DirectorTask `json:"task" doc:"The task."`
	Step string       `json:"step,omitempty" choir:"len=1..64" doc:"Step of the plan it serves."`
}

// TaskStarted says that the Associate took a task up.
type TaskStarted struct {
	Base     Digest `json:"base" choir:"digest" doc:"Snapshot of the workspace as it was; a rollback goes here."`
	Attempt  int    `json:"attempt" choir:"range=1..1000" doc:"1 for the first delivery."`
	Worktree Digest `json:"worktree,omitempty" choir:"digest" doc:"Copy of its project in which it works, as it was then; absent while it works in the workspace, or when its change is about to come into that."`
}

// TaskCancelRequested asks the Associate to end a task that it has begun.
type TaskCancelRequested struct {
	Reason string `json:"reason" choir:"enum=run_cancelled|run_finished" doc:"Whether a person stopped the run or it ended."`
}

// CommandEndRequested asks the Associate to end a command that a tool call of a task runs.
type CommandEndRequested struct {
	Call ID `json:"call" choir:"id7" doc:"The tool call that started the command."`
}

// TaskSteered says that a task has heard what a person added to its run.
type TaskSteered struct {
	Steering ID  `json:"steering" choir:"id" doc:"The steering.submitted."`
	Call     int `json:"call" choir:"range=1..1000000" doc:"Number of the task's model call whose request is the first to say it, from 1."`
}

// TaskProgressed is one message of a worker to the Conductor.
type TaskProgressed struct {
	Kind    string `json:"kind" choir:"enum=progress|request" doc:"progress or request; result and failed are task.returned."`
	Request string `json:"request,omitempty" choir:"enum=blocked|approval|conflict|reprioritize" doc:"Only for kind request."`
	Text    string `json:"text" choir:"len=1..4000" doc:"In words."`
}

// TaskReturned answers a task.
type TaskReturned struct {
	Result AssociateResult `json:"result" doc:"The result."`
}

// TaskJudged holds a result against the acceptance criteria.
type TaskJudged struct {
	Task     ID             `json:"task" choir:"id7" doc:"The task judged."`
	Step     string         `json:"step" choir:"len=1..64" doc:"Step of the plan."`
	Verdict  Verdict        `json:"verdict" choir:"enum=accept|revise|abort" doc:"What follows."`
	Criteria []CriterionMet `json:"criteria" choir:"len=0..64" doc:"Each acceptance criterion."`
	Reason   string         `json:"reason" choir:"len=1..4000" doc:"Why."`
}

// Verdict is the decision of a judgement.
type Verdict string

// The verdicts.
const (
	VerdictAccept Verdict = "accept"
	VerdictRevise Verdict = "revise"
	VerdictAbort  Verdict = "abort"
)

// CriterionMet is the judgement of one criterion.
type CriterionMet struct {
	Criterion string `json:"criterion" choir:"len=1..2000" doc:"The criterion."`
	Met       bool   `json:"met" doc:"Whether it is met."`
	Evidence  string `json:"evidence,omitempty" choir:"len=1..2000" doc:"What can be seen there, in words."`
	ShownBy   *Proof `json:"shown_by,omitempty" doc:"The part of the result that shows it; each criterion of an accepted result has one."`
}

// Proof names a part of a task's result, or of the files after the task. The Director
// checks that there is such a part before it records it.
type Proof struct {
	Kind   ProofKind `json:"kind" choir:"enum=check|command|log|diff|file|summary" doc:"What shows it: a check of the verification, a command, a line of the verification log, a changed file, lines of a file after the task, or the summary."`
	Number int       `json:"number,omitempty" choir:"range=0..100000000" doc:"The check or the command, or the line of the log; from 1."`
	Path   string    `json:"path,omitempty" choir:"len=0..4096" doc:"The file below the workspace, of diff and file."`
	From   int       `json:"from,omitempty" choir:"range=0..100000000" doc:"First line of file; from 1."`
	To     int       `json:"to,omitempty" choir:"range=0..100000000" doc:"Last line of file."`
}

// ProofKind is the kind of a proof.
type ProofKind string

// The kinds of proofs.
const (
	ProofCheck   ProofKind = "check"
	ProofCommand ProofKind = "command"
	ProofLog     ProofKind = "log"
	ProofDiff    ProofKind = "diff"
	ProofFile    ProofKind = "file"
	ProofSummary ProofKind = "summary"
)

// QuestionAsked waits for the user.
type QuestionAsked struct {
	Question Question `json:"question" doc:"The question."`
}

// QuestionAnswered is the user's answer.
type QuestionAnswered struct {
	Question string `json:"question" choir:"len=1..64" doc:"Id of the question."`
	Text     string `json:"text" choir:"len=1..20000" doc:"The answer."`
}

// ToastShown is a short answer that needs no document.
type ToastShown struct {
	Text      string `json:"text" choir:"len=1..500" doc:"The answer."`
	Signature string `json:"signature" choir:"len=1..200" doc:"Ed25519, base64, over SignedText."`
}

// ToolCalled is a tool call about to run.
type ToolCalled struct {
	Call   ID        `json:"call" choir:"id7" doc:"Joins it to its tool.returned."`
	Tool   string    `json:"tool" choir:"len=1..64" doc:"Name, as the model called it; verify for a check of the task's verification."`
	Input  ToolInput `json:"input" doc:"Its input."`
	Writes bool      `json:"writes" doc:"It may have effects."`
}

// ToolInput is the input of any tool; each tool uses some of the fields.
// Content above the inline limit is a blob.
type ToolInput struct {
	Path       string     `json:"path,omitempty" choir:"len=0..4096" doc:"File or folder."`
	Content    string     `json:"content,omitempty" doc:"Content to write."`
	Blob       Digest     `json:"blob,omitempty" choir:"digest" doc:"The whole input as JSON, when above 64 KiB."`
	Edits      []TextEdit `json:"edits,omitempty" choir:"len=0..256" doc:"Replacements, all or none."`
	Patch      string     `json:"patch,omitempty" choir:"len=0..1000000" doc:"Patch of several files, all or none."`
	Pattern    string     `json:"pattern,omitempty" choir:"len=0..4096" doc:"Glob or regular expression."`
	Command    string     `json:"command,omitempty" choir:"len=0..131072" doc:"Command line for bash."`
	Files      string     `json:"files,omitempty" choir:"len=0..4096" doc:"Glob of the files to search."`
	Context    int        `json:"context,omitempty" choir:"range=0..1000" doc:"Lines shown before and after each that matches."`
	Ignored    bool       `json:"ignored,omitempty" doc:"Also what git ignores, and caches."`
	Symbols    bool       `json:"symbols,omitempty" doc:"Also what source files declare."`
	URL        string     `json:"url,omitempty" choir:"len=0..8192" doc:"Address to fetch."`
	Offset     int        `json:"offset,omitempty" choir:"range=0..1000000000" doc:"First line, from 1."`
	Limit      int        `json:"limit,omitempty" choir:"range=0..1000000000" doc:"Number of lines or results."`
	TimeoutS   int        `json:"timeout_s,omitempty" choir:"range=0..86400" doc:"Seconds."`
	Handle     int        `json:"handle,omitempty" choir:"range=0..1000" doc:"Running command that bash is asked about."`
	WaitS      int        `json:"wait_s,omitempty" choir:"range=0..86400" doc:"Seconds that bash waits for a command."`
	End        bool       `json:"end,omitempty" doc:"The running command is to end."`
	Stdin      string     `json:"stdin,omitempty" choir:"len=0..65536" doc:"What bash wrote to the command's standard input."`
	StdinOpen  bool       `json:"stdin_open,omitempty" doc:"The new command's standard input stays open."`
	StdinClose bool       `json:"stdin_close,omitempty" doc:"The running command's standard input ends."`
	Width      int        `json:"width,omitempty" choir:"range=0..10000" doc:"Width of a picture, in pixels."`
	Height     int        `json:"height,omitempty" choir:"range=0..10000" doc:"Height of a picture, in pixels."`
	Full       bool       `json:"full,omitempty" doc:"The picture is of the whole page."`
	Save       string     `json:"save,omitempty" choir:"len=0..4096" doc:"File that the picture is saved as."`
	Raw        string     `json:"raw,omitempty" doc:"The input as the model gave it, when it did not fit the tool."`
}

// TextEdit replaces exactly one match.
type TextEdit struct {
	Path string `json:"path,omitempty" choir:"len=0..4096" doc:"File, where it is another than that of the call."`
	Old  string `json:"old" doc:"Text that occurs exactly once."`
	New  string `json:"new" doc:"What takes its place."`
}

// ToolReturned ends a tool call.
type ToolReturned struct {
	Call       ID     `json:"call" choir:"id7" doc:"Joins it to its tool.called."`
	OK         bool   `json:"ok" doc:"It did what was asked."`
	Code       Code   `json:"code,omitempty" choir:"len=1..40" doc:"Stable reason when not ok."`
	Output     string `json:"output,omitempty" doc:"What the model is shown, up to 64 KiB."`
	Blob       Digest `json:"blob,omitempty" choir:"digest" doc:"The whole output, when it was cut."`
	ExitCode   *int   `json:"exit_code,omitempty" choir:"range=-1..255" doc:"For bash."`
	DurationMS int64  `json:"duration_ms" choir:"range=0..9007199254740991" doc:"Wall time in milliseconds."`
}

// ModelCalled says that a model call left through the gateway.
type ModelCalled struct {
	Call     ID     `json:"call" choir:"id7" doc:"Joins it to its model.returned."`
	Caller   string `json:"caller" choir:"enum=director|associate|tool|owner" doc:"Who called; owner for the test of a model that is being connected."`
	Provider string `json:"provider" choir:"len=1..64" doc:"Which provider."`
	Model    string `json:"model" choir:"len=1..200" doc:"Which model."`
	Request  Digest `json:"request" choir:"digest" doc:"The exact request, a blob."`
	// Price serves the choir that finds the call without an end.
	Price *CallPrice `json:"price,omitempty" doc:"The price it was made at; calls of an older choir have none."`
}

// CallPrice is the price of a model call, in US dollars per million tokens.
type CallPrice struct {
	Input  float64 `json:"input" choir:"range=0..1000000000" doc:"Of an input token, the dearest kind, in US dollars per million."`
	Output float64 `json:"output" choir:"range=0..1000000000" doc:"Of an output token, in US dollars per million."`
}

// ModelReturned says that a model call ended.
type ModelReturned struct {
	Call         ID       `json:"call" choir:"id7" doc:"Joins it to its model.called."`
	Caller       string   `json:"caller" choir:"enum=director|associate|tool|owner" doc:"Who called; owner for the test of a model that is being connected."`
	Provider     string   `json:"provider" choir:"len=1..64" doc:"Which provider."`
	Model        string   `json:"model" choir:"len=1..200" doc:"The model that answered."`
	Response     Digest   `json:"response,omitempty" choir:"digest" doc:"The exact response, a blob."`
	Stop         string   `json:"stop,omitempty" choir:"len=1..40" doc:"Why it stopped."`
	InputTokens  int64    `json:"input_tokens" choir:"range=0..9007199254740991" doc:"Input tokens."`
	OutputTokens int64    `json:"output_tokens" choir:"range=0..9007199254740991" doc:"Output tokens."`
	CachedTokens int64    `json:"cached_tokens" choir:"range=0..9007199254740991" doc:"Input tokens read from the provider's cache."`
	CostUSD      float64  `json:"cost_usd" choir:"range=0..1000000000" doc:"US dollars, by the price table."`
	DurationMS   int64    `json:"duration_ms" choir:"range=0..9007199254740991" doc:"Wall time in milliseconds."`
	FirstTokenMS int64    `json:"first_token_ms,omitempty" choir:"range=0..9007199254740991" doc:"Time to the first token."`
	Recorded     bool     `json:"recorded,omitempty" doc:"It was served from a recording."`
	Estimated    bool     `json:"estimated,omitempty" doc:"Tokens and cost are estimates: the provider did not count the call to its end."`
	LeftOut      []string `json:"left_out,omitempty" choir:"len=0..16,each=1..40" doc:"Parameters of the request that the service refuses, so that it was asked without them: temperature, effort, tool_choice, images, ..."`
	Code         Code     `json:"code,omitempty" choir:"len=1..40" doc:"Stable reason when it failed."`
	Error        string   `json:"error,omitempty" choir:"len=1..2000" doc:"The provider's reason, without secrets."`
}

// DocumentCreated begins a living document; its version 0 is the prompt.
type DocumentCreated struct {
	Document ID     `json:"document" choir:"id7" doc:"The document."`
	Title    string `json:"title" choir:"len=1..200" doc:"Its title."`
	Content  string `json:"content" doc:"Version 0, Markdown."`
	Blob     Digest `json:"blob,omitempty" choir:"digest" doc:"Version 0, when it is above 64 KiB."`
}

// DocumentVersioned adds an immutable version.
type DocumentVersioned struct {
	Document ID     `json:"document" choir:"id7" doc:"The document."`
	Version  int    `json:"version" choir:"range=1..1000000" doc:"One more than the version before."`
	Content  string `json:"content,omitempty" doc:"Markdown, up to 64 KiB."`
	Blob     Digest `json:"blob,omitempty" choir:"digest" doc:"Markdown, above 64 KiB."`
	Note     string `json:"note,omitempty" choir:"len=1..200" doc:"What changed."`
}

// EgressRefused records a refused connection to the outside.
type EgressRefused struct {
	Host   string `json:"host" choir:"len=1..300" doc:"Host that was wanted."`
	Port   int    `json:"port,omitempty" choir:"range=1..65535" doc:"Port that was wanted."`
	Policy string `json:"policy" choir:"enum=none|git+pkg|allowlist" doc:"Policy in force."`
	// Why is absent in events of before there were policies, where it is policy.
	Why EgressWhy `json:"why,omitempty" choir:"enum=policy|task|rule|unclear|address|tls|limit|gate|held|digest" doc:"What refused it: the computer's policy, the task's own profile, a rule on methods and paths, an address or message that can be read in two ways, where the name leads, the TLS handshake in the tunnel, a limit, the git or key gateway, which has no repository or key for it, a rule of [[approve]], which holds what tasks would send, or content of a registry that has another digest than the registry says."`
	// Asked opens or joins a request, see EgressGranted and EgressDenied.
	Asked bool `json:"asked,omitempty" doc:"The owner was asked: a task of the run wanted the host, and a grant would let it out."`
}

// EgressWhy names what refused a request for a host.
type EgressWhy string

// The reasons of refusals.
const (
	EgressPolicy  EgressWhy = "policy"
	EgressTask    EgressWhy = "task"
	EgressRule    EgressWhy = "rule"
	EgressUnclear EgressWhy = "unclear"
	EgressAddress EgressWhy = "address"
	EgressTLS     EgressWhy = "tls"
	EgressLimit   EgressWhy = "limit"
	EgressGate    EgressWhy = "gate"
	EgressHeld    EgressWhy = "held"
	EgressDigest  EgressWhy = "digest"
)

// EgressPassed records a request, or a whole tunnel, that was let out and has ended.
type EgressPassed struct {
	Host     string `json:"host" choir:"len=1..300" doc:"Host that was allowed."`
	Port     int    `json:"port" choir:"range=1..65535" doc:"Its port."`
	Address  string `json:"address,omitempty" choir:"len=1..64" doc:"Address that was dialled; none for what the package cache had."`
	Cached   bool   `json:"cached,omitempty" doc:"The package cache had the answer, so that the host was not asked."`
	Method   string `json:"method,omitempty" choir:"len=1..40" doc:"Of a request that could be read; a tunnel has none."`
	Path     string `json:"path,omitempty" choir:"len=1..2000" doc:"Of the same, its beginning, without the query."`
	Status   int    `json:"status,omitempty" choir:"range=100..999" doc:"That the host answered with, of the same."`
	Sent     int64  `json:"sent" choir:"range=0..9007199254740991" doc:"Bytes that went to the host."`
	Received int64  `json:"received" choir:"range=0..9007199254740991" doc:"Bytes that came from it."`
	Millis   int64  `json:"ms" choir:"range=0..9007199254740991" doc:"How long it took, in milliseconds."`
	Cut      string `json:"cut,omitempty" choir:"enum=policy|limit|idle|error|grant|credential|held" doc:"What ended it before its time: another policy, the limit of bytes, silence, a broken connection, the end of its grant, or of its key in the vault, or a task that began while a rule holds what is sent there."`
	Grant    ID     `json:"grant,omitempty" choir:"id7" doc:"The grant that let it out, where the policy does not."`
	// Credential is the use of a key of the vault; the key is in no event.
	Credential string `json:"credential,omitempty" choir:"len=1..64" doc:"Entry of the vault whose key was added to the request outside of the sandbox."`
}

// BudgetReached says which limit ended something.
type BudgetReached struct {
	Scope string  `json:"scope" choir:"enum=run|task|computer|desktop" doc:"What it limits: desktop is the runs that a desktop began within 24 hours."`
	Limit string  `json:"limit" choir:"enum=steps|tokens|time|cost|tasks|calls" doc:"Which limit."`
	Max   float64 `json:"max" choir:"range=0..9007199254740991" doc:"The limit: steps, tokens, seconds, US dollars, tasks or calls."`
	Used  float64 `json:"used" choir:"range=0..9007199254740991" doc:"What was used, in the same unit."`
}

// EventType implements Payload.
func (PromptSubmitted) EventType() Type { return "prompt.submitted" }

// EventType implements Payload.
func (RunDismissed) EventType() Type { return "run.dismissed" }

// EventType implements Payload.
func (SteeringSubmitted) EventType() Type { return "steering.submitted" }

// EventType implements Payload.
func (RunCancelRequested) EventType() Type { return "run.cancel_requested" }

// EventType implements Payload.
func (RunPaused) EventType() Type { return "run.paused" }

// EventType implements Payload.
func (RunResumed) EventType() Type { return "run.resumed" }

// EventType implements Payload.
func (RunFinished) EventType() Type { return "run.finished" }

// EventType implements Payload.
func (PlanMade) EventType() Type { return "plan.made" }

// EventType implements Payload.
func (PlanChanged) EventType() Type { return "plan.changed" }

// EventType implements Payload.
func (PlanRefused) EventType() Type { return "plan.refused" }

// EventType implements Payload.
func (DecisionRefused) EventType() Type { return "decision.refused" }

// EventType implements Payload.
func (TaskDispatched) EventType() Type { return "task.dispatched" }

// EventType implements Payload.
func (TaskStarted) EventType() Type { return "task.started" }

// EventType implements Payload.
func (CommandEndRequested) EventType() Type { return "command.end_requested" }

// EventType implements Payload.
func (TaskCancelRequested) EventType() Type { return "task.cancel_requested" }

// EventType implements Payload.
func (TaskSteered) EventType() Type { return "task.steered" }

// EventType implements Payload.
func (TaskProgressed) EventType() Type { return "task.progressed" }

// EventType implements Payload.
func (TaskReturned) EventType() Type { return "task.returned" }

// EventType implements Payload.
func (TaskJudged) EventType() Type { return "task.judged" }

// EventType implements Payload.
func (QuestionAsked) EventType() Type { return "question.asked" }

// EventType implements Payload.
func (QuestionAnswered) EventType() Type { return "question.answered" }

// EventType implements Payload.
func (ToastShown) EventType() Type { return "toast.shown" }

// EventType implements Payload.
func (ToolCalled) EventType() Type { return "tool.called" }

// EventType implements Payload.
func (ToolReturned) EventType() Type { return "tool.returned" }

// EventType implements Payload.
func (ModelCalled) EventType() Type { return "model.called" }

// EventType implements Payload.
func (ModelReturned) EventType() Type { return "model.returned" }

// EventType implements Payload.
func (DocumentCreated) EventType() Type { return "document.created" }

// EventType implements Payload.
func (DocumentVersioned) EventType() Type { return "document.versioned" }

// EventType implements Payload.
func (EgressRefused) EventType() Type { return "egress.refused" }

// EventType implements Payload.
func (EgressPassed) EventType() Type { return "egress.passed" }

// EventType implements Payload.
func (BudgetReached) EventType() Type { return "budget.reached" }
