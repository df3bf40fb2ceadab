package choir

import "encoding/json"

// Limits on one event, in bytes. Content above InlineLimit goes to the blob
// store and the event carries its digest.
const (
	InlineLimit   = 64 << 10
	MaxEventBytes = 256 << 10
)

// Event is one fact in a computer's log. It is never changed and never deleted.
//
// Hash is the SHA-256 over the canonical JSON (RFC 8785) of all other fields;
// PrevHash is the hash of the event before it, 64 zeros for the first.
type Event struct {
	Seq      uint64          `json:"seq" choir:"range=1..9007199254740991" doc:"Place in the computer's log, from 1, without gaps."`
	ID       ID              `json:"id" choir:"id7" doc:"UUIDv7; the idempotency key of the append."`
	Time     Time            `json:"time" doc:"When the log accepted it."`
	Computer ID              `json:"computer" choir:"id" doc:"Whose log; an imported event keeps its own."`
	User     ID              `json:"user" choir:"id" doc:"The owner."`
	Source   Source          `json:"source" choir:"enum=user|desktop|director|associate|agent|system" doc:"Where it comes from: stamped from the role of the connection, never claimed."`
	Type     Type            `json:"type" choir:"len=3..64" doc:"What happened."`
	Run      ID              `json:"run,omitempty" choir:"id7" doc:"The run it belongs to."`
	Task     ID              `json:"task,omitempty" choir:"id7" doc:"The task it belongs to."`
	Cause    ID              `json:"cause,omitempty" choir:"id7" doc:"The event that caused it."`
	Payload  json.RawMessage `json:"payload" doc:"The body, of the struct of its type; at most 64 KiB."`
	Blob     Digest          `json:"blob,omitempty" choir:"digest" doc:"Content that is too large for the payload."`
	PrevHash Digest          `json:"prev_hash" choir:"digest" doc:"Hash of the event before; 64 zeros for the first."`
	Hash     Digest          `json:"hash" choir:"digest" doc:"SHA-256 over the canonical JSON (RFC 8785) of all other fields."`
}

// ZeroHash is the PrevHash of the first event of a log.
const ZeroHash Digest = "0000000000000000000000000000000000000000000000000000000000000000"

// Draft is an event before the log has accepted it: what a client asks to
// append. Source, seq, time and chain are stamped by the store. ID is the
// idempotency key: the same draft of the same source once more appends nothing and
// gets the first receipt; another with the same id is code conflict.
type Draft struct {
	ID      ID              `json:"id" choir:"id7" doc:"UUIDv7; the idempotency key of the append."`
	Type    Type            `json:"type" choir:"len=3..64" doc:"What happened."`
	Run     ID              `json:"run,omitempty" choir:"id7" doc:"The run it belongs to."`
	Task    ID              `json:"task,omitempty" choir:"id7" doc:"The task it belongs to."`
	Cause   ID              `json:"cause,omitempty" choir:"id7" doc:"The event that caused it."`
	Payload json.RawMessage `json:"payload" doc:"The body, of the struct of its type; at most 64 KiB."`
	Blob    Digest          `json:"blob,omitempty" choir:"digest" doc:"Content that is too large for the payload."`
}

// Check returns an error if the type is malformed or the payload is not a JSON object.
// DecodeStrict calls it.
func (d *Draft) Check() error { return checkBody(d.Type, d.Payload) }

// Check returns an error if the type is malformed or the payload is not a JSON object.
// DecodeStrict calls it.
func (e *Event) Check() error { return checkBody(e.Type, e.Payload) }

func checkBody(t Type, payload []byte) error {
	if !t.wellFormed() {
		return RefuseField("type", ReasonEventTypeForm, TextOf("given", clip(string(t))))
	}
	if len(payload) == 0 || payload[0] != '{' {
		return RefuseField("payload", ReasonFieldNoObject)
	}
	return nil
}

// Receipt acknowledges one durable event.
type Receipt struct {
	Seq       uint64 `json:"seq" doc:"Place in the computer's log, from 1, without gaps."`
	ID        ID     `json:"id" doc:"UUIDv7; the idempotency key of the append."`
	Hash      Digest `json:"hash" doc:"SHA-256 over the canonical JSON (RFC 8785) of all other fields."`
	Duplicate bool   `json:"duplicate,omitempty" doc:"The id was appended before; this is the first receipt."`
}

// Source says who an event comes from. It follows from the role of the
// connection that appended it and cannot be claimed.
type Source string

// The sources.
const (
	SourceUser      Source = "user"
	SourceDesktop   Source = "desktop"
	SourceDirector  Source = "director"
	SourceAssociate Source = "associate"
	SourceAgent     Source = "agent"
	SourceSystem    Source = "system"
)

func (s Source) valid() bool {
	switch s {
	case SourceUser, SourceDesktop, SourceDirector, SourceAssociate, SourceAgent, SourceSystem:
		return true
	}
	return false
}

// Role decides the rights of a connection to the computer.
type Role string

// The roles.
const (
	RoleShell     Role = "shell"
	RoleDesktop   Role = "desktop"
	RoleCLI       Role = "cli"
	RoleDirector  Role = "director"
	RoleAssociate Role = "associate"
	RolePool      Role = "pool"
	RoleControl   Role = "control"
)

// Roles lists every role, in the order of CONTRACTS.md.
func Roles() []Role {
	return []Role{RoleShell, RoleDesktop, RoleCLI, RoleDirector, RoleAssociate, RolePool, RoleControl}
}

// Source returns the source that the store stamps on events appended by this role; empty
// for an unknown role.
func (r Role) Source() Source {
	switch r {
	case RoleShell, RoleCLI:
		return SourceUser
	case RoleDesktop:
		return SourceDesktop
	case RoleDirector:
		return SourceDirector
	case RoleAssociate:
		return SourceAssociate
	case RolePool:
		return SourceAgent
	case RoleControl:
		return SourceSystem
	}
	return ""
}

// NewDraft returns a draft of the payload's event type with the payload as canonical
// JSON. The id is the idempotency key of the append.
func NewDraft(id ID, payload Payload) (Draft, error) {
	raw, err := Canonical(payload)
	if err != nil {
		return Draft{}, err
	}
	return Draft{ID: id, Type: payload.EventType(), Payload: raw}, nil
}

// ForRun returns a copy of the draft with its run and task set; an empty task means none.
func (d Draft) ForRun(run ID, task ID) Draft {
	d.Run, d.Task = run, task
	return d
}

// CausedBy returns a copy of the draft that names the event that caused it.
func (d Draft) CausedBy(cause ID) Draft {
	d.Cause = cause
	return d
}
