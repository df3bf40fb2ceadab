// Package verbs answers what the roles of one computer ask for over the bus: it decodes a
// verb's body strictly, has the part of the computer that the verb is about answer it, and
// hides the causes of internal errors. docs/CONTRACTS.md lists the verbs.
//
// It knows the parts as interfaces, so it is tested without them.
package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"choiros/internal/blob"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Log is the computer's log, to be read in pages; eventstore.Store is one.
type Log interface {
	Head() (uint64, choir.Digest)
	EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error)
}

// Content is content that comes and goes in chunks.
type Content interface {
	Put(ctx context.Context, who choir.Caller, r choir.BlobPutRequest) (choir.BlobPutReply, error)
	Get(ctx context.Context, r choir.BlobGetRequest) (choir.BlobGetReply, error)
}

// Desk appends a role's drafts; desk.Desk is one.
type Desk interface {
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Runs reads both ends of a run; runs.Runs is one.
type Runs interface {
	Read(ctx context.Context, run choir.ID) (choir.RunReadReply, error)
}

// Facts reads the workspace for the Director; facts.Facts is one.
type Facts interface {
	Read(ctx context.Context, run choir.ID) (choir.FactsReadReply, error)
	LookAtWorkspace(ctx context.Context, r choir.LookRequest) (choir.LookReply, error)
}

// Roles takes note of the key of a Director that has started, and shows people the running
// commands of tasks; rolehost.Host is one.
type Roles interface {
	Hello(ctx context.Context, publicKey string) error
	ShowCommand(ctx context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error)
}

// Tasks tracks the changes of tasks in the workspace; tasks.Changes is one.
type Tasks interface {
	Start(ctx context.Context, task choir.ID, since choir.Digest) (choir.TaskBeginReply, error)
	StartCopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error)
	StartUncopied(ctx context.Context, task choir.ID) (choir.TaskBeginReply, error)
	RecordAround(ctx context.Context, drafts []choir.Draft) error
	Compare(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error)
	Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error)
	CommitCommand(ctx context.Context, task choir.ID) (choir.TaskCommitReply, error)
	Rollback(ctx context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error)
	RestoreAttempt(ctx context.Context, task choir.ID) (choir.TaskAttemptReply, error)
	Land(ctx context.Context, task choir.ID, leave []string) (choir.TaskLandReply, error)
	LandCommitted(ctx context.Context, task choir.ID) (choir.TaskLandReply, error)
}

// Effects holds the results of tasks that the owner must approve; effects.Effects is one.
type Effects interface {
	// Hold returns code conflict for drafts with a result that is held, which must not be appended.
	Hold(ctx context.Context, drafts []choir.Draft) error
}

// Steering tells tasks what people added to their runs; dispatch.Tasks is one.
type Steering interface {
	RecordSteering(ctx context.Context, task choir.ID, call int) (choir.TaskSteeringReply, error)
}

// Parts answer the verbs. All are needed.
type Parts struct {
	Log     Log
	Blobs   blob.Store // has the bodies that do not fit into a message
	Content Content    // of Blobs
	Desk    Desk
	Runs    Runs
	Facts   Facts
	Roles   Roles
	Tasks   Tasks
	// Steering and Effects are of the same computer's tasks.
	Steering Steering
	Effects  Effects
}

// Observer receives figures. Its methods are called by many goroutines at once, and
// return at once.
type Observer interface {
	// Answered receives how long one command from the bus took, and its error.
	Answered(verb choir.Verb, took time.Duration, err error)
}

// Verbs answers the verbs of one computer. Its methods may be called at once.
type Verbs struct {
	computer choir.ID
	parts    Parts
	observer Observer
	logger   *slog.Logger
}

// New makes the handler of a computer's verbs. The logger gets the causes of internal
// errors, under the computer's name.
func New(computer choir.ID, parts Parts, observer Observer, logger *slog.Logger) *Verbs {
	return &Verbs{computer: computer, parts: parts, observer: observer, logger: logger}
}

