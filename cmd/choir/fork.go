package main

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"choiros/internal/control/api"
)

func newForkCommand(a *app) *cobra.Command {
	var req api.ForkRequest
	c := &cobra.Command{
		Use:     "fork [EVENT]",
		Example: "  choir fork --name experiment\n  choir fork 120 --name before --dry-run\n  choir diff --with experiment\n  choir take --from experiment",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if req.Name == "" {
				return missing(c, "--name")
			}
			if len(args) == 1 {
				if req.Event, err = parseSeq(args[0]); err != nil {
					return err
				}
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runFork(ctx, a, cl, req) })
		},
	}
	c.Flags().StringVar(&req.Name, "name", "", "")
	c.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "")
	return c
}

func runFork(ctx context.Context, a *app, c *client, req api.ForkRequest) error {
	var f api.Forked
	if err := c.post(ctx, c.path("/fork"), req, &f); err != nil {
		return err
	}
	a.warnWithheld(f.Withheld)
	if a.json {
		a.printJSON(f)
		return nil
	}
	if f.DryRun {
		a.say("fork.dry", "name", f.Name, "seq", f.Seq)
		return nil
	}
	a.say("fork.made", "name", f.Name, "seq", f.Seq, "quoted", strconv.Quote(f.Name))
	return nil
}

// warnWithheld prints a warning for each path left out because it looks like a key.
func (a *printer) warnWithheld(paths []string) {
	for _, path := range paths {
		a.warn("withheld", "path", path)
	}
}

func newComputersCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "computers", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runComputers(ctx, a, cl) })
		},
	}
}

func runComputers(ctx context.Context, a *app, c *client) error {
	var list []api.ComputerView
	if err := c.get(ctx, "/api/computers", &list); err != nil {
		return err
	}
	if a.json {
		a.printJSON(list)
		return nil
	}
	events := func(n any) string { return a.sentence("computers.events", "events", fmt.Sprintf("%6v", n)) }
	for _, v := range list {
		state, name := events(v.Head), v.Name
		switch {
		case v.Failed != "":
			state = a.sentence("computers.notOpened")
		case v.Frozen:
			name = a.sentence("computers.frozen", "name", v.Name)
		case v.Hibernated:
			name = a.sentence("computers.hibernates", "name", v.Name)
		}
		a.printf("%s  %-*s  %s\n", v.ID, utf8.RuneCountInString(events("")), state, name)
		if v.Failed != "" {
			a.printf("%38s%s\n", "", v.Failed)
		}
	}
	return nil
}
