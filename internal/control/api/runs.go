package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/control/auth"
	"choiros/internal/eventstore"
)

// PromptRequest is the request to start a run.
type PromptRequest struct {
	Text     string                `json:"text" minLength:"1" doc:"What you want, at most 20,000 characters."`
	Repo     string                `json:"repo,omitempty" doc:"Project under workspace/ it is about."`
	Proposal *choir.ProposalTarget `json:"proposal,omitempty" doc:"Document over which the answer is to lie as a proposal."`
	After    choir.ID              `json:"after,omitempty" doc:"Run that has ended and that this one follows up."`
}

// Accepted is the run that a prompt started.
type Accepted struct {
	Run choir.ID `json:"run"`
	Seq uint64   `json:"seq"`
}

// RunView is a run with its tasks.
type RunView struct {
	eventstore.Run
	Tasks []eventstore.Task `json:"tasks"`
	Waits string            `json:"waits,omitempty" doc:"Why its model call waits now, such as for a service that is overloaded."`
}

// Words is a person's text to a run: steering, or the answer to a question.
type Words struct {
	Text     string `json:"text" minLength:"1" maxLength:"20000"`
	Question string `json:"question,omitempty" doc:"Id of the question that is answered."`
}

// InRun has the path parameters of operations on a run.
type InRun struct {
	In
	Run choir.ID `path:"run" doc:"The run."`
}

