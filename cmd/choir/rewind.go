package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
)

func newRewindCommand(a *app) *cobra.Command {
	var checkpoint string
	var dry bool
	c := &cobra.Command{
		Use: "rewind [EVENT]", Short: "Put the whole computer back to an earlier moment", Args: cobra.MaximumNArgs(1),
		Long:    "Put files, documents, windows, theme and settings back to what they were after an event or\nat a checkpoint. Runs at work are stopped first. Grants, budgets, runs and checkpoints stay.\nIt is a step forward: what happened in between stays in the log, and a rewind can be rewound.",
		Example: "  choir timeline\n  choir rewind 120 --dry-run\n  choir rewind --checkpoint ID",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.RewindRequest{Checkpoint: choir.ID(checkpoint), DryRun: dry}
			if len(args) == 1 {
				seq, err := parseSeq(args[0])
				if err != nil {
					return err
				}
				req.ToSeq = seq
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runRewind(ctx, a, cl, req) })
		},
	}
	c.Flags().StringVar(&checkpoint, "checkpoint", "", "go back to this checkpoint")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would change")
	return c
}

func parseSeq(s string) (uint64, error) {
	seq, err := strconv.ParseUint(s, 10, 53)
	if err != nil || seq == 0 {
		return 0, choir.Invalid("EVENT", "%q is not an event's number", s)
	}
	return seq, nil
}

func runRewind(ctx context.Context, a *app, c *client, req api.RewindRequest) error {
	var r api.Rewound
	if err := c.post(ctx, c.path("/rewind"), req, &r); err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
		return nil
	}
	a.printChanges(r.Files)
	for _, run := range r.Stopped {
		a.printf("%-9s run %s\n", "stopped", run)
	}
	if r.DryRun {
		a.printf("%d paths would change, %d runs would be stopped; nothing was touched.\n", len(r.Files), len(r.Stopped))
		return nil
	}
	a.printf("Back at event %d: %d paths changed. To undo: choir rewind %d\n", r.ToSeq, len(r.Files), r.Seq-1)
	return nil
}

func (a *app) printChanges(files []computer.FileDiff) {
	for _, f := range files {
		a.printf("%-9s %s\n", f.Change, f.Path)
	}
}

func newDiffCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff FROM [TO]", Short: "Compare the computer at two moments", Args: cobra.RangeArgs(1, 2),
		Long:    "Compare the computer after event FROM with what it was after event TO, by default now:\nwhat happened between, the desktop, the documents, and the files.",
		Example: "  choir diff 40\n  choir diff 40 80 --json",
		RunE: func(c *cobra.Command, args []string) error {
			from, err := parseSeq(args[0])
			if err != nil {
				return err
			}
			var to uint64
			if len(args) == 2 {
				if to, err = parseSeq(args[1]); err != nil {
					return err
				}
			}
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runDiff(ctx, a, cl, from, to) })
		},
	}
}

func runDiff(ctx context.Context, a *app, c *client, from, to uint64) error {
	var d api.MomentsView
	if err := c.get(ctx, c.path(fmt.Sprintf("/diff?from=%d&to=%d", from, to)), &d); err != nil {
		return err
	}
	if a.json {
		a.printJSON(d)
		return nil
	}
	a.printMoments(d)
	return nil
}

// printMoments prints what happened between two moments, and what it came to.
func (a *app) printMoments(d api.MomentsView) {
	for _, e := range d.Events {
		a.printf("%6d  %s  %s\n", e.Seq, e.At.Std().Local().Format("15:04:05"), e.Text)
	}
	for _, line := range d.Desktop {
		a.printf("desktop   %s\n", line)
	}
	for _, doc := range d.Documents {
		a.printf("document  %s\n%s", doc.Title, lines(doc.Diff))
	}
	a.printDiff(d.DiffView)
}

func (a *app) printDiff(d api.DiffView) {
	for _, f := range d.Files {
		switch {
		case f.From != "":
			a.printf("%s %s -> %s\n", f.Change, f.From, f.Path)
		default:
			a.printf("%s %s\n", f.Change, f.Path)
		}
		if f.Diff != "" {
			a.printf("%s", lines(f.Diff))
		}
	}
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				a.printJSON(struct {
					Version string `json:"version"`
				}{version})
				return nil
			}
			a.printf("choir %s\n", version)
			return nil
		},
	}
}
