package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/timeline"
)

func newUndoCommand(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "undo RUN|TASK|CALL", Short: "Undo one action and keep what came after",
		Long: "Undo what one run, one task or one tool call changed in the files, and keep what came after.\n" +
			"Where something later depends on it, the paths are listed and nothing is changed.\n" +
			"Open terminals end, with what runs in them.\n" +
			"It is a step forward: it can be rewound.",
		Example: "  choir timeline\n  choir undo TASK --dry-run\n  choir undo TASK",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.UndoRequest{Of: choir.ID(args[0]), DryRun: dry}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runUndo(ctx, a, cl, req) })
		},
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would change")
	return c
}

func runUndo(ctx context.Context, a *app, c *client, req api.UndoRequest) error {
	var u api.Undone
	if err := c.post(ctx, c.path("/undo"), req, &u); err != nil {
		var p *api.Problem
		if errors.As(err, &p) && !a.json {
			for _, conflict := range p.Conflicts {
				a.printf("%-9s %s\n", "conflict", conflict.Path)
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
		a.printf("%s would change; nothing was touched.\n", timeline.Count(len(u.Files), "path"))
	case u.Seq == 0:
		a.printf("Nothing of it is left to undo.\n")
	default:
		a.printf("Undone: %s changed. To have it again: choir rewind %d\n", timeline.Count(len(u.Files), "path"), u.BackSeq)
	}
	return nil
}
