package main

import (
	"context"
	"fmt"
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
		Use: "run [ID]", Short: "List runs, or show, follow, pause, stop, steer or answer one",
		Example: "  choir run\n  choir run ID --answer \"yes, both\"\n  choir run ID --cancel\n  choir run pause ID",
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
	c.Flags().StringVar(&answer, "answer", "", "answer the question it waits for, and follow it")
	c.Flags().StringVar(&steer, "steer", "", "add to it while it works")
	c.Flags().BoolVar(&cancel, "cancel", false, "stop it")
	c.Flags().BoolVar(&follow, "follow", false, "tell what happens in it from now on, until it ends")
	c.AddCommand(&cobra.Command{
		Use: "pause ID", Short: "Pause a run: nothing more begins in it",
		Long:    "Pause a run. A command or a model call that it has in hand comes to its end; then it begins nothing more until choir run resume ID,\nand its time does not run. It stays paused when choir is started again, and can be stopped meanwhile.",
		Example: "  choir run pause ID",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runPause(ctx, a, cl, args[0]) })
		},
	}, &cobra.Command{
		Use: "resume ID", Short: "Let a paused run go on where it was",
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
		a.printf("Run %s was paused already.\n", v.ID)
	default:
		a.printf("Run %s is paused: what it has in hand comes to its end, and nothing more begins. To let it go on: choir run resume %s\n", v.ID, v.ID)
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
		a.printf("Run %s was not paused.\n", v.ID)
	default:
		a.printf("Run %s goes on. To follow it: choir run %s --follow\n", v.ID, v.ID)
	}
	return nil
}

// setPaused asks for one of a run's two ways, and returns the run after it and its pause before.
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
		a.showState(v, "was over before: nothing was stopped")
		return nil
	}
	if err := c.post(ctx, base+"/cancel", struct{}{}, nil); err != nil {
		return err
	}
	v, err := a.untilItEnds(ctx, c, v.ID, v.LastSeq)
	if err != nil {
		return err
	}
	a.showState(v, "was stopped")
	return nil
}

// showState prints what a command did to a run, and the run's state.
func (a *app) showState(v api.RunView, did string) {
	if a.json {
		a.printJSON(v)
		return
	}
	a.printf("Run %s %s; it is %s. %s\n", v.ID, did, v.State, spent(v.Usage))
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
	a.printf("Added to run %s: its Director reads it with its next call. To see how it stands: choir run %s\n", v.ID, v.ID)
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
		a.printf("Answered; run %s goes on.\n", v.ID)
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
	a.printNone(len(runs), "Nothing was asked for yet. To ask: choir prompt \"...\"")
	for _, r := range runs {
		a.printf("%s  %-9s  %9s  %s\n", r.ID, r.State, fmt.Sprintf("$%.4f", r.Usage.CostUSD), timeline.Line(r.Prompt))
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
		paused = "(paused)"
	}
	a.printf("run     %s\nstate   %s\nprompt  %s\n", v.ID, words(string(v.State), string(v.Code), paused), timeline.Line(v.Prompt))
	if v.Waits != "" {
		a.printf("waits   for the model: %s\n", v.Waits)
	}
	for _, t := range v.Tasks {
		a.printf("task    %s  %s  %s\n", t.ID, words(string(t.State), string(t.Status)), timeline.Line(t.Instruction))
	}
	a.printf("usage   %d calls, %d tokens in, %d out, $%.4f\n", v.Usage.Calls, v.Usage.InputTokens, v.Usage.OutputTokens, v.Usage.CostUSD)
	if v.Document != "" {
		var d eventstore.Document
		if err := c.get(ctx, c.path("/documents/"+string(v.Document)), &d); err != nil {
			return err
		}
		a.printf("\n%s\n", lines(d.Content))
	}
	return nil
}
