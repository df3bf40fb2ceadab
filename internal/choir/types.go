package choir

import "reflect"

// Type names what happened: lower-case and dotted, noun first.
type Type string

// wellFormed reports whether a type is two or more lower-case words with dots
// between them.
func (t Type) wellFormed() bool {
	dots, word := 0, 0
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c >= 'a' && c <= 'z', word > 0 && (c == '_' || c >= '0' && c <= '9'):
			word++
		case c == '.' && word > 0:
			dots, word = dots+1, 0
		default:
			return false
		}
	}
	return dots > 0 && word > 0
}

// Payload is the body of one event type. Each type has exactly one struct.
type Payload interface {
	EventType() Type
}

// Class decides how a rewind treats the state that an event established.
type Class string

const (
	// ClassFact is trust, money or history: never rewound.
	ClassFact Class = "fact"
	// ClassState is state that the owner sees and works on: a rewind writes its earlier
	// version again, as a new event.
	ClassState Class = "state"
)

// TypeInfo declares one event type: its payload, who may append it and whether
// it can be rewound.
type TypeInfo struct {
	Type  Type
	Doc   string
	Class Class
	// Run says whether the event must name a run.
	Run bool
	// Once names the fields that identify the event's subject, where the log has one
	// event of the type about each subject, from any source: "run", "task" and "cause"
	// are the event's own, "payload.x" is a text in its payload. Where one of them is
	// absent there is no rule. The store refuses a second as conflict and names the
	// first, see FirstOf.
	Once []string
	// After is the type of the event about the same subject and of the same run
	// that must be in the log before.
	After Type
	// Roles that may append it.
	Roles []Role
	// Sample is a zero payload; New returns a pointer to a fresh one.
	Sample Payload
}

// New returns a pointer to a zero payload of this type.
func (t TypeInfo) New() Payload {
	return reflect.New(reflect.TypeOf(t.Sample)).Interface().(Payload)
}

// MayAppend reports whether the role may append events of this type.
func (t TypeInfo) MayAppend(role Role) bool { return hasRole(t.Roles, role) }

var (
	owner     = []Role{RoleShell, RoleCLI}
	person    = []Role{RoleShell, RoleDesktop, RoleCLI}
	bringer   = []Role{RoleShell, RoleDesktop, RoleCLI, RoleControl}
	director  = []Role{RoleDirector}
	associate = []Role{RoleAssociate}
	control   = []Role{RoleControl}
	writer    = []Role{RoleDirector, RoleShell, RoleDesktop, RoleCLI}
	// anyWriter: the control plane for what a task did, a person for their own
	// edits, which a rollback keeps.
	anyWriter = []Role{RoleControl, RoleShell, RoleDesktop, RoleCLI}
)

