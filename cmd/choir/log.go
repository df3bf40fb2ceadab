package main

import (
	"context"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func newLogCommand(a *app) *cobra.Command {
	var follow, verify, repair bool
	var after uint64
	var restore string
	c := &cobra.Command{
		Use: "log", Args: cobra.NoArgs,
		Example: "  choir log --follow\n  choir log --json --after 100\n  choir log --verify\n  choir log --repair\n" +
			"  choir log --restore-from-cluster 0198aaaa-0000-7000-8000-000000000001 --data new-folder --config choir.toml",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := onlyOne(c, "follow", "verify", "repair", "restore-from-cluster"); err != nil {
				return err
			}
			check := func(ctx context.Context, cl *client) error { return runVerify(ctx, a, cl) }
			switch {
			case restore != "":
				return runRestore(c.Context(), a, choir.ID(restore))
			case repair:
				return a.withComputer(c.Context(), check)
			case verify:
				return a.reading(c.Context(), check)
			}
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runLog(ctx, a, cl, after, follow) })
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "")
	c.Flags().BoolVar(&verify, "verify", false, "")
	c.Flags().BoolVar(&repair, "repair", false, "")
	c.Flags().StringVar(&restore, "restore-from-cluster", "", "")
	c.Flags().Uint64Var(&after, "after", 0, "")
	return c
}

func runLog(ctx context.Context, a *app, c *client, after uint64, follow bool) error {
	var v api.ComputerView
	if err := c.get(ctx, c.path(""), &v); err != nil {
		return err
	}
	if v.ReadOnly != "" && v.ReadOnly != eventstore.OnlyReading {
		a.sayAside("log.damaged", "why", v.ReadOnly)
	}
	for {
		page, err := c.events(ctx, "", after, follow)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			after = e.Seq
			a.printEvent(e)
		}
		if !follow && len(page.Events) == 0 {
			return nil
		}
	}
}

// printEvent prints one event as a line of text or JSON.
func (a *printer) printEvent(e choir.Event) {
	if a.json {
		a.printJSON(e)
		return
	}
	a.printf("%6d  %s  %-9s  %-20s  %s\n", e.Seq, e.Time.Std().Local().Format("15:04:05.000"), e.Source, e.Type, timeline.SayIn(a.spoken(), &e))
}

// runVerify has the log verified and prints the report. Code corrupt: it is damaged.
func runVerify(ctx context.Context, a *app, c *client) error {
	var r eventstore.Report
	if err := c.post(ctx, c.path("/verify"), struct{}{}, &r); err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
	} else {
		a.say("log.events", "events", r.Events, "head", r.Head)
		line := func(name, text string) { a.printf("%s  %s\n", a.label("log", name), text) }
		for _, d := range r.Repaired {
			line("repaired", a.sentence("log.range", "from", d.From, "to", d.To, "copy", d.Copy, "damage", d.Damage))
		}
		for _, d := range r.Damaged {
			line("damaged", a.sentence("log.range", "from", d.From, "to", d.To, "copy", d.Copy, "damage", d.Damage))
		}
		for _, h := range r.Holes {
			line("hole", a.sentence("log.rangeOfBoth", "from", h.From, "to", h.To, "damage", h.Damage))
		}
	}
	if len(r.Holes) > 0 {
		return choir.Refuse("", choir.ReasonLogDamagedInBoth, choir.CountOf("n", len(r.Holes)))
	}
	if len(r.Damaged) > 0 {
		return choir.Refuse("", choir.ReasonLogDamagedInOne, choir.CountOf("n", len(r.Damaged)))
	}
	if !a.json {
		a.say("log.whole")
	}
	return a.sayCluster(r)
}

// sayCluster prints the comparison with the cluster's copy, and returns an error if it differs or was
// not compared.
func (a *printer) sayCluster(r eventstore.Report) error {
	switch c := r.Cluster; {
	case c == nil:
		return nil
	case c.Code == choir.CodeCorrupt:
		return choir.Refuse("", choir.ReasonClusterCopyDiffers, choir.CountOf("event", c.Events), choir.TextOf("why", c.Reason))
	case c.Code != "":
		return choir.E("", c.Code, "the copy in the cluster could not be compared: %s", c.Reason)
	}
	if !a.json {
		a.say("log.cluster", "there", r.Cluster.Events, "events", r.Events)
	}
	return nil
}

func newCheckpointCommand(a *app) *cobra.Command {
	var message, repo string
	c := &cobra.Command{
		Use: "checkpoint", Args: cobra.NoArgs,
		Example: "  choir checkpoint -m \"{message}\"",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				return runCheckpoint(ctx, a, cl, api.CheckpointRequest{Subject: message, Repo: repo})
			})
		},
	}
	c.Flags().StringVarP(&message, "message", "m", "", "")
	c.Flags().StringVar(&repo, "repo", "", "")
	return c
}

func runCheckpoint(ctx context.Context, a *app, c *client, req api.CheckpointRequest) error {
	var r choir.AssociateResult
	if err := c.post(ctx, c.path("/checkpoints"), req, &r); err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
	} else {
		a.printf("%s\n", a.checkpointSaid(r))
	}
	if r.Status != choir.StatusOK {
		return exitError(1)
	}
	return nil
}

// checkpointSaid returns a sentence about the commits of a checkpoint by hand, the English one of the result
// if it does not say how many.
func (a *printer) checkpointSaid(r choir.AssociateResult) lines {
	made := r.Committed
	if made == nil {
		return lines(r.Summary)
	}
	said := a.sentence("checkpoint.nothing")
	if made.Commits > 0 {
		said = a.sentence("checkpoint.made", "n", made.Commits, "subject", made.Subject)
	}
	if made.Failed != "" {
		said = a.sentence("checkpoint.notAll", "said", said, "why", made.Failed)
	}
	return lines(said)
}
