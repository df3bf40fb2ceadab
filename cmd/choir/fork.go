package main

import (
	"context"

	"github.com/spf13/cobra"

	"choiros/internal/control/api"
)

func newForkCommand(a *app) *cobra.Command {
	var req api.ForkRequest
	c := &cobra.Command{
		Use: "fork [EVENT]", Short: "Make a second computer of a moment",
		Long: "Make a second computer that begins with this one's past up to an event, by default up to now.\n" +
			"Both go on from there by themselves. Files that look like keys stay in the first.",
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
	c.Flags().StringVar(&req.Name, "name", "", "what the new computer is called")
	c.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "only say what it would begin with")
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
		a.printf("%s would begin after event %d, with the files of then; nothing was made.\n", f.Name, f.Seq)
		return nil
	}
	a.printf("%s begins after event %d. Use it with: --computer %q\n", f.Name, f.Seq, f.Name)
	return nil
}

// warnWithheld prints a warning for each path left out because it looks like a key.
func (a *app) warnWithheld(paths []string) {
	for _, path := range paths {
		a.warn("left out, because it looks like a key: " + path)
	}
}

func newComputersCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "computers", Short: "List the computers of the data folder", Args: cobra.NoArgs,
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
	for _, v := range list {
		if v.Failed != "" {
			a.printf("%s  not opened     %s\n%38s%s\n", v.ID, v.Name, "", v.Failed)
			continue
		}
		if v.Hibernated {
			a.printf("%s  %6d events  %s  (hibernates)\n", v.ID, v.Head, v.Name)
			continue
		}
		a.printf("%s  %6d events  %s\n", v.ID, v.Head, v.Name)
	}
	return nil
}
