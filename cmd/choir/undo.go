package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

func newUndoCommand(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:     "undo RUN|TASK|CALL",
		Example: "  choir timeline\n  choir undo TASK --dry-run\n  choir undo TASK",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.UndoRequest{Of: choir.ID(args[0]), DryRun: dry}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runUndo(ctx, a, cl, req) })
		},
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "")
	return c
}

func runUndo(ctx context.Context, a *app, c *client, req api.UndoRequest) error {
	var u api.Undone
	if err := c.post(ctx, c.path("/undo"), req, &u); err != nil {
		var p *api.Problem
		if errors.As(err, &p) && !a.json {
			for _, conflict := range p.Conflicts {
				a.printChange("conflict", conflict.Path)
			}
		}
		return err
	}
	if a.json {
		a.printJSON(u)
		return nil
	}
	a.printChanges(u.Files)
	a.printEnds(u.Ends, req.DryRun)
	switch {
	case req.DryRun:
		a.say("change.dry", "n", len(u.Files))
	case u.Seq == 0:
		a.say("undo.nothing")
	default:
		a.say("undo.done", "n", len(u.Files), "back", u.BackSeq)
	}
	return nil
}
