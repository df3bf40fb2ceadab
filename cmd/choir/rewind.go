package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/workspace"
	"choiros/internal/control/api"
	"choiros/internal/timeline"
)

func newRewindCommand(a *app) *cobra.Command {
	var checkpoint string
	var dry, cancel bool
	c := &cobra.Command{
		Use:     "rewind [EVENT]",
		Example: "  choir timeline\n  choir rewind 120 --dry-run\n  choir rewind --checkpoint ID\n  choir rewind --cancel",
		RunE: func(c *cobra.Command, args []string) error {
			req := api.RewindRequest{Checkpoint: choir.ID(checkpoint), DryRun: dry}
			if len(args) == 1 {
				seq, err := parseSeq(args[0])
				if err != nil {
					return err
				}
				req.ToSeq = seq
			}
			if !cancel && checkpoint == "" && len(args) == 0 {
				return missing(c, "EVENT")
			}
			if cancel {
				return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return cancelRewind(ctx, a, cl) })
			}
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runRewind(ctx, a, cl, req) })
		},
	}
	c.Flags().StringVar(&checkpoint, "checkpoint", "", "")
	c.Flags().BoolVar(&cancel, "cancel", false, "")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "")
	return c
}

// parseSeq parses the number of an event. Code invalid: it is none.
func parseSeq(s string) (uint64, error) {
	seq, err := strconv.ParseUint(s, 10, 53)
	if err != nil || seq == 0 {
		return 0, choir.RefuseField("EVENT", choir.ReasonNotAnEvent, choir.TextOf("given", s))
	}
	return seq, nil
}

// runRewind rewinds the computer, or with DryRun prints what would change, and waits for the end.
func runRewind(ctx context.Context, a *app, c *client, req api.RewindRequest) error {
	var r api.Rewound
	err := c.post(ctx, c.path("/rewind"), req, &r)
	switch {
	case err == nil && r.Pending:
		r, err = awaitRewind(ctx, a, c)
	case err != nil && ctx.Err() != nil && !req.DryRun:
		err = stopRewind(ctx, a, c) // it may have begun
	}
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
		return nil
	}
	a.printChanges(r.Files)
	for _, run := range r.Stopped {
		a.printChange("stopped", a.sentence("rewind.run", "run", run))
	}
	a.printEnds(r.Ends, r.DryRun)
	for _, l := range r.Left {
		a.printChange("left", a.sentence("rewind.left", "path", l.Path, "why", timeline.WhyLeft(a.spoken(), l.Reason)))
	}
	for _, x := range r.Aside {
		a.printChange("aside", a.sentence("rewind.aside", "path", x.From))
	}
	for _, x := range r.Back {
		a.printChange("back", a.sentence("rewind.back", "path", x.From))
	}
	if r.DryRun {
		a.say("rewind.dry", "paths", a.count("path", len(r.Files)), "runs", a.count("run", len(r.Stopped)))
		return nil
	}
	a.say("rewind.done", "seq", r.ToSeq, "n", len(r.Files), "before", r.Seq-1)
	return nil
}

// rewindLook is the interval at which awaitRewind polls the rewind's state.
const rewindLook = 500 * time.Millisecond

// awaitRewind prints the progress of a rewind until it has ended, and returns its result. When ctx
// ends first, it stops the rewind.
func awaitRewind(ctx context.Context, a *app, c *client) (api.Rewound, error) {
	tick := time.NewTicker(rewindLook)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return api.Rewound{}, stopRewind(ctx, a, c)
		case <-tick.C:
		}
		var s api.RewindState
		if err := c.get(ctx, c.path("/rewind"), &s); err != nil {
			if ctx.Err() != nil {
				continue
			}
			return api.Rewound{}, err
		}
		switch {
		case s.Failed != nil:
			return api.Rewound{}, s.Failed
		case s.Done != nil:
			return *s.Done, nil
		case !s.Pending:
			return api.Rewound{}, choir.Refuse("", choir.ReasonRestartedInRewind)
		case s.Work != nil && !a.json:
			if line := a.workLine(s.Work); line != said {
				a.printf("%s\n", line)
				said = line
			}
		}
	}
}

// stopRewind stops a rewind after ctx has ended, and returns ctx's error. It ignores that none is in
// progress.
func stopRewind(ctx context.Context, a *app, c *client) error {
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer done()
	err := cancelRewind(stopping, a, c)
	var p *api.Problem
	if errors.As(err, &p) && p.Code == choir.CodeConflict {
		err = nil // none is under way
	}
	return errors.Join(ctx.Err(), err)
}

// workLine describes the progress of work on a workspace.
func (a *printer) workLine(w *workspace.Work) string {
	return a.label("work", w.Kind) + " " + a.sentence("rewind.work", "paths", w.Entries, "size", w.Bytes>>20)
}

// cancelRewind stops the rewind in progress and says so.
func cancelRewind(ctx context.Context, a *app, c *client) error {
	if err := c.call(ctx, http.MethodDelete, c.path("/rewind"), nil, nil); err != nil {
		return err
	}
	if !a.json {
		a.say("rewind.stopped")
	}
	return nil
}

func (a *printer) printChanges(files []moments.FileDiff) {
	for _, f := range files {
		a.printChange(string(f.Change), f.Path)
	}
}

// printChange prints one line of what a step changes, behind the label of its kind.
func (a *printer) printChange(kind, what string) { a.printf("%s %s\n", a.label("change", kind), what) }

// printEnds prints how many terminals a step ends, or would end if dry; nothing for none.
func (a *printer) printEnds(e api.Ends, dry bool) {
	if e.Terminals == 0 {
		return
	}
	terminals := a.sentence("change.terminals", "n", e.Terminals)
	if dry {
		a.printChange("wouldEnd", terminals)
	} else {
		a.printChange("ended", terminals)
	}
}

func newDiffCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "diff FROM [TO]",
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
	if err := a.sayEvents(ctx, c, d.Events); err != nil {
		return err
	}
	a.printMoments(d)
	return nil
}

// printMoments prints the events between two moments and the differences of desktop, documents and
// files.
func (a *printer) printMoments(d api.MomentsView) {
	a.sayNone(len(d.Events)+len(d.Changes)+len(d.Documents)+len(d.Files), "diff.none")
	for _, e := range d.Events {
		a.printf("%6d  %s  %s\n", e.Seq, e.At.Std().Local().Format("15:04:05"), e.Text)
	}
	for _, change := range d.Changes {
		a.printf("%s  %s\n", a.label("diff", "desktop"), lines(change.Say(a.spoken())))
	}
	for _, doc := range d.Documents {
		a.printf("%s  %s\n%s", a.label("diff", "document"), doc.Title, lines(doc.Diff))
	}
	a.printDiff(d.DiffView)
}

// printDiff prints changed files with their lines, and says of what there are none.
func (a *printer) printDiff(d api.DiffView) {
	for _, f := range d.Files {
		switch {
		case f.From != "":
			a.printf("%s %s -> %s\n", a.term("change", f.Change), f.From, f.Path)
		default:
			a.printf("%s %s\n", a.term("change", f.Change), f.Path)
		}
		if f.Diff != "" {
			a.printf("%s", lines(f.Diff))
		}
		if f.Binary {
			a.say("diff.notShown")
		}
	}
	if d.Cut {
		a.say("diff.cut")
	}
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Args: cobra.NoArgs,
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