// Handle answers one verb of a connection on the bus. The caller's role follows
// from its credentials; which role may use which verb was checked by the bus.
func (v *Verbs) Handle(ctx context.Context, who choir.Caller, verb choir.Verb, body []byte) (any, error) {
	began := time.Now()
	body, err := v.request(ctx, body)
	var reply any
	if err == nil {
		reply, err = v.answer(ctx, who, verb, body)
	}
	if errors.Is(err, eventstore.ErrNotReplicated) && choir.CodeOf(err) == choir.CodeUnavailable {
		// A role asks again, under the same ids, until the cluster is back.
		err = choir.Wrap("computer.verb", choir.CodeBusy, err, "%s", verb)
	}
	if p := choir.ProblemOf(err); p != nil && p.Code == choir.CodeInternal {
		// The caller is not told what lies behind it.
		v.logger.Error("a command failed", "computer", v.computer, "verb", verb, "role", who.Role, "error", err)
	}
	v.observer.Answered(verb, time.Since(began), err)
	return reply, err
}

// answer carries out a verb and returns its reply.
func (v *Verbs) answer(ctx context.Context, who choir.Caller, verb choir.Verb, body []byte) (any, error) {
	switch verb {
	case choir.VerbAppend:
		return handle(body, func(r choir.AppendRequest) (choir.AppendReply, error) {
			receipts, err := v.appendFrom(ctx, who.Role, r.Drafts)
			return choir.AppendReply{Receipts: receipts}, err
		})
	case choir.VerbEventsAfter:
		return handle(body, func(r choir.EventsAfterRequest) (choir.EventsAfterReply, error) { return v.eventsAfter(ctx, r) })
	case choir.VerbTasksAfter:
		return handle(body, func(r choir.TasksAfterRequest) (choir.TasksAfterReply, error) { return v.tasksAfter(ctx, r) })
	case choir.VerbRunRead:
		return handle(body, func(r choir.RunReadRequest) (choir.RunReadReply, error) { return v.parts.Runs.Read(ctx, r.Run) })
	case choir.VerbFactsRead:
		return handle(body, func(r choir.FactsReadRequest) (choir.FactsReadReply, error) { return v.parts.Facts.Read(ctx, r.Run) })
	case choir.VerbLook:
		return handle(body, func(r choir.LookRequest) (choir.LookReply, error) { return v.parts.Facts.LookAtWorkspace(ctx, r) })
	case choir.VerbBlobPut:
		return handle(body, func(r choir.BlobPutRequest) (choir.BlobPutReply, error) { return v.parts.Content.Put(ctx, who, r) })
	case choir.VerbBlobGet:
		return handle(body, func(r choir.BlobGetRequest) (choir.BlobGetReply, error) { return v.parts.Content.Get(ctx, r) })
	case choir.VerbHello:
		return handle(body, func(r choir.HelloRequest) (choir.Done, error) {
			return choir.Done{}, v.parts.Roles.Hello(ctx, r.PublicKey)
		})
	case choir.VerbTaskBegin:
		return handle(body, func(r choir.TaskBeginRequest) (choir.TaskBeginReply, error) {
			switch {
			case r.Copied:
				return v.parts.Tasks.StartCopied(ctx, r.Task)
			case r.Uncopied:
				return v.parts.Tasks.StartUncopied(ctx, r.Task)
			}
			return v.parts.Tasks.Start(ctx, r.Task, r.Since)
		})
	case choir.VerbTaskTree:
		reply, err := handle(body, func(r choir.TaskTreeRequest) (choir.TaskTreeReply, error) { return v.parts.Tasks.Compare(ctx, r.Task) })
		return v.replyOrBlob(ctx, reply, err)
	case choir.VerbTaskRollback:
		reply, err := handle(body, func(r choir.TaskRollbackRequest) (choir.TaskRollbackReply, error) {
			return v.parts.Tasks.Rollback(ctx, r.Task, r.Keep)
		})
		return v.replyOrBlob(ctx, reply, err)
	case choir.VerbTaskCommit:
		return handle(body, func(r choir.TaskCommitRequest) (choir.TaskCommitReply, error) {
			if r.Reason == "tool_returned" {
				return v.parts.Tasks.CommitCommand(ctx, r.Task)
			}
			return v.parts.Tasks.Commit(ctx, r.Task, r.Reason, r.Only)
		})
	case choir.VerbTaskAttempt:
		reply, err := handle(body, func(r choir.TaskAttemptRequest) (choir.TaskAttemptReply, error) {
			return v.parts.Tasks.RestoreAttempt(ctx, r.Task)
		})
		return v.replyOrBlob(ctx, reply, err)
	case choir.VerbTaskLand:
		reply, err := handle(body, func(r choir.TaskLandRequest) (choir.TaskLandReply, error) {
			if r.Committed {
				return v.parts.Tasks.LandCommitted(ctx, r.Task)
			}
			return v.parts.Tasks.Land(ctx, r.Task, r.Leave)
		})
		return v.replyOrBlob(ctx, reply, err)
	case choir.VerbTaskOutput:
		return handle(body, func(r choir.TaskOutputRequest) (choir.TaskOutputReply, error) {
			return v.parts.Roles.ShowCommand(ctx, r)
		})
	case choir.VerbTaskSteering:
		reply, err := handle(body, func(r choir.TaskSteeringRequest) (choir.TaskSteeringReply, error) {
			return v.parts.Steering.RecordSteering(ctx, r.Task, r.Call)
		})
		return v.replyOrBlob(ctx, reply, err)
	}
	return nil, choir.E("computer.verb", choir.CodeNotFound, "there is no verb %q", verb)
}

