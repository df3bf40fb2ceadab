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

// Class says what a rewind does to what the event established.
type Class string

const (
	// ClassFact is trust, money or history: never rewound.
	ClassFact Class = "fact"
	// ClassState is what the owner sees and works on: a rewind writes its
	// earlier version again, as a new event.
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
	// Once names the fields that say what the event is about, where the log has
	// one event of the type about each subject, whoever appends it: "run", "task"
	// and "cause" are the event's own, "payload.x" is a text in its payload. Where
	// one of them is absent there is no rule. The store refuses a second as
	// conflict and names the first, see FirstOf.
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

var types = []TypeInfo{
	{Type: "computer.created", Class: ClassFact, Roles: control, Sample: ComputerCreated{}, Doc: "The computer exists; always the first event of a log."},
	{Type: "session.started", Class: ClassFact, Roles: control, Sample: SessionStarted{}, Doc: "The computer woke."},
	{Type: "session.ended", Class: ClassFact, Roles: control, Sample: SessionEnded{}, Doc: "The computer went to sleep."},
	{Type: "sandbox.started", Class: ClassFact, Roles: control, Sample: SandboxStarted{}, Doc: "A sandbox runs, at the isolation level that is really in force."},
	{Type: "sandbox.stopped", Class: ClassFact, Roles: control, Sample: SandboxStopped{}, Doc: "A sandbox ended or was ended."},
	{Type: "prompt.submitted", Class: ClassFact, Run: true, Once: []string{"run"}, Roles: person, Sample: PromptSubmitted{}, Doc: "A person asked for something; a run begins."},
	{Type: "steering.submitted", Class: ClassFact, Run: true, Roles: person, Sample: SteeringSubmitted{}, Doc: "A person added to a run while it works; taken up at the next step."},
	{Type: "run.cancel_requested", Class: ClassFact, Run: true, Roles: person, Sample: RunCancelRequested{}, Doc: "A person stopped a run."},
	{Type: "run.finished", Class: ClassFact, Run: true, Once: []string{"run"}, After: "prompt.submitted", Roles: []Role{RoleDirector, RoleControl}, Sample: RunFinished{}, Doc: "A run ended, with the Director's signed answer or the reason it failed."},
	{Type: "run.dismissed", Class: ClassFact, Run: true, Once: []string{"run"}, After: "run.finished", Roles: person, Sample: RunDismissed{}, Doc: "A person put away the card of a run that had ended."},
	{Type: "plan.made", Class: ClassFact, Run: true, Once: []string{"run"}, Roles: director, Sample: PlanMade{}, Doc: "The Director accepted a plan."},
	{Type: "plan.refused", Class: ClassFact, Run: true, Roles: director, Sample: PlanRefused{}, Doc: "A plan did not hold; the model is told why."},
	{Type: "task.dispatched", Class: ClassFact, Run: true, Once: []string{"task"}, Roles: []Role{RoleDirector, RoleShell, RoleDesktop, RoleCLI, RoleControl}, Sample: TaskDispatched{}, Doc: "A DirectorTask is to be executed."},
	{Type: "task.started", Class: ClassFact, Run: true, Roles: control, Sample: TaskStarted{}, Doc: "The Associate took a task up; the workspace as it was then."},
	{Type: "task.progressed", Class: ClassFact, Run: true, Roles: associate, Sample: TaskProgressed{}, Doc: "The Associate says something while it works: what its model says beside its tool calls."},
	{Type: "task.returned", Class: ClassFact, Run: true, Once: []string{"task"}, After: "task.dispatched", Roles: []Role{RoleAssociate, RoleControl}, Sample: TaskReturned{}, Doc: "The one AssociateResult of a task."},
	{Type: "task.judged", Class: ClassFact, Run: true, Once: []string{"payload.task"}, Roles: director, Sample: TaskJudged{}, Doc: "The Director held a result against the acceptance criteria."},
	{Type: "question.asked", Class: ClassFact, Run: true, Once: []string{"run", "payload.question.id"}, Roles: director, Sample: QuestionAsked{}, Doc: "Only the user can answer this; the run waits."},
	{Type: "question.answered", Class: ClassFact, Run: true, Once: []string{"run", "payload.question"}, After: "question.asked", Roles: person, Sample: QuestionAnswered{}, Doc: "The user answered."},
	{Type: "toast.shown", Class: ClassFact, Run: true, Once: []string{"run"}, Roles: director, Sample: ToastShown{}, Doc: "A short signed answer that needs no document."},
	{Type: "tool.called", Class: ClassFact, Run: true, Once: []string{"payload.call"}, Roles: associate, Sample: ToolCalled{}, Doc: "A tool call is about to run."},
	{Type: "tool.returned", Class: ClassFact, Run: true, Once: []string{"payload.call"}, Roles: associate, Sample: ToolReturned{}, Doc: "A tool call ended, or was refused."},
	{Type: "model.called", Class: ClassFact, Roles: control, Sample: ModelCalled{}, Doc: "A model call left through the gateway; the exact request is a blob."},
	{Type: "model.returned", Class: ClassFact, Once: []string{"cause"}, Roles: control, Sample: ModelReturned{}, Doc: "A model call ended; the exact response is a blob."},
	{Type: "file.written", Class: ClassState, Roles: anyWriter, Sample: FileWritten{}, Doc: "Files are new or changed, seen by comparing the tree."},
	{Type: "file.removed", Class: ClassState, Roles: anyWriter, Sample: FileRemoved{}, Doc: "Files are gone, seen by comparing the tree."},
	{Type: "snapshot.taken", Class: ClassFact, Roles: control, Sample: SnapshotTaken{}, Doc: "The whole workspace, exactly, is in the store."},
	{Type: "caches.left_out", Class: ClassFact, Roles: control, Sample: CachesLeftOut{}, Doc: "Snapshots leave something else out than before: caches with more than storage.cache_mb, and what is over another limit."},
	{Type: "document.created", Class: ClassState, Once: []string{"payload.document"}, Roles: writer, Sample: DocumentCreated{}, Doc: "A document exists: a run's living one, or a person's."},
	{Type: "document.versioned", Class: ClassState, Roles: writer, Sample: DocumentVersioned{}, Doc: "A document has a new immutable version."},
	{Type: "document.renamed", Class: ClassState, Roles: person, Sample: DocumentRenamed{}, Doc: "A document has another title."},
	{Type: "document.removed", Class: ClassState, Roles: person, Sample: DocumentRemoved{}, Doc: "A document is gone; its versions stay."},
	{Type: "overlay.added", Class: ClassState, Roles: writer, Sample: OverlayAdded{}, Doc: "A proposal or a comment, of a person or of a run, lies over a version of a document."},
	{Type: "overlay.settled", Class: ClassState, Roles: person, Sample: OverlaySettled{}, Doc: "A proposal was accepted or rejected, a comment resolved, or either opened again."},
	{Type: "checkpoint.created", Class: ClassFact, Once: []string{"payload.checkpoint"}, Roles: []Role{RoleAssociate}, Sample: CheckpointCreated{}, Doc: "A snapshot with a name, and its git commits."},
	{Type: "timeline.rewound", Class: ClassFact, Roles: []Role{RoleShell, RoleCLI, RoleControl}, Sample: TimelineRewound{}, Doc: "What can be rewound is again as it was at an earlier moment."},
	{Type: "timeline.undone", Class: ClassFact, Roles: owner, Sample: TimelineUndone{}, Doc: "What one action changed was taken back."},
	{Type: "timeline.forked", Class: ClassFact, Once: []string{"payload.computer"}, Roles: owner, Sample: TimelineForked{}, Doc: "Another computer begins with this one's past."},
	{Type: "computer.forked", Class: ClassFact, Roles: control, Sample: ComputerForked{}, Doc: "This computer begins here; what is before it is another's past."},
	{Type: "computer.imported", Class: ClassFact, Roles: control, Sample: ComputerImported{}, Doc: "This computer came in a file; what is before it is another's past."},
	{Type: "computer.exported", Class: ClassFact, Roles: owner, Sample: ComputerExported{}, Doc: "The whole computer was written into a file."},
	{Type: "changes.taken", Class: ClassFact, Roles: owner, Sample: ChangesTaken{}, Doc: "Changes of another computer were applied to this one."},
	{Type: "window.opened", Class: ClassState, Roles: person, Sample: WindowOpened{}, Doc: "A window appeared on the desktop."},
	{Type: "window.moved", Class: ClassState, Roles: person, Sample: WindowMoved{}, Doc: "A window has another place or size."},
	{Type: "window.shown", Class: ClassState, Roles: person, Sample: WindowShown{}, Doc: "A window was minimised, maximised, snapped or restored."},
	{Type: "window.retitled", Class: ClassState, Roles: person, Sample: WindowRetitled{}, Doc: "A window shows something else."},
	{Type: "window.focused", Class: ClassState, Roles: person, Sample: WindowFocused{}, Doc: "A window came to the top."},
	{Type: "window.closed", Class: ClassState, Roles: person, Sample: WindowClosed{}, Doc: "A window is gone."},
	{Type: "theme.changed", Class: ClassState, Roles: person, Sample: ThemeChanged{}, Doc: "The desktop looks different."},
	{Type: "setting.changed", Class: ClassState, Roles: person, Sample: SettingChanged{}, Doc: "A setting of the desktop has another value."},
	{Type: "desktop.upgraded", Class: ClassState, Roles: []Role{RoleShell, RoleCLI, RoleControl}, Sample: DesktopUpgraded{}, Doc: "The desktop's source took over what a newer shipped one changed."},
	{Type: "desktop.broke", Class: ClassFact, Roles: anyWriter, Sample: DesktopBroke{}, Doc: "The desktop's source, as it was changed, does not work; of the run whose change of it came last, if one did."},
	{Type: "terminal.opened", Class: ClassFact, Roles: person, Sample: TerminalOpened{}, Doc: "A shell runs behind a terminal."},
	{Type: "terminal.closed", Class: ClassFact, Roles: control, Sample: TerminalClosed{}, Doc: "A terminal is gone, with everything that was started in it."},
	{Type: "repo.added", Class: ClassFact, Roles: bringer, Sample: RepoAdded{}, Doc: "A person brought a project of their own, or the control plane that of the demo, for a desktop that asked."},
	{Type: "repo.exported", Class: ClassFact, Roles: owner, Sample: RepoExported{}, Doc: "Verified work left the computer as a branch or a patch."},
	{Type: "egress.refused", Class: ClassFact, Roles: control, Sample: EgressRefused{}, Doc: "Something in a sandbox wanted a host its profile does not allow."},
	{Type: "budget.reached", Class: ClassFact, Roles: []Role{RoleDirector, RoleControl}, Sample: BudgetReached{}, Doc: "A limit on steps, tokens, time or cost was reached."},
	{Type: "log.repaired", Class: ClassFact, Roles: control, Sample: LogRepaired{}, Doc: "One copy of the log was damaged and restored from the other."},
}

// Types lists every event type, in the order of docs/CONTRACTS.md.
func Types() []TypeInfo { return append([]TypeInfo(nil), types...) }

var typeIndex = func() map[Type]TypeInfo {
	m := make(map[Type]TypeInfo, len(types))
	for _, t := range types {
		m[t.Type] = t
	}
	return m
}()

// LookupType finds the declaration of an event type.
func LookupType(t Type) (TypeInfo, bool) {
	info, ok := typeIndex[t]
	return info, ok
}

// DecodePayload decodes the payload strictly into the struct of its type. The
// error is an *Error with code invalid and the path of the field.
func DecodePayload(t Type, raw []byte) (Payload, error) { return decodePayload(t, raw, DecodeStrict) }

// ReadPayload is DecodePayload for an event of the log, which a newer choir may
// have written: it passes over fields that the struct of the type does not have.
// The type must be known; who reads whole logs skips the others.
func ReadPayload(t Type, raw []byte) (Payload, error) { return decodePayload(t, raw, DecodeDurable) }

func decodePayload(t Type, raw []byte, decode func([]byte, any) error) (Payload, error) {
	info, ok := LookupType(t)
	if !ok {
		return nil, Invalid("type", "%q is not an event type", t)
	}
	p := info.New()
	if err := decode(raw, p); err != nil {
		return nil, Under("payload", err)
	}
	return p, nil
}
