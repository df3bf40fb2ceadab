package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/moments"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func newTimelineCommand(a *app) *cobra.Command {
	var limit int
	var before uint64
	c := &cobra.Command{
		Use: "timeline", Short: "List the moments you can go back to, or look at one", Args: cobra.NoArgs,
		Long:    "List the moments you can go back to, newest first, or look at one of them without going there.",
		Example: "  choir timeline\n  choir timeline show 120\n  choir timeline ls 120 workspace/hello\n  choir timeline cat 120 workspace/hello/main.go\n  choir rewind 120 --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runTimeline(ctx, a, cl, limit, before) })
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "how many, at most 1000")
	c.Flags().Uint64Var(&before, "before", 0, "only what came before this event")
	c.AddCommand(
		a.lookCommand("show EVENT", "Describe the computer as it was after an event", runMoment),
		a.lookCommand("ls EVENT [FOLDER]", "List a folder as it was after an event", runFolder),
		a.lookCommand("cat EVENT FILE", "Print a file as it was after an event", runCat),
		newCollectCommand(a),
	)
	return c
}

// lookCommand returns a command that calls run for the event and the path in its arguments, also when
// no choir runs.
func (a *app) lookCommand(use, short string, run func(context.Context, *app, *client, uint64, string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, RunE: func(c *cobra.Command, args []string) error {
		seq, err := parseSeq(args[0])
		if err != nil {
			return err
		}
		path := ""
		if len(args) > 1 {
			path = args[1]
		}
		return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return run(ctx, a, cl, seq, path) })
	}}
}

// keepDays is the default number of days for which snapshots between tool calls are kept.
const keepDays = 30

func newCollectCommand(a *app) *cobra.Command {
	req := api.CollectRequest{}
	c := &cobra.Command{
		Use: "gc", Short: "Free the disk of content that nothing leads to any more", Args: cobra.NoArgs,
		Long: "Remove content that no event leads to. The files at moments between two tool calls are let go once they are\n" +
			"older than --keep-days; where a task began or ended, checkpoints, and what you did yourself stay for ever. Every event stays.",
		Example: "  choir timeline gc --dry-run\n  choir timeline gc --keep-days 7",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runCollect(ctx, a, cl, req) })
		},
	}
	c.Flags().IntVar(&req.KeepDays, "keep-days", keepDays, "keep every moment of so many days")
	c.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "only say what would be removed")
	return c
}

func runCollect(ctx context.Context, a *app, c *client, req api.CollectRequest) error {
	var r collection.Collected
	if err := c.post(ctx, c.path("/collect"), req, &r); err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
		return nil
	}
	verb := "removed"
	if r.DryRun {
		verb = "would be removed"
	}
	a.printf("%d objects with %s %s, %d kept; %d moments between tool calls let go.\n", r.Removed, timeline.Bytes(r.Bytes), verb, r.Kept, r.Moments)
	return nil
}

func runTimeline(ctx context.Context, a *app, c *client, limit int, before uint64) error {
	var page api.TimelinePage
	if err := c.get(ctx, c.path(fmt.Sprintf("/timeline?limit=%d&before=%d", limit, before)), &page); err != nil {
		return err
	}
	if a.json {
		a.printJSON(page.Marks)
		return nil
	}
	a.printNone(len(page.Marks), "There is no moment to go back to.")
	for _, m := range page.Marks {
		a.printMark(m)
	}
	if len(page.Marks) == limit {
		a.printf("There is more: choir timeline --before %d\n", page.Marks[limit-1].Seq)
	}
	return nil
}

// printMark prints a mark of the timeline with the id by which it can be undone.
func (a *app) printMark(m moments.Mark) {
	files := ""
	if m.Files > 0 && m.Kind != eventstore.MarkRepo {
		files = "  (" + timeline.Count(m.Files, "path") + ")"
	}
	id := m.Task
	if m.Kind == eventstore.MarkCall {
		id = m.Call
	}
	if m.Kind != eventstore.MarkTask && m.Kind != eventstore.MarkCall {
		id = ""
	}
	a.printf("%6d  %s  %-10s  %s%s  %s\n", m.Seq, m.At.Std().Local().Format("2006-01-02 15:04:05"), m.Kind, m.Say(a.language()), files, id)
	for _, path := range m.Withheld {
		a.printf("%8sin no commit, because it looks like a key: %s\n", "", path)
	}
}

func runMoment(ctx context.Context, a *app, c *client, seq uint64, _ string) error {
	var m moments.Moment
	if err := c.get(ctx, c.path(fmt.Sprintf("/at/%d", seq)), &m); err != nil {
		return err
	}
	if a.json {
		a.printJSON(m)
		return nil
	}
	what := m.Text
	if what == "" {
		what = meaning(m.Type)
	}
	a.printf("Event %d of %d, %s: %s (%s)\n", m.Seq, m.Head, m.At.Std().Local().Format("2006-01-02 15:04:05"), what, m.Type)
	if m.Collected {
		a.printf("The files of this moment were collected.\n")
	}
	if m.TakenSeq == 0 {
		a.printf("Nobody had looked at the workspace yet.\n")
	} else {
		a.printf("%s with %s, as they were found at event %d. To list them: choir timeline ls %d\n",
			timeline.Count(m.Files, "file"), timeline.Bytes(m.Bytes), m.TakenSeq, m.Seq)
	}
	for _, path := range m.LeftOut {
		a.printf("left out  a cache over storage.cache_mb, which stays as it is: %s\n", path)
	}
	for _, l := range m.LeftOver {
		a.printf("left out  %s, which stays as it is: %s\n", timeline.WhyLeft(l.Reason), l.Path)
	}
	for _, d := range m.Documents {
		a.printf("document  version %d  %s  %s\n", d.Version, d.Title, d.ID)
	}
	for _, w := range m.Windows {
		a.printf("window    %s  %s %s\n", w.App, w.Title, w.Subject)
	}
	for _, s := range m.Settings {
		value := s.Value
		if s.Theme != nil {
			value = s.Theme.Name
		}
		a.printf("setting   %s = %s\n", s.Key, value)
	}
	return nil
}

// meaning describes an event type for people.
func meaning(t choir.Type) string {
	info, ok := choir.LookupType(t)
	if !ok {
		return "something that this choir does not know"
	}
	first, _, _ := strings.Cut(strings.TrimSuffix(info.Doc, "."), ";")
	return first
}

func runFolder(ctx context.Context, a *app, c *client, seq uint64, path string) error {
	var list []choir.FileState
	if err := c.get(ctx, c.path(fmt.Sprintf("/at/%d/folder?path=%s", seq, url.QueryEscape(path))), &list); err != nil {
		return err
	}
	if a.json {
		a.printJSON(list)
		return nil
	}
	a.printNone(len(list), "The folder is empty.")
	for _, f := range list {
		a.printf("%-7s %04o %10d  %s\n", f.Kind, f.Mode, f.Size, f.Path)
	}
	return nil
}

func runCat(ctx context.Context, a *app, c *client, seq uint64, path string) error {
	res, err := c.do(ctx, http.MethodGet, c.path(fmt.Sprintf("/at/%d/file?path=%s", seq, url.QueryEscape(path))), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(a.raw, res.Body)
	return err
}
