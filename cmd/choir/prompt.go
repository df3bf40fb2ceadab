package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func newPromptCommand(a *app) *cobra.Command {
	var repo, after string
	c := &cobra.Command{
		Use:     "prompt TEXT...",
		Example: "  choir prompt \"{ask}\"\n  choir prompt --repo hello \"{mend}\"\n  choir prompt --after RUN \"{more}\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				return runPrompt(ctx, a, cl, api.PromptRequest{Text: strings.Join(args, " "), Repo: repo, After: choir.ID(after)})
			})
		},
	}
	c.Flags().StringVar(&repo, "repo", "", "")
	c.Flags().StringVar(&after, "after", "", "")
	return c
}

func runPrompt(ctx context.Context, a *app, c *client, req api.PromptRequest) error {
	var accepted api.Accepted
	if err := c.post(ctx, c.path("/prompts"), req, &accepted); err != nil {
		return err
	}
	return a.followRun(ctx, c, accepted.Run)
}

// followRun prints the events of a run until it ends or waits for the user, and its outcome. It
// returns the exit code as an exitError.
func (a *app) followRun(ctx context.Context, c *client, run choir.ID) error {
	if !a.json {
		a.say("prompt.run", "run", run)
	}
	return a.followFrom(ctx, c, run, 0)
}

// followFrom does the same as followRun for the events after number after.
func (a *app) followFrom(ctx context.Context, c *client, run choir.ID, after uint64) error {
	v, err := a.untilItEnds(ctx, c, run, after)
	if err != nil {
		return err
	}
	return a.showOutcome(v)
}

// untilItEnds prints the events of a run after number after until the run ends or waits for the user,
// and returns its state then.
func (a *app) untilItEnds(ctx context.Context, c *client, run choir.ID, after uint64) (v api.RunView, err error) {
	base := c.path("/runs/" + string(run))
	waits := ""
	idle := func() error {
		if err := c.get(ctx, base, &v); err != nil || a.json {
			return err
		}
		if w := v.Waits; w != "" && w != waits {
			a.printf("     ...  %s\n", a.sentence("prompt.waits", "why", w))
		}
		waits = v.Waits
		return nil
	}
	err = c.watch(ctx, run, after, idle, func(e choir.Event) (bool, error) {
		if line := timeline.SayIn(a.spoken(), &e); line != "" && !a.json {
			a.printf("  %6d  %s\n", e.Seq, line)
		}
		return e.Type == choir.TypeRunFinished || e.Type == choir.TypeQuestionAsked, nil
	})
	if err == nil {
		err = c.get(ctx, base, &v)
	}
	var gone *lostError
	if errors.As(err, &gone) {
		return v, choir.Refuse("", choir.ReasonStoppedInRun, choir.TextOf("data", c.data), choir.TextOf("run", run))
	}
	return v, err
}

// showOutcome prints the outcome of a run and returns its exit code as an exitError, nil if it is
// done.
func (a *printer) showOutcome(v api.RunView) error {
	if a.json {
		a.printJSON(v)
	}
	switch v.State {
	case eventstore.RunDone:
		if !a.json {
			switch v.Status {
			case choir.AnsweredPartly:
				a.printf("\n%s\n", a.sentence("prompt.partly"))
			case choir.AnsweredNotDone:
				a.printf("\n%s\n", a.sentence("prompt.notDone"))
			}
			a.printf("\n%s\n\n%s\n", lines(v.Answer), a.spent(v.Usage))
		}
		return nil
	case eventstore.RunWaiting:
		if !a.json && v.Question != nil {
			a.printf("\n%s\n", lines(v.Question.Text))
			for _, choice := range v.Question.Choices {
				a.printf("  - %s\n", choice)
			}
			a.printf("\n%s\n", a.sentence("prompt.answerWith", "run", v.ID))
		}
		return exitError(choir.CodeNeedsInput.ExitCode())
	}
	if !a.json {
		a.errorf("\n%s\n", lines(a.sentence("prompt.ended", "state", a.term("runState", v.State), "answer", lines(v.Answer))))
		if v.Usage.Calls > 0 {
			a.errorf("%s\n", a.spent(v.Usage))
		}
	}
	if code := v.Code; code != "" {
		return exitError(max(1, code.ExitCode()))
	}
	return exitError(1)
}