type paged struct {
	In
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"50"`
	Before uint64 `query:"before" doc:"Only what came before this sequence number; 0 for the newest."`
}

type eventsIn struct {
	In
	After uint64   `query:"after" doc:"Only events after this sequence number."`
	Limit int      `query:"limit" minimum:"1" maximum:"1000" default:"200"`
	Run   choir.ID `query:"run" doc:"Only events of this run."`
	Wait  int      `query:"wait" minimum:"0" maximum:"60" doc:"Seconds to wait for the first event when there is none."`
}

// EventPage is a range of the log's events, with the number of the newest.
type EventPage struct {
	Events []choir.Event `json:"events"`
	Head   uint64        `json:"head"`
}

func (a *API) runs(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("submitPrompt", http.MethodPost, base+"/prompts", "Begin a run", 202), a.submitPrompt)
	huma.Register(h, op("listRuns", http.MethodGet, base+"/runs", "List runs, newest first", 200),
		func(ctx context.Context, r *paged) (*body[[]eventstore.Run], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Log.Runs(ctx, r.Limit, r.Before))
		})
	huma.Register(h, op("getRun", http.MethodGet, base+"/runs/{run}", "Show a run and its tasks", 200), a.getRun)
	huma.Register(h, op("cancelRun", http.MethodPost, base+"/runs/{run}/cancel", "Stop a run", 202),
		a.onRun(func(ctx context.Context, c Computer, p auth.Principal, run choir.ID) error {
			return c.Runs.Cancel(ctx, p.Role, run, "")
		}))
	huma.Register(h, op("pauseRun", http.MethodPost, base+"/runs/{run}/pause", "Pause a run: nothing more begins in it", 202),
		a.onRun(func(ctx context.Context, c Computer, p auth.Principal, run choir.ID) error {
			return c.Runs.Pause(ctx, p.Role, run)
		}))
	huma.Register(h, op("resumeRun", http.MethodPost, base+"/runs/{run}/resume", "Let a paused run go on where it was", 202),
		a.onRun(func(ctx context.Context, c Computer, p auth.Principal, run choir.ID) error {
			return c.Runs.Resume(ctx, p.Role, run)
		}))
	huma.Register(h, op("hurryRun", http.MethodPost, base+"/runs/{run}/faster", "Play the rest of a paced demo at full speed", 202),
		a.onRun(func(ctx context.Context, c Computer, _ auth.Principal, run choir.ID) error {
			return a.sys.HurryRun(ctx, c.ID, run)
		}))
	huma.Register(h, op("dismissRun", http.MethodPost, base+"/runs/{run}/dismiss", "Put away the card of a run that has ended", 202),
		a.onRun(func(ctx context.Context, c Computer, p auth.Principal, run choir.ID) error {
			if err := c.Runs.Dismiss(ctx, p.Role, run); err != nil {
				return err
			}
			return c.Desk.DropCardDrafts(ctx, run, desk.ReplyDraft, desk.AnswerDraft)
		}))
	huma.Register(h, op("steerRun", http.MethodPost, base+"/runs/{run}/steer", "Add to a run while it works", 202),
		func(ctx context.Context, r *struct {
			InRun
			Body Words
		}) (*struct{}, error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return nil, problem(c.Runs.Steer(ctx, p.Role, r.Run, r.Body.Text))
		})
	huma.Register(h, op("answerRun", http.MethodPost, base+"/runs/{run}/answers", "Answer the question a run waits for", 202),
		func(ctx context.Context, r *struct {
			InRun
			Body Words
		}) (*struct{}, error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			if err := c.Runs.Answer(ctx, p.Role, r.Run, r.Body.Question, r.Body.Text); err != nil {
				return nil, problem(err)
			}
			// The answer is in the log: nobody may be told to give it again because of a draft.
			_ = c.Desk.DropCardDrafts(ctx, r.Run, desk.AnswerDraft)
			return nil, nil
		})
	huma.Register(h, op("listEvents", http.MethodGet, base+"/events", "Read the log in order", 200), a.listEvents)
	submit := op("submitTask", http.MethodPost, base+"/tasks", "Dispatch a DirectorTask", 202)
	// The contract's own strict decoder reads the body.
	submit.SkipValidateBody = true
	huma.Register(h, submit, a.submitTask)
	huma.Register(h, op("getTask", http.MethodGet, base+"/tasks/{task}", "Show a task, and its result once there is one", 200),
		func(ctx context.Context, r *struct {
			In
			Task choir.ID `path:"task"`
		}) (*body[eventstore.Task], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Log.Task(ctx, r.Task))
		})
}

// onRun returns the operation that does something to a run and has no answer.
func (a *API) onRun(do func(context.Context, Computer, auth.Principal, choir.ID) error) func(context.Context, *InRun) (*struct{}, error) {
	return func(ctx context.Context, r *InRun) (*struct{}, error) {
		c, p, err := a.findComputer(ctx, r.Computer)
		if err != nil {
			return nil, err
		}
		return nil, problem(do(ctx, c, p, r.Run))
	}
}

// problem returns the problem of an error; nil for nil.
func problem(err error) error {
	if err == nil {
		return nil
	}
	return ProblemOf(err)
}

func (a *API) submitPrompt(ctx context.Context, r *struct {
	In
	Key  string `header:"Idempotency-Key" doc:"The same key begins one run."`
	Body PromptRequest
}) (*body[Accepted], error) {
	c, p, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	// What is refused anyway does not count.
	if n := utf8.RuneCountInString(r.Body.Text); n > choir.MaxInstruction {
		e := choir.Refuse("api.prompt", choir.ReasonPromptLength, choir.CountOf("most", choir.MaxInstruction), choir.CountOf("n", n)).At("text")
		e.Code = choir.CodeTooLarge
		return nil, ProblemOf(e)
	}
	if wait := a.prompts.allow(c.ID); wait > 0 {
		return nil, a.tooManyPrompts(wait)
	}
	run, receipt, err := c.Runs.Prompt(ctx, p.Role, choir.PromptSubmitted{Text: r.Body.Text, Repo: r.Body.Repo, Proposal: r.Body.Proposal, After: r.Body.After}, keyID(p, c.ID, "prompt", r.Key))
	return answer(Accepted{run, receipt.Seq}, err)
}

// tooManyPrompts returns the problem for a prompt or a demo over the rate limit. A demo
// counts as a prompt.
func (a *API) tooManyPrompts(wait time.Duration) error {
	return tooOften(wait, "api.prompt", choir.ReasonTooManyPrompts, a.cfg.PromptBurst, a.cfg.PromptWindow)
}

// keyID derives an id from an Idempotency-Key, the caller's role and the kind of
// request; "" for no key. The id has the computer's timestamp, so it sorts as the
// computer's id does.
func keyID(p auth.Principal, computer choir.ID, what, key string) choir.ID {
	if key == "" {
		return ""
	}
	return choir.DeriveID(computer, what, string(p.Role), key)
}

// getRun answers with a run and its tasks, now or as of an event.
func (a *API) getRun(ctx context.Context, r *struct {
	InRun
	AsOf uint64 `query:"as_of" doc:"Event; 0 for now."`
}) (*body[RunView], error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	if r.AsOf > 0 {
		run, tasks, err := c.Log.RunAsOf(ctx, r.Run, r.AsOf)
		return answer(RunView{Run: run, Tasks: tasks}, err)
	}
	run, err := c.Log.Run(ctx, r.Run)
	if err != nil {
		return nil, ProblemOf(err)
	}
	tasks, err := c.Log.Tasks(ctx, r.Run)
	return answer(RunView{Run: run, Tasks: tasks, Waits: a.sys.Waits(c.ID, r.Run)}, err)
}

// listEvents answers with events after a number. If there are none it waits for the
// first, up to the requested seconds.
func (a *API) listEvents(ctx context.Context, r *eventsIn) (*body[EventPage], error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	waiting, stop := context.WithTimeout(ctx, time.Duration(r.Wait)*time.Second)
	defer stop()
	for {
		head, _ := c.Log.Head()
		page := EventPage{Events: []choir.Event{}, Head: head}
		var events []choir.Event
		if r.Run != "" {
			events, err = choir.Collect(c.Log.EventsOfRun(ctx, r.Run, r.After), r.Limit)
		} else {
			events, err = c.Log.EventsAfter(ctx, r.After, r.Limit)
		}
		page.Events = append(page.Events, events...)
		if err != nil || len(events) > 0 || r.Wait == 0 {
			return answer(page, err)
		}
		if c.Log.WaitPast(waiting, head) != nil {
			// Nothing came in time: an empty page is the answer.
			return answer(page, ctx.Err())
		}
	}
}

// TaskAccepted is a dispatched task.
type TaskAccepted struct {
	Task choir.ID `json:"task"`
	Run  choir.ID `json:"run"`
	Seq  uint64   `json:"seq"`
}

// submitTask dispatches a task given as raw JSON. The task contract's own strict decoder
// reads it, after ids that a person may omit are filled in.
func (a *API) submitTask(ctx context.Context, r *struct {
	In
	RawBody []byte `contentType:"application/json"`
}) (*body[TaskAccepted], error) {
	c, p, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	task, err := c.Tasks.ReadTask(json.RawMessage(r.RawBody))
	if err != nil {
		return nil, ProblemOf(err)
	}
	receipt, err := c.Tasks.Submit(ctx, p.Role, task)
	return answer(TaskAccepted{task.TaskID, task.RunID, receipt.Seq}, err)
}

// onlyCLI returns nil for a caller of the CLI, and code forbidden for any other.
func onlyCLI(ctx context.Context) error {
	if p, ok := auth.Of(ctx); !ok || p.Role != choir.RoleCLI {
		return ProblemOf(choir.Refuse("api", choir.ReasonOnlyOnHost))
	}
	return nil
}
