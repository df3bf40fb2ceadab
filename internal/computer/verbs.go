package computer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"choiros/internal/blob"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Handle answers one verb of a connection on the bus. The caller's role follows
// from its credentials; which role may use which verb was checked by the bus.
func (c *Computer) Handle(ctx context.Context, who choir.Caller, verb choir.Verb, body []byte) (any, error) {
	began := time.Now()
	body, err := c.request(ctx, body)
	var reply any
	if err == nil {
		reply, err = c.answer(ctx, who, verb, body)
	}
	if errors.Is(err, eventstore.ErrNotReplicated) && choir.CodeOf(err) == choir.CodeUnavailable {
		// A role asks again, under the same ids, until the cluster is back.
		err = choir.Wrap("computer.verb", choir.CodeBusy, err, "%s", verb)
	}
	if p := choir.ProblemOf(err); p != nil && p.Code == choir.CodeInternal {
		// The caller is not told what lies behind it.
		c.cfg.Log.Error("a command failed", "computer", c.cfg.ID, "verb", verb, "role", who.Role, "error", err)
	}
	c.cfg.Observer.Answered(verb, time.Since(began), err)
	return reply, err
}

func (c *Computer) answer(ctx context.Context, who choir.Caller, verb choir.Verb, body []byte) (any, error) {
	switch verb {
	case choir.VerbAppend:
		return handle(body, func(r choir.AppendRequest) (choir.AppendReply, error) {
			receipts, err := c.appendFrom(ctx, who.Role, r.Drafts)
			return choir.AppendReply{Receipts: receipts}, err
		})
	case choir.VerbEventsAfter:
		return handle(body, func(r choir.EventsAfterRequest) (choir.EventsAfterReply, error) { return c.eventsAfter(ctx, r) })
	case choir.VerbRunRead:
		return handle(body, func(r choir.RunReadRequest) (choir.RunReadReply, error) { return c.runs.Read(ctx, r.Run) })
	case choir.VerbBlobPut:
		return handle(body, func(r choir.BlobPutRequest) (choir.BlobPutReply, error) { return c.blobPut(ctx, who, r) })
	case choir.VerbBlobGet:
		return handle(body, func(r choir.BlobGetRequest) (choir.BlobGetReply, error) { return c.blobGet(ctx, r) })
	case choir.VerbHello:
		return handle(body, func(r choir.HelloRequest) (choir.Done, error) { return choir.Done{}, c.roles.Hello(ctx, r.PublicKey) })
	case choir.VerbTaskBegin:
		return handle(body, func(r choir.TaskBeginRequest) (choir.TaskBeginReply, error) {
			return c.taskChanges.Start(ctx, r.Task, r.Since)
		})
	case choir.VerbTaskTree:
		reply, err := handle(body, func(r choir.TaskTreeRequest) (choir.TaskTreeReply, error) { return c.taskChanges.Compare(ctx, r.Task) })
		return c.orLarge(ctx, reply, err)
	case choir.VerbTaskRollback:
		reply, err := handle(body, func(r choir.TaskRollbackRequest) (choir.TaskRollbackReply, error) {
			return c.taskChanges.Rollback(ctx, r.Task, r.Keep)
		})
		return c.orLarge(ctx, reply, err)
	case choir.VerbTaskCommit:
		return handle(body, func(r choir.TaskCommitRequest) (choir.TaskCommitReply, error) {
			if r.Reason == "tool_returned" {
				return c.taskChanges.CommitCommand(ctx, r.Task)
			}
			return c.taskChanges.Commit(ctx, r.Task, r.Reason, r.Only)
		})
	}
	return nil, choir.E("computer.verb", choir.CodeNotFound, "there is no verb %q", verb)
}

// appendFrom appends what a sandbox's role asks for, after what changed in the workspace
// around an Associate's tool call.
func (c *Computer) appendFrom(ctx context.Context, role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
	if role == choir.RoleAssociate {
		if err := c.taskChanges.RecordAround(ctx, drafts); err != nil {
			return nil, err
		}
	}
	return c.desk.Append(ctx, role, drafts...)
}

// request is the body that was sent, or that the blob store has.
func (c *Computer) request(ctx context.Context, body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte(`{"large":`)) {
		return body, nil
	}
	var at choir.LargeRequest
	if err := choir.DecodeStrict(body, &at); err != nil {
		return nil, err
	}
	return blob.ReadAll(ctx, c.blobs, at.Large, choir.MaxLargeBody)
}

// orLarge puts a reply that does not fit into a message into the blob store: a
// task may change as many files as it likes.
func (c *Computer) orLarge(ctx context.Context, reply any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(reply)
	if err != nil || len(raw) <= choir.LargeBody {
		return json.RawMessage(raw), err
	}
	d, _, err := c.blobs.Put(ctx, bytes.NewReader(raw))
	return hub.Large(d), err
}

// handle decodes strictly and answers.
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

func (c *Computer) eventsAfter(ctx context.Context, r choir.EventsAfterRequest) (choir.EventsAfterReply, error) {
	if r.Limit == 0 {
		r.Limit = choir.MaxEventsAfter
	}
	head, _ := c.store.Head()
	events, err := c.store.EventsAfter(ctx, r.Seq, r.Limit)
	return choir.EventsAfterReply{Events: hub.Fit(events), Head: head}, err
}