// spent describes the cost of a run: calls, tokens and money.
func (a *printer) spent(u eventstore.Usage) string {
	return a.sentence("prompt.cost", "cost", a.dollars(u.CostUSD), "n", u.Calls, "in", u.InputTokens, "out", u.OutputTokens)
}

// idleSeconds is the time without an event after which watch calls idle.
const idleSeconds = 1

// follow calls visit with the events of the log, or of one run, after number after, in order, until
// visit returns true or an error.
func (c *client) follow(ctx context.Context, run choir.ID, after uint64, visit func(choir.Event) (bool, error)) error {
	for {
		page, err := c.events(ctx, run, after, true)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			after = e.Seq
			if done, err := visit(e); done || err != nil {
				return err
			}
		}
	}
}

// watch does the same as follow for one run, and calls idle after each second without an event.
func (c *client) watch(ctx context.Context, run choir.ID, after uint64, idle func() error, visit func(choir.Event) (bool, error)) error {
	for {
		page, err := c.eventsWithin(ctx, run, after, idleSeconds)
		if err == nil && len(page.Events) == 0 {
			err = idle()
		}
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			after = e.Seq
			if done, err := visit(e); done || err != nil {
				return err
			}
		}
	}
}

// events returns a page of events after number after. With wait it waits up to 20 s for the first.
func (c *client) events(ctx context.Context, run choir.ID, after uint64, wait bool) (api.EventPage, error) {
	seconds := 0
	if wait {
		seconds = 20
	}
	return c.eventsWithin(ctx, run, after, seconds)
}

// eventsWithin returns a page of events after number after and waits up to seconds for the first.
func (c *client) eventsWithin(ctx context.Context, run choir.ID, after uint64, seconds int) (api.EventPage, error) {
	q := url.Values{"after": {fmt.Sprint(after)}, "limit": {"500"}, "wait": {fmt.Sprint(seconds)}}
	if run != "" {
		q.Set("run", string(run))
	}
	var page api.EventPage
	err := c.get(ctx, c.path("/events?"+q.Encode()), &page)
	return page, err
}

// words joins the texts that are not empty with spaces.
func words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

func newTaskCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "task FILE",
		Example: "  echo '{\"kind\":\"run\",\"instruction\":\"list\",\"commands\":[{\"argv\":[\"ls\",\"-la\"]}]}' | choir task -",
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := a.readInput(args[0], 1<<20)
			if err != nil {
				return err
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runTask(ctx, a, cl, raw) })
		},
	}
}

// runTask submits a task, prints its result and returns its exit code as an exitError.
func runTask(ctx context.Context, a *app, c *client, raw []byte) error {
	result, err := c.task(ctx, raw, func(task choir.ID) {
		a.warn("task.held", "task", task)
	})
	if err != nil {
		return err
	}
	a.printJSON(result)
	switch result.Status {
	case choir.StatusOK:
		return nil
	case choir.StatusNeedsInput:
		return exitError(3)
	}
	switch result.Code {
	case choir.ResultEgressRefused, choir.ResultToolRefused:
		return exitError(4)
	case choir.ResultIsolationUnavailable:
		return exitError(5)
	}
	return exitError(1)
}

// task submits a DirectorTask and waits for its result, which it returns. It calls held, unless
// that is nil, with a task whose result waits for the owner.
func (c *client) task(ctx context.Context, raw []byte, held func(choir.ID)) (*choir.AssociateResult, error) {
	var accepted api.TaskAccepted
	if err := c.post(ctx, c.path("/tasks"), json.RawMessage(raw), &accepted); err != nil {
		return nil, err
	}
	var result *choir.AssociateResult
	err := c.follow(ctx, accepted.Run, accepted.Seq-1, func(e choir.Event) (bool, error) {
		if e.Type == choir.TypeEffectHeld && held != nil {
			held(e.Task)
		}
		if e.Type != choir.TypeTaskReturned || e.Task != accepted.Task {
			return false, nil
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err == nil {
			result = &p.(*choir.TaskReturned).Result
		}
		return true, err
	})
	return result, err
}
