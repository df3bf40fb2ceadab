package main

import (
	"cmp"
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
	"choiros/internal/names"
	"choiros/internal/timeline"
)

func newTimelineCommand(a *app) *cobra.Command {
	var limit int
	var before uint64
	c := &cobra.Command{
		Use: "timeline", Args: cobra.NoArgs,
		Example: "  choir timeline\n  choir timeline show 120\n  choir timeline ls 120 workspace/hello\n  choir timeline cat 120 workspace/hello/main.go\n  choir rewind 120 --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, cl *client) error { return runTimeline(ctx, a, cl, limit, before) })
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "")
	c.Flags().Uint64Var(&before, "before", 0, "")
	c.AddCommand(
		a.lookCommand("show EVENT", runMoment),
		a.lookCommand("ls EVENT [FOLDER]", runFolder),
		a.lookCommand("cat EVENT FILE", runCat),
		newCollectCommand(a),
	)
	return c
}

// lookCommand returns a command that calls run for the event and the path in its arguments, also when
// no choir runs.
func (a *app) lookCommand(use string, run func(context.Context, *app, *client, uint64, string) error) *cobra.Command {
	return &cobra.Command{Use: use, RunE: func(c *cobra.Command, args []string) error {
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
		Use: "gc", Args: cobra.NoArgs,
		Example: "  choir timeline gc --dry-run\n  choir timeline gc --keep-days 7",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runCollect(ctx, a, cl, req) })
		},
	}
	c.Flags().IntVar(&req.KeepDays, "keep-days", keepDays, "")
	c.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "")
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
	key := "timeline.collected"
	if r.DryRun {
		key = "timeline.wouldCollect"
	}
	a.say(key, "objects", r.Removed, "size", a.size(r.Bytes), "kept", r.Kept, "moments", r.Moments)
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
	a.sayNone(len(page.Marks), "timeline.none")
	for _, m := range page.Marks {
		a.printMark(m)
	}
	if len(page.Marks) == limit {
		a.say("timeline.more", "seq", page.Marks[limit-1].Seq)
	}
	return nil
}

// printMark prints a mark of the timeline with the id by which it can be undone.
func (a *printer) printMark(m moments.Mark) {
	files := ""
	if m.Files > 0 && m.Kind != eventstore.MarkRepo {
		files = "  (" + a.count("path", m.Files) + ")"
	}
	id := m.Task
	if m.Kind == eventstore.MarkCall {
		id = m.Call
	}
	if m.Kind != eventstore.MarkTask && m.Kind != eventstore.MarkCall {
		id = ""
	}
	a.printf("%6d  %s  %s  %s%s  %s\n", m.Seq, m.At.Std().Local().Format("2006-01-02 15:04:05"), a.label("mark", m.Kind), m.Say(a.language()), files, id)
	for _, path := range m.Withheld {
		a.printf("%8s%s\n", "", a.sentence("timeline.withheld", "path", path))
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
	told := []moments.EventLine{{Seq: m.Seq, Text: m.Text}}
	if err := a.sayEvents(ctx, c, told); err != nil {
		return err
	}
	what := cmp.Or(told[0].Text, a.meaning(m.Type))
	a.say("moment.head", "seq", m.Seq, "head", m.Head, "at", m.At.Std().Local().Format("2006-01-02 15:04:05"), "what", what, "type", m.Type)
	if m.Collected {
		a.say("moment.collected")
	}
	if m.TakenSeq == 0 {
		a.say("moment.unseen")
	} else {
		a.say("moment.files", "n", m.Files, "size", a.size(m.Bytes), "taken", m.TakenSeq, "seq", m.Seq)
	}
	line := func(name, text string) { a.printf("%s  %s\n", a.label("moment", name), text) }
	for _, path := range m.LeftOut {
		line("leftOut", a.sentence("moment.cache", "path", path))
	}
	for _, l := range m.LeftOver {
		line("leftOut", a.sentence("moment.left", "why", timeline.WhyLeft(a.spoken(), l.Reason), "path", l.Path))
	}
	for _, d := range m.Documents {
		line("document", a.sentence("moment.document", "version", d.Version, "title", d.Title, "id", d.ID))
	}
	for _, w := range m.Windows {
		line("window", w.App+"  "+w.Title+" "+w.Subject)
	}
	for _, s := range m.Settings {
		value := s.Value
		if s.Theme != nil {
			value = s.Theme.Name
		}
		line("setting", s.Key+" = "+value)
	}
	return nil
}

// sayEvents puts lines of the person's language in the place of the control plane's English ones.
func (a *printer) sayEvents(ctx context.Context, c *client, list []moments.EventLine) error {
	if a.spoken() == names.English {
		return nil
	}
	for i := 0; i < len(list); {
		page, err := c.events(ctx, "", list[i].Seq-1, false)
		if err != nil || len(page.Events) == 0 {
			return err
		}
		for _, e := range page.Events {
			if i < len(list) && e.Seq == list[i].Seq {
				list[i].Text = timeline.SayIn(a.spoken(), &e)
				i++
			}
		}
	}
	return nil
}

// meaning describes an event type for people.
func (a *printer) meaning(t choir.Type) string {
	info, ok := choir.LookupType(t)
	if !ok {
		return a.sentence("event.unknown")
	}
	if a.spoken() != names.English {
		return a.sentence("event.inner") // the vocabulary describes its types in English alone
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
	a.sayNone(len(list), "folder.empty")
	for _, f := range list {
		a.printf("%s %04o %10d  %s\n", a.label("fileKind", f.Kind), f.Mode, f.Size, f.Path)
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