// types declares every event type. The name of each type comes from its payload's method
// EventType.
var types = typed([]TypeInfo{
	{Sample: ComputerCreated{}, Class: ClassFact, Roles: control, Doc: "The computer exists; always the first event of a log."},
	{Sample: SessionStarted{}, Class: ClassFact, Roles: control, Doc: "The computer woke."},
	{Sample: SessionEnded{}, Class: ClassFact, Roles: control, Doc: "The computer went to sleep."},
	{Sample: SandboxStarted{}, Class: ClassFact, Roles: control, Doc: "A sandbox runs, at the isolation level that is really in force."},
	{Sample: SandboxStopped{}, Class: ClassFact, Roles: control, Doc: "A sandbox ended or was ended."},
	{Sample: PromptSubmitted{}, Class: ClassFact, Run: true, Once: []string{"run"}, Roles: person, Doc: "A person asked for something; a run begins."},
	{Sample: SteeringSubmitted{}, Class: ClassFact, Run: true, Roles: person, Doc: "A person added to a run while it works; taken up at the next step."},
	{Sample: RunCancelRequested{}, Class: ClassFact, Run: true, Roles: person, Doc: "A person stopped a run."},
	{Sample: RunPaused{}, Class: ClassFact, Run: true, Roles: owner, Doc: "The owner paused a run: it begins no model call, tool call, command or step until it is resumed."},
	{Sample: RunResumed{}, Class: ClassFact, Run: true, Roles: owner, Doc: "The owner lets a paused run go on where it was."},
	{Sample: RunFinished{}, Class: ClassFact, Run: true, Once: []string{"run"}, After: TypePromptSubmitted, Roles: []Role{RoleDirector, RoleControl}, Doc: "A run ended, with the Director's signed answer or the reason it failed."},
	{Sample: RunDismissed{}, Class: ClassFact, Run: true, Once: []string{"run"}, After: TypeRunFinished, Roles: person, Doc: "A person put away the card of a run that had ended."},
	{Sample: PlanMade{}, Class: ClassFact, Run: true, Once: []string{"run"}, Roles: director, Doc: "The Director accepted a plan."},
	{Sample: PlanChanged{}, Class: ClassFact, Run: true, Roles: director, Doc: "The Director changed the steps that are not accepted."},
	{Sample: PlanRefused{}, Class: ClassFact, Run: true, Roles: director, Doc: "A plan did not hold; the model is told why."},
	{Sample: DecisionRefused{}, Class: ClassFact, Run: true, Roles: director, Doc: "A tool call of the Director was refused, other than a first plan; the model is told why."},
	{Sample: TaskDispatched{}, Class: ClassFact, Run: true, Once: []string{"task"}, Roles: []Role{RoleDirector, RoleShell, RoleDesktop, RoleCLI, RoleControl}, Doc: "A DirectorTask is to be executed."},
	{Sample: TaskStarted{}, Class: ClassFact, Run: true, Roles: control, Doc: "The Associate took a task up; the workspace as it was then."},
	{Sample: TaskCancelRequested{}, Class: ClassFact, Run: true, Once: []string{"task"}, After: TypeTaskDispatched, Roles: control, Doc: "The Associate is to end a task that it has begun, because its run was stopped or has ended."},
	{Sample: CommandEndRequested{}, Class: ClassFact, Run: true, Once: []string{"payload.call"}, After: TypeToolCalled, Roles: person, Doc: "A person ended a command of a task that still runs; the task goes on."},
	{Sample: TaskSteered{}, Class: ClassFact, Run: true, Once: []string{"task", "payload.steering"}, Roles: control, Doc: "What a person added to the run has reached a task at work: its next model call says it."},
	{Sample: TaskProgressed{}, Class: ClassFact, Run: true, Roles: associate, Doc: "The Associate says something while it works: what its model says beside its tool calls."},
	{Sample: TaskReturned{}, Class: ClassFact, Run: true, Once: []string{"task"}, After: TypeTaskDispatched, Roles: []Role{RoleAssociate, RoleControl}, Doc: "The one AssociateResult of a task."},
	{Sample: TaskJudged{}, Class: ClassFact, Run: true, Once: []string{"payload.task"}, Roles: director, Doc: "The Director held a result against the acceptance criteria."},
	{Sample: QuestionAsked{}, Class: ClassFact, Run: true, Once: []string{"run", "payload.question.id"}, Roles: director, Doc: "Only the user can answer this; the run waits."},
	{Sample: QuestionAnswered{}, Class: ClassFact, Run: true, Once: []string{"run", "payload.question"}, After: TypeQuestionAsked, Roles: person, Doc: "The user answered."},
	{Sample: ToastShown{}, Class: ClassFact, Run: true, Once: []string{"run"}, Roles: director, Doc: "A short signed answer that needs no document."},
	{Sample: ToolCalled{}, Class: ClassFact, Run: true, Once: []string{"payload.call"}, Roles: associate, Doc: "A tool call is about to run."},
	{Sample: ToolReturned{}, Class: ClassFact, Run: true, Once: []string{"payload.call"}, Roles: associate, Doc: "A tool call ended, or was refused."},
	{Sample: ModelCalled{}, Class: ClassFact, Roles: control, Doc: "A model call left through the gateway; the exact request is a blob."},
	{Sample: ModelReturned{}, Class: ClassFact, Once: []string{"cause"}, Roles: control, Doc: "A model call ended; the exact response is a blob."},
	{Sample: FileWritten{}, Class: ClassState, Roles: anyWriter, Doc: "Files are new or changed, seen by comparing the tree."},
	{Sample: FileRemoved{}, Class: ClassState, Roles: anyWriter, Doc: "Files are gone, seen by comparing the tree."},
	{Sample: SnapshotTaken{}, Class: ClassFact, Roles: control, Doc: "The whole workspace, exactly, is in the store."},
	{Sample: CachesLeftOut{}, Class: ClassFact, Roles: control, Doc: "Snapshots leave something else out than before: caches with more than storage.cache_mb, and what is over another limit."},
	{Sample: DocumentCreated{}, Class: ClassState, Once: []string{"payload.document"}, Roles: writer, Doc: "A document exists: a run's living one, or a person's."},
	{Sample: DocumentVersioned{}, Class: ClassState, Roles: writer, Doc: "A document has a new immutable version."},
	{Sample: DocumentRenamed{}, Class: ClassState, Roles: person, Doc: "A document has another title."},
	{Sample: DocumentRemoved{}, Class: ClassState, Roles: person, Doc: "A document is gone; its versions stay."},
	{Sample: OverlayAdded{}, Class: ClassState, Roles: writer, Doc: "A proposal or a comment, of a person or of a run, lies over a version of a document."},
	{Sample: OverlaySettled{}, Class: ClassState, Roles: person, Doc: "A proposal was accepted or rejected, a comment resolved, or either opened again."},
	{Sample: CheckpointCreated{}, Class: ClassFact, Once: []string{"payload.checkpoint"}, Roles: []Role{RoleAssociate, RoleControl}, Doc: "A snapshot with a name, and its git commits."},
	{Sample: TimelineRewound{}, Class: ClassFact, Roles: []Role{RoleShell, RoleCLI, RoleControl}, Doc: "What can be rewound is again as it was at an earlier moment."},
	{Sample: TimelineUndone{}, Class: ClassFact, Roles: owner, Doc: "What one action changed was undone."},
	{Sample: TimelineForked{}, Class: ClassFact, Once: []string{"payload.computer"}, Roles: owner, Doc: "Another computer begins with this one's past."},
	{Sample: ComputerForked{}, Class: ClassFact, Roles: control, Doc: "This computer begins here; what is before it is another's past."},
	{Sample: ComputerImported{}, Class: ClassFact, Roles: control, Doc: "This computer came in a file; what is before it is another's past."},
	{Sample: ComputerExported{}, Class: ClassFact, Roles: owner, Doc: "The whole computer was written into a file."},
	{Sample: ChangesTaken{}, Class: ClassFact, Roles: owner, Doc: "Changes of another computer were applied to this one."},
	{Sample: WindowOpened{}, Class: ClassState, Roles: person, Doc: "A window appeared on the desktop."},
	{Sample: WindowMoved{}, Class: ClassState, Roles: person, Doc: "A window has another place or size."},
	{Sample: WindowShown{}, Class: ClassState, Roles: person, Doc: "A window was minimised, maximised, snapped or restored."},
	{Sample: WindowRetitled{}, Class: ClassState, Roles: person, Doc: "A window shows something else."},
	{Sample: WindowFocused{}, Class: ClassState, Roles: person, Doc: "A window came to the top."},
	{Sample: WindowClosed{}, Class: ClassState, Roles: person, Doc: "A window is gone."},
	{Sample: ThemeChanged{}, Class: ClassState, Roles: person, Doc: "The desktop looks different."},
	{Sample: SettingChanged{}, Class: ClassState, Roles: person, Doc: "A setting of the desktop has another value."},
	{Sample: DesktopUpgraded{}, Class: ClassState, Roles: []Role{RoleShell, RoleCLI, RoleControl}, Doc: "The desktop's source took over what a newer shipped one changed."},
	{Sample: DesktopBroke{}, Class: ClassFact, Roles: anyWriter, Doc: "The desktop's source, as it was changed, does not work; of the run whose change of it came last, if one did."},
	{Sample: TerminalOpened{}, Class: ClassFact, Roles: person, Doc: "A shell runs behind a terminal."},
	{Sample: TerminalClosed{}, Class: ClassFact, Roles: control, Doc: "A terminal is gone, with everything that was started in it."},
	{Sample: RepoAdded{}, Class: ClassFact, Roles: bringer, Doc: "A person brought a project of their own, or the control plane that of the demo, for a desktop that asked."},
	{Sample: RepoExported{}, Class: ClassFact, Roles: owner, Doc: "Verified work left the computer as a branch or a patch."},
	{Sample: RepoLinked{}, Class: ClassFact, Roles: owner, Doc: "The owner named the repository at a host that a project is fetched from and pushed to."},
	{Sample: RepoPushed{}, Class: ClassFact, Roles: control, Doc: "A host has a commit of a project on the computer's branch."},
	{Sample: RepoPushFailed{}, Class: ClassFact, Roles: control, Doc: "A commit could not be pushed; it is tried again."},
	{Sample: VaultSet{}, Class: ClassFact, Roles: owner, Doc: "The computer's programs may use a key of the vault, for what it says."},
	{Sample: VaultRemoved{}, Class: ClassFact, Roles: owner, Doc: "The computer's programs can use a key of the vault no more."},
	{Sample: EgressRefused{}, Class: ClassFact, Roles: control, Doc: "Something in a sandbox wanted a host its profile does not allow."},
	{Sample: EgressPassed{}, Class: ClassFact, Roles: control, Doc: "A request of something in a sandbox was let out to a host, and has ended."},
	{Sample: EgressGranted{}, Class: ClassFact, Once: []string{"payload.grant"}, Roles: owner, Doc: "The owner lets programs reach a host that the policy refuses."},
	{Sample: EgressRevoked{}, Class: ClassFact, Once: []string{"payload.grant"}, After: TypeEgressGranted, Roles: owner, Doc: "The owner ended a grant before its time."},
	{Sample: EffectHeld{}, Class: ClassFact, Run: true, Once: []string{"task"}, After: TypeTaskDispatched, Roles: control, Doc: "The result of a task waits for the owner's approval; nothing of it is in the workspace."},
	{Sample: EffectAnswered{}, Class: ClassFact, Run: true, Once: []string{"task"}, After: TypeEffectHeld, Roles: owner, Doc: "The owner approved a result, which has landed, refused it, or wants it done again."},
	{Sample: EgressDenied{}, Class: ClassFact, Roles: owner, Doc: "The owner answered a request for a host with no."},
	{Sample: BudgetReached{}, Class: ClassFact, Roles: []Role{RoleDirector, RoleControl}, Doc: "A limit on steps, tokens, time or cost was reached."},
	{Sample: LogRepaired{}, Class: ClassFact, Roles: control, Doc: "One copy of the log was damaged and restored from the other."},
})

