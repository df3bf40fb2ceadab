package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/demo"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

func newDemoCommand(a *app) *cobra.Command {
	var recording, repo string
	var live bool
	c := &cobra.Command{
		Use: "demo", Args: cobra.NoArgs,
		Example: "  choir demo\n  choir demo --json",
		RunE: func(c *cobra.Command, _ []string) error {
			parts, err := demoParts(recording, repo)
			if err != nil {
				return err
			}
			parts.Live = live
			return a.withComputer(c.Context(), func(ctx context.Context, cl *client) error { return runDemo(ctx, a, cl, parts) })
		},
	}
	c.Flags().BoolVar(&live, "live", false, "")
	c.Flags().StringVar(&recording, "recording", "", "")
	c.Flags().StringVar(&repo, "repo", "", "")
	return c
}

// demoParts returns the recording and the packed project that replace the demo's own, if given.
func demoParts(recording, repo string) (parts api.DemoParts, err error) {
	if recording != "" {
		if parts.Recording, err = os.ReadFile(recording); err != nil {
			return parts, choir.Refuse("", choir.ReasonRecordingUnreadable, choir.TextOf("why", err))
		}
	}
	if repo != "" {
		parts.Repo, err = demo.Pack(os.DirFS(repo))
	}
	return parts, err
}

// demoReport is the output at the end of a demo.
type demoReport struct {
	Notice    string   `json:"notice"`
	Run       choir.ID `json:"run"`
	Outcome   string   `json:"outcome"`
	Reason    string   `json:"reason,omitempty"`
	Commit    string   `json:"commit,omitempty"`
	FirstSeq  uint64   `json:"first_seq"`
	LastSeq   uint64   `json:"last_seq"`
	Isolation string   `json:"isolation"`
	Tree      string   `json:"tree"`
	Verified  bool     `json:"verified"`
	Checked   string   `json:"checked,omitempty"`
}

func runDemo(ctx context.Context, a *app, c *client, parts api.DemoParts) error {
	var started api.Demo
	if err := c.post(ctx, c.path("/demo"), parts, &started); err != nil {
		return err
	}
	if !a.json {
		a.printf("%s\n\n", a.demoNotice(started))
	}
	runErr := a.quietly(func(q *app) error { return q.followRun(ctx, c, started.Run) })
	var exit exitError
	if runErr != nil && !errors.As(runErr, &exit) {
		return runErr
	}
	report, err := a.demoReport(ctx, c, started)
	if err != nil {
		return err
	}
	line := func(name, text string) { a.printf("%s  %s\n", a.label("demo", name), text) }
	if a.json {
		a.printJSON(report)
	} else {
		a.printf("\n")
		line("commit", report.Commit)
		line("events", a.sentence("demo.events", "first", report.FirstSeq, "last", report.LastSeq))
		line("isolation", report.Isolation)
		line("tree", report.Tree)
	}
	if report.Reason != "" {
		a.warn("demo.failed", "why", lines(report.Reason))
		return exitError(1)
	}
	if !a.json {
		line("checked", report.Checked)
	}
	return nil
}

// demoNotice returns a sentence about where the words of the model come from.
func (a *app) demoNotice(started api.Demo) string {
	if started.Models == nil {
		return a.sentence("demo.notice")
	}
	return a.sentence("demo.live", "said", lines(a.modelsInForce(*started.Models)))
}

// quietly runs f, without output if a.json is set.
func (a *app) quietly(f func(*app) error) error {
	if !a.json {
		return f(a)
	}
	q := *a
	q.json, q.out, q.err = false, discard{}, discard{}
	return f(&q)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// demoReport collects the results of a demo run and, if they are good, tries the change.
func (a *app) demoReport(ctx context.Context, c *client, started api.Demo) (demoReport, error) {
	r := demoReport{Notice: a.demoNotice(started), Run: started.Run}
	var v api.RunView
	if err := c.get(ctx, c.path("/runs/"+string(started.Run)), &v); err != nil {
		return r, err
	}
	r.Outcome, r.FirstSeq, r.LastSeq = string(v.State), v.FirstSeq, v.LastSeq
	var view api.ComputerView
	if err := c.get(ctx, c.path(""), &view); err != nil {
		return r, err
	}
	for _, s := range view.Isolation {
		r.Isolation = s.Level.Name
	}
	for _, t := range v.Tasks {
		if t.Result == nil {
			continue
		}
		if t.Result.Snapshot != "" {
			r.Tree = string(t.Result.Snapshot)
		}
		if t.Result.Checkpoint != nil && t.Result.Verify.Status == choir.VerifyPass {
			r.Verified, r.Commit = true, *t.Result.Checkpoint
		}
	}
	r.Reason = a.demoFailure(v, r)
	if r.Reason != "" {
		return r, nil
	}
	var err error
	r.Checked, r.Reason, err = a.tryChange(ctx, c)
	return r, err
}

// demoFailure returns the reason why a demo run failed, "" if it did not.
func (a *printer) demoFailure(v api.RunView, r demoReport) string {
	for _, t := range v.Tasks {
		if t.Result != nil && t.Result.Code == choir.ResultVerifyFailed {
			return a.sentence("demo.verifyFailed", "log", timeline.Line(t.Result.Verify.Log))
		}
	}
	switch {
	case v.State != eventstore.RunDone:
		return strings.TrimSpace(a.sentence("demo.ended", "state", a.term("runState", v.State), "answer", lines(v.Answer)))
	case !r.Verified || r.Commit == "":
		return a.sentence("demo.noCheckpoint")
	}
	return ""
}

// tryChange runs the changed program in the sandbox, outside the run, and checks that the
// checkpoint's commit is checked out. It returns what was checked, or the reason of a failure.
func (a *app) tryChange(ctx context.Context, c *client) (checked, reason string, err error) {
	const script = `test -z "$(git status --porcelain)" && make --silent test && printf 'b a b c\n' | sh bin/tally --top 1`
	raw := fmt.Sprintf(`{"kind":"run","instruction":"Try the change.","repo":%q,"verify_profile":{"mode":"none"},"commands":[{"argv":["sh","-c",%q]}]}`, demo.Name, script)
	result, err := c.task(ctx, []byte(raw), nil)
	if err != nil {
		return "", "", err
	}
	if result.Status != choir.StatusOK || len(result.CommandsRun) == 0 {
		return "", a.sentence("demo.doesNotWork", "why", timeline.Line(result.Summary)), nil
	}
	out := strings.TrimSpace(result.CommandsRun[0].StdoutTail)
	if !strings.HasSuffix(out, "2 b") {
		return "", a.sentence("demo.printed", "said", timeline.Line(out)), nil
	}
	return a.sentence("demo.checked"), "", nil
}
