package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func newRunCommand(a *app) *cobra.Command {
	var answer, steer string
	var cancel, follow bool
	c := &cobra.Command{
		Use:     "run [ID]",
		Example: "  choir run\n  choir run ID --answer \"{answer}\"\n  choir run ID --cancel\n  choir run pause ID",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && (answer != "" || steer != "" || cancel || follow) {
				return choir.RefuseField("ID", choir.ReasonRunNotNamed)
			}
			if err := checkRunID(c, args); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runRuns(ctx, a, cl) })
			}
			if answer == "" && steer == "" && !cancel && !follow {
				return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runShow(ctx, a, cl, args[0]) })
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				switch {
				case cancel:
					return runCancel(ctx, a, cl, args[0])
				case follow:
					return runFollow(ctx, a, cl, args[0])
				case steer != "":
					return runSteer(ctx, a, cl, args[0], steer)
				}
				return runAnswer(ctx, a, cl, args[0], answer)
			})
		},
	}
	c.Flags().StringVar(&answer, "answer", "", "")
	c.Flags().StringVar(&steer, "steer", "", "")
	c.Flags().BoolVar(&cancel, "cancel", false, "")
	c.Flags().BoolVar(&follow, "follow", false, "")
	c.AddCommand(&cobra.Command{
		Use:     "pause ID",
		Example: "  choir run pause ID",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runPause(ctx, a, cl, args[0]) })
		},
	}, &cobra.Command{
		Use:     "resume ID",
		Example: "  choir run resume ID",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runResume(ctx, a, cl, args[0]) })
		},
	}, newRunCommandsCommand(a))
	return c
}

// checkRunID refuses what stands for a run's id and is none: a verb that choir run does not have,
// whose own arguments would go unread.
func checkRunID(c *cobra.Command, args []string) error {
	if len(args) == 0 || (len(args) == 1 && choir.ID(args[0]).Valid()) {
		return nil
	}
	if !choir.ID(args[0]).Valid() {
		return choir.Refuse("", choir.ReasonNotARunVerb, choir.TextOf("given", args[0]), choir.TextOf("command", c.CommandPath()))
	}
	return choir.Refuse("", choir.ReasonOneRunTooMany, choir.TextOf("command", c.CommandPath()), choir.TextOf("given", args[1]), choir.TextOf("example", exampleOf(c)))
}

// runPause pauses a run.
func runPause(ctx context.Context, a *app, c *client, id string) error {
	v, before, err := setPaused(ctx, c, id, "/pause")
	switch {
	case err != nil:
		return err
	case a.json:
		a.printJSON(v)
	case before > 0:
		a.say("run.pausedAlready", "run", v.ID)
	default:
		a.say("run.isPaused", "run", v.ID)
	}
	return nil
}

// runResume lets a paused run go on.
func runResume(ctx context.Context, a *app, c *client, id string) error {
	v, before, err := setPaused(ctx, c, id, "/resume")
	switch {
	case err != nil:
		return err
	case a.json:
		a.printJSON(v)
	case before == 0:
		a.say("run.notPaused", "run", v.ID)
	default:
		a.say("run.goesOn", "run", v.ID)
	}
	return nil
}

// setPaused posts /pause or /resume of a run. It returns the run after that, and the number of the
// event that had paused it before, 0 for none.
func setPaused(ctx context.Context, c *client, id, way string) (v api.RunView, before uint64, err error) {
	base := c.path("/runs/" + url.PathEscape(id))
	if err := c.get(ctx, base, &v); err != nil {
		return v, 0, err
	}
	before = v.PausedSeq
	if err := c.post(ctx, base+way, struct{}{}, nil); err != nil {
		return v, before, err
	}
	return v, before, c.get(ctx, base, &v)
}

// runFollow tells what happens in a run until it ends.
func runFollow(ctx context.Context, a *app, c *client, id string) error {
	var v api.RunView
	if err := c.get(ctx, c.path("/runs/"+url.PathEscape(id)), &v); err != nil {
		return err
	}
	if !v.State.Open() {
		return a.showOutcome(v)
	}
	return a.followFrom(ctx, c, v.ID, v.LastSeq)
}