// typed sets the Type of each declaration to that of its sample payload, and returns
// infos.
func typed(infos []TypeInfo) []TypeInfo {
	for i := range infos {
		infos[i].Type = infos[i].Sample.EventType()
	}
	return infos
}

// Types returns the declaration of every event type, in the order of docs/CONTRACTS.md.
func Types() []TypeInfo { return append([]TypeInfo(nil), types...) }

var typeIndex = func() map[Type]TypeInfo {
	m := make(map[Type]TypeInfo, len(types))
	for _, t := range types {
		m[t.Type] = t
	}
	return m
}()

// LookupType returns the declaration of an event type; ok is false for an unknown type.
func LookupType(t Type) (TypeInfo, bool) {
	info, ok := typeIndex[t]
	return info, ok
}

// DecodePayload decodes a payload strictly, see DecodeStrict, into the struct of its
// type. An unknown type or a refused field is an *Error with code invalid or too_large
// and the path of the field.
func DecodePayload(t Type, raw []byte) (Payload, error) { return decodePayload(t, raw, DecodeStrict) }

// ReadPayload decodes the payload of an event of the log, see DecodeDurable: it ignores
// unknown fields, which a newer choir may have written. An unknown type is code invalid;
// readers of whole logs skip such events.
func ReadPayload(t Type, raw []byte) (Payload, error) { return decodePayload(t, raw, DecodeDurable) }

func decodePayload(t Type, raw []byte, decode func([]byte, any) error) (Payload, error) {
	info, ok := LookupType(t)
	if !ok {
		return nil, RefuseField("type", ReasonEventTypeUnknown, TextOf("type", t))
	}
	p := info.New()
	if err := decode(raw, p); err != nil {
		return nil, Under("payload", err)
	}
	return p, nil
}