// appendFrom appends the drafts of a role in a sandbox. Around an Associate's tool call
// it first records the changes in the workspace; a result may be held in place of it.
func (v *Verbs) appendFrom(ctx context.Context, role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
	if role == choir.RoleAssociate {
		if err := v.parts.Tasks.RecordAround(ctx, drafts); err != nil {
			return nil, err
		}
		if err := v.parts.Effects.Hold(ctx, drafts); err != nil {
			return nil, err
		}
	}
	return v.parts.Desk.Append(ctx, role, drafts...)
}

// request returns the body of a request, from the message or from the blob it refers
// to.
func (v *Verbs) request(ctx context.Context, body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte(`{"large":`)) {
		return body, nil
	}
	var at choir.LargeRequest
	if err := choir.DecodeStrict(body, &at); err != nil {
		return nil, err
	}
	return blob.ReadAll(ctx, v.parts.Blobs, at.Large, choir.MaxLargeBody)
}

// replyOrBlob returns a reply, or a reference to it in the blob store if it is too
// large for a message.
func (v *Verbs) replyOrBlob(ctx context.Context, reply any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(reply)
	if err != nil || len(raw) <= choir.LargeBody {
		return json.RawMessage(raw), err
	}
	d, _, err := v.parts.Blobs.Put(ctx, bytes.NewReader(raw))
	return bus.Large(d), err
}

// handle decodes a request strictly, calls answer and returns its reply.
func handle[Req, Rep any](body []byte, answer func(Req) (Rep, error)) (any, error) {
	var req Req
	if err := choir.DecodeStrict(body, &req); err != nil {
		return nil, err
	}
	rep, err := answer(req)
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// maxLookedAt is the largest number of events of the log that one tasks-after reply
// looks at.
const maxLookedAt = 4 * choir.MaxEventsAfter

// tasksAfter returns the events after a number that the Associate needs, as many as fit
// into a message. It looks at a bounded number of events; Next in the reply is the
// number to continue after.
func (v *Verbs) tasksAfter(ctx context.Context, r choir.TasksAfterRequest) (choir.TasksAfterReply, error) {
	head, _ := v.parts.Log.Head()
	reply := choir.TasksAfterReply{Events: []choir.Event{}, Next: r.Seq, Head: head}
	for looked := 0; looked < maxLookedAt && reply.Next < head; {
		page, err := v.parts.Log.EventsAfter(ctx, reply.Next, choir.MaxEventsAfter)
		if err != nil || len(page) == 0 {
			return reply, err
		}
		looked += len(page)
		reply.Next = page[len(page)-1].Seq
		found := append(reply.Events, slices.DeleteFunc(page, func(e choir.Event) bool { return !choir.InTaskFeed(e.Type) })...)
		if reply.Events = bus.Fit(found); len(reply.Events) < len(found) {
			reply.Next = reply.Events[len(reply.Events)-1].Seq
			return reply, nil
		}
	}
	return reply, nil
}

// eventsAfter returns a page of events that fits into a message.
func (v *Verbs) eventsAfter(ctx context.Context, r choir.EventsAfterRequest) (choir.EventsAfterReply, error) {
	if r.Limit == 0 {
		r.Limit = choir.MaxEventsAfter
	}
	head, _ := v.parts.Log.Head()
	events, err := v.parts.Log.EventsAfter(ctx, r.Seq, r.Limit)
	return choir.EventsAfterReply{Events: bus.Fit(events), Head: head}, err
}
