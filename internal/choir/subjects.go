package choir

import "strings"

// Subject declares one kind of bus subject and which roles may publish and subscribe to
// it. All permissions of the bus come from this table: the bus makes credentials from it,
// and docs/CONTRACTS.md is generated from it.
//
// Pattern has placeholders: <uid> and <cid> are the user and the computer of the
// connection, <role> and <connection> its own role and token, <run> and <class> any one
// token, <type> an event type, which is two tokens. <verb> is a verb that the role may
// use, see Verbs.
type Subject struct {
	Pattern   string
	Publish   []Role
	Subscribe []Role
	Doc       string
}

var subjects = []Subject{
	{"user.<uid>.<cid>.<type>", control, watchers, "Committed events without a run, whatever their source."},
	{"agent.<uid>.<cid>.<run>.<type>", control, watchers, "Committed events with a run, whatever their source."},
	{"live.<uid>.<cid>.<role>.<run>", workers, person, "Streaming text, never in a stream. Each role publishes under its own name."},
	{"draft.<uid>.<cid>", control, []Role{RoleDesktop}, "A draft of an app was changed: `app`, `subject` and `revision`, which is 0 once it is gone. Never in a stream; the text is read over HTTP."},
	{"cmd.<uid>.<cid>.<verb>.<role>.<connection>", callers, control, "Request and reply. The last two parts carry the caller: a connection can publish only under its own."},
	{"agent.<uid>.<cid>.<run>.task.dispatched", control, associate, "Of the committed events with a run, those that the Associate works by: its tasks,"},
	{"agent.<uid>.<cid>.<run>.task.cancel_requested", control, associate, "which of them it is to end,"},
	{"agent.<uid>.<cid>.<run>.command.end_requested", control, associate, "which of their commands it is to end,"},
	{"agent.<uid>.<cid>.<run>.task.returned", control, associate, "which have been answered,"},
	{"agent.<uid>.<cid>.<run>.run.paused", control, associate, "which runs are paused,"},
	{"agent.<uid>.<cid>.<run>.run.resumed", control, associate, "and which go on. It hears no other event."},
	{"job.<class>", control, []Role{RolePool}, "Work for the agent pool."},
}

// taskFeed are the types of the events that the Associate receives.
var taskFeed = []Type{TypeTaskDispatched, TypeTaskCancelRequested, TypeCommandEndRequested, TypeTaskReturned, TypeRunPaused, TypeRunResumed}

// TaskFeed returns the types of the events that the Associate receives. Each has an entry of
// its own in Subjects.
func TaskFeed() []Type { return append([]Type(nil), taskFeed...) }

// InTaskFeed reports whether the Associate receives events of a type.
func InTaskFeed(t Type) bool {
	for _, of := range taskFeed {
		if t == of {
			return true
		}
	}
	return false
}

var watchers = []Role{RoleShell, RoleDesktop, RoleCLI, RoleDirector}

// Subjects returns every kind of subject, in the order of docs/CONTRACTS.md.
func Subjects() []Subject { return append([]Subject(nil), subjects...) }

// Caller is a connection to the bus: its role, and the user and computer that it is bound
// to. The connection of RoleControl serves all computers: its empty User and Computer
// match any.
type Caller struct {
	Role           Role
	User, Computer ID
	Connection     string // random token, one to a connection
}

// Publishes returns the subjects this connection may publish to, with wildcards and
// without inboxes. It is empty for a role that must be bound and lacks its user or
// computer.
func (c Caller) Publishes() []string {
	return c.expand(func(s Subject) (list []Role, own bool) { return s.Publish, true })
}

// Subscribes returns the subjects this connection may subscribe to, with wildcards and
// without its inbox. It is empty for a role that must be bound and lacks its user or
// computer.
func (c Caller) Subscribes() []string {
	return c.expand(func(s Subject) (list []Role, own bool) {
		// In what workers publish, <role> is the publisher: others hear them all.
		return s.Subscribe, hasRole(s.Publish, RoleControl)
	})
}

func (c Caller) expand(side func(Subject) (list []Role, own bool)) []string {
	bound := c.Role != RoleControl
	if bound && (!c.User.Valid() || !c.Computer.Valid()) {
		return nil
	}
	var out []string
	for _, s := range subjects {
		list, own := side(s)
		if !hasRole(list, c.Role) {
			continue
		}
		role, connection := "*", "*"
		if bound && own {
			role, connection = string(c.Role), c.Connection
		}
		subject := strings.NewReplacer("<uid>", orAny(c.User), "<cid>", orAny(c.Computer), "<role>", role,
			"<connection>", connection, "<run>", "*", "<class>", "*", "<type>", ">").Replace(s.Pattern)
		out = append(out, c.expandVerb(subject, bound)...)
	}
	return out
}

func (c Caller) expandVerb(subject string, bound bool) []string {
	if !strings.Contains(subject, "<verb>") || !bound {
		return []string{strings.Replace(subject, "<verb>", "*", 1)}
	}
	var out []string
	for _, v := range verbs {
		if v.MayAsk(c.Role) {
			out = append(out, strings.Replace(subject, "<verb>", string(v.Verb), 1))
		}
	}
	return out
}

func orAny(id ID) string {
	if id == "" {
		return "*"
	}
	return string(id)
}

func hasRole(list []Role, role Role) bool {
	for _, r := range list {
		if r == role {
			return true
		}
	}
	return false
}
