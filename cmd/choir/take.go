package main

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newTakeCommand(a *app) *cobra.Command {
	var from string
	var dry bool
	c := &cobra.Command{
		Use:     "take --from COMPUTER [PATH...]",
		Example: "  choir diff --with experiment\n  choir take --from experiment --dry-run\n  choir take --from experiment workspace/hello",
		RunE: func(c *cobra.Command, args []string) error {
			if from == "" {
				return missing(c, "--from")
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error {
				id, err := cl.find(ctx, from)
				if err != nil {
					return err
				}
				return runTake(ctx, a, cl, api.TakeRequest{From: id, Paths: args, DryRun: dry})
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "")
	return c
}

// runTake merges changes of another computer and prints them. Code conflict: both changed a path.
func runTake(ctx context.Context, a *app, c *client, req api.TakeRequest) error {
	var t api.Taken
	if err := c.post(ctx, c.path("/take"), req, &t); err != nil {
		return err
	}
	if a.json {
		a.printJSON(t)
	} else {
		for _, f := range t.Files {
			a.printChange(string(f.Change), f.Path)
		}
		a.printEnds(t.Ends, t.DryRun)
	}
	if len(t.Conflicts) > 0 {
		for _, path := range t.Conflicts {
			a.errorf("%s %s\n", a.label("change", "conflict"), path)
		}
		return choir.Refuse("", choir.ReasonTakeConflicts, choir.CountOf("n", len(t.Conflicts)))
	}
	switch {
	case a.json:
	case t.DryRun:
		a.say("change.dry", "n", len(t.Files))
	case t.Seq == 0:
		a.say("take.nothing")
	default:
		a.say("take.done", "n", len(t.Files), "before", t.Seq-1)
	}
	return nil
}

// withOther adds the flag --with to the command diff, which then compares two computers instead of two
// moments.
func withOther(a *app, c *cobra.Command) *cobra.Command {
	var with string
	moments := c.RunE
	c.Flags().StringVar(&with, "with", "", "")
	c.Use = "diff [FROM [TO]]"
	c.Example += "\n  choir diff --with experiment"
	c.Args = func(c *cobra.Command, given []string) error {
		switch {
		case with == "" && len(given) == 0:
			return missing(c, "FROM")
		case with != "" && len(given) > 0:
			return choir.RefuseField("--with", choir.ReasonWithTakesNoEvent)
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		if with == "" {
			return moments(c, given)
		}
		return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runCompare(ctx, a, cl, with) })
	}
	return c
}

// runCompare prints the differences between the files of two computers.
func runCompare(ctx context.Context, a *app, c *client, with string) error {
	id, err := c.find(ctx, with)
	if err != nil {
		return err
	}
	var d api.Compared
	if err := c.get(ctx, c.path("/compare?with="+url.QueryEscape(string(id))), &d); err != nil {
		return err
	}
	if a.json {
		a.printJSON(d)
		return nil
	}
	a.sayNone(len(d.Files), "take.same")
	a.printDiff(d.DiffView)
	return nil
}