// runCancel stops a run and waits until it has stopped.
func runCancel(ctx context.Context, a *app, c *client, id string) error {
	var v api.RunView
	base := c.path("/runs/" + url.PathEscape(id))
	if err := c.get(ctx, base, &v); err != nil {
		return err
	}
	if !v.State.Open() {
		a.showState(v, "run.over")
		return nil
	}
	if err := c.post(ctx, base+"/cancel", struct{}{}, nil); err != nil {
		return err
	}
	v, err := a.untilItEnds(ctx, c, v.ID, v.LastSeq)
	if err != nil {
		return err
	}
	a.showState(v, "run.stopped")
	return nil
}

// showState prints the sentence with a key about what a command did to a run, and the run's state.
func (a *printer) showState(v api.RunView, key string) {
	if a.json {
		a.printJSON(v)
		return
	}
	a.say(key, "run", v.ID, "state", a.term("runState", v.State), "cost", a.spent(v.Usage))
}

// runSteer adds words to a running run.
func runSteer(ctx context.Context, a *app, c *client, id, words string) error {
	base := c.path("/runs/" + url.PathEscape(id))
	if err := c.post(ctx, base+"/steer", api.Words{Text: words}, nil); err != nil {
		return err
	}
	var v api.RunView
	if err := c.get(ctx, base, &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	a.say("run.steered", "run", v.ID)
	return nil
}

// runAnswer answers the question of a run and follows the run.
func runAnswer(ctx context.Context, a *app, c *client, id, words string) error {
	var v api.RunView
	base := c.path("/runs/" + url.PathEscape(id))
	if err := c.get(ctx, base, &v); err != nil {
		return err
	}
	if err := c.post(ctx, base+"/answers", api.Words{Text: words}, nil); err != nil {
		return err
	}
	if !a.json {
		a.say("run.answered", "run", v.ID)
	}
	return a.followFrom(ctx, c, v.ID, v.LastSeq)
}

func runRuns(ctx context.Context, a *app, c *client) error {
	var runs []eventstore.Run
	if err := c.get(ctx, c.path("/runs"), &runs); err != nil {
		return err
	}
	if a.json {
		a.printJSON(runs)
		return nil
	}
	a.sayNone(len(runs), "run.none")
	for _, r := range runs {
		a.printf("%s  %s  %9s  %s\n", r.ID, a.label("runState", r.State), a.dollars(r.Usage.CostUSD), timeline.Line(r.Prompt))
	}
	return nil
}

func runShow(ctx context.Context, a *app, c *client, id string) error {
	var v api.RunView
	if err := c.get(ctx, c.path("/runs/"+url.PathEscape(id)), &v); err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	paused := ""
	if v.PausedSeq > 0 {
		paused = a.sentence("run.inPause")
	}
	line := func(name, text string) { a.printf("%s  %s\n", a.label("run", name), text) }
	line("run", string(v.ID))
	line("state", words(a.term("runState", v.State), string(v.Code), paused))
	line("prompt", timeline.Line(v.Prompt))
	if v.Waits != "" {
		line("waits", a.sentence("run.waits", "why", v.Waits))
	}
	for _, t := range v.Tasks {
		state := words(a.term("taskState", t.State), a.term("status", t.Status))
		line("task", string(t.ID)+"  "+state+"  "+timeline.Line(t.Instruction))
	}
	line("usage", a.sentence("run.usage", "calls", v.Usage.Calls, "in", v.Usage.InputTokens, "out", v.Usage.OutputTokens, "cost", a.dollars(v.Usage.CostUSD)))
	if v.Document != "" {
		var d eventstore.Document
		if err := c.get(ctx, c.path("/documents/"+string(v.Document)), &d); err != nil {
			return err
		}
		a.printf("\n%s\n", lines(d.Content))
	}
	return nil
}
