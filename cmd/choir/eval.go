package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/eval"
	"choiros/internal/snapshot"
)

// evalOptions are what choir eval is told on its command line.
type evalOptions struct {
	set       string
	only      string // names, with commas between them
	repos     string
	against   string
	keep      string
	recording string // folder of recordings to play
	record    string // folder to write recordings to
	program   string
	calls     int // that the program may make for one task
	dir       string
}

func newEvalCommand(a *app) *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:     "eval FOLDER",
		Example: "  choir eval eval/tasks\n  choir eval eval/tasks --only sh-rotate,c-ring --json\n  choir eval lite.jsonl --repos ~/clones\n  choir eval eval/tasks --program 'claude -p --dangerously-skip-permissions \"$1\" </dev/null' --against eval/tasks.last.json",
		RunE: func(c *cobra.Command, args []string) error {
			o.set = args[0]
			if err := onlyOne(c, "model-recording", "record"); err != nil {
				return err
			}
			return runEval(c.Context(), a, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.only, "only", "", "")
	f.StringVar(&o.repos, "repos", "", "")
	f.StringVar(&o.against, "against", "", "")
	f.StringVar(&o.keep, "keep", "", "")
	f.StringVar(&o.recording, "model-recording", "", "")
	f.StringVar(&o.record, "record", "", "")
	f.StringVar(&o.program, "program", "", "")
	f.IntVar(&o.calls, "program-calls", 200, "")
	f.StringVar(&o.dir, "dir", "", "")
	return c
}

// runEval runs a set of tasks, prints the report and keeps it. It returns exit code 1 as an exitError if
// fewer tasks are solved than before.
func runEval(ctx context.Context, a *app, o evalOptions) error {
	tasks, err := chosenTasks(o)
	if err != nil {
		return err
	}
	before, err := o.earlier()
	if err != nil {
		return err
	}
	e, err := a.newEvaluation(o)
	if err != nil {
		return err
	}
	outcomes, err := e.runAll(ctx, tasks)
	if err = errors.Join(err, e.close()); err != nil {
		return err
	}
	report := e.report(outcomes)
	if before != nil {
		report.Against = eval.Compare(outcomes, before, o.earlierFile())
	}
	if a.json {
		a.printJSON(report)
	} else {
		a.printf("\n%s", lines(report.Table()))
	}
	if err := keepReport(o.keptFile(), report); err != nil {
		return err
	}
	if report.Against.Fewer() {
		return exitError(1)
	}
	return nil
}

// chosenTasks loads the tasks that the options name. Code not_found: one of them is not in the set.
func chosenTasks(o evalOptions) ([]eval.Task, error) {
	all, err := eval.Load(o.set, o.repos)
	if err != nil || o.only == "" {
		return all, err
	}
	var out []eval.Task
	for _, name := range strings.Split(o.only, ",") {
		i := slices.IndexFunc(all, func(t eval.Task) bool { return t.Name == name })
		if i < 0 {
			return nil, choir.Refuse("", choir.ReasonEvalNoSuchTask, choir.TextOf("set", o.set), choir.TextOf("name", name))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// keptFile returns the file in which the report is kept.
func (o evalOptions) keptFile() string {
	switch {
	case o.keep != "":
		return o.keep
	case o.program != "":
		return filepath.Clean(o.set) + ".program.last.json"
	}
	return filepath.Clean(o.set) + ".last.json"
}

// earlierFile returns the file of the report to compare with.
func (o evalOptions) earlierFile() string {
	if o.against != "" {
		return o.against
	}
	return o.keptFile()
}

// earlier reads the report to compare with; nil if none is named and none was kept.
func (o evalOptions) earlier() (*eval.Report, error) {
	r, err := eval.ReadReport(o.earlierFile())
	if o.against == "" && choir.CodeOf(err) == choir.CodeNotFound {
		return nil, nil
	}
	return r, err
}

// keepReport writes a report to a file, durably.
func keepReport(path string, r eval.Report) error {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return choir.Wrap("", choir.CodeUnavailable, exportFile.Write(path, append(raw, '\n')), "keep the report")
}

// evaluation is a set of tasks that is being run: a temporary folder with the data folders of its computers.
type evaluation struct {
	app     *app
	options evalOptions
	dir     string
	config  string // the configuration file in force, empty for none
	checks  *evalComputer
	clone   string // the clone that the computer of the checks has
	models  string
}

// newEvaluation makes the temporary folder; close removes it.
func (a *app) newEvaluation(o evalOptions) (*evaluation, error) {
	_, from, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		if err := os.MkdirAll(o.record, 0o755); err != nil {
			return nil, choir.Refuse("", choir.ReasonEvalNoRecordingsFolder, choir.TextOf("why", err))
		}
	}
	base := o.dir
	if base == "" {
		base = "/var/tmp"
	}
	dir, err := os.MkdirTemp(base, "choir-eval-")
	if err == nil {
		// Sandboxes have host users of their own, who must get through.
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		return nil, choir.Refuse("", choir.ReasonNoFolderIn, choir.TextOf("path", base), choir.TextOf("why", err))
	}
	return &evaluation{app: a, options: o, dir: dir, config: from}, nil
}

// close stops the computer of the checks and removes the temporary folder.
func (e *evaluation) close() error {
	var err error
	if e.checks != nil {
		err = e.checks.close()
	}
	return errors.Join(err, removeFolder(e.dir))
}

// removeFolder removes a folder with everything in it, at any depth and whatever its modes.
func removeFolder(dir string) error {
	above, err := os.Open(filepath.Dir(dir))
	if err == nil {
		defer above.Close()
		err = snapshot.RemoveTree(context.Background(), int(above.Fd()), filepath.Base(dir), nil)
	}
	return choir.Wrap("", choir.CodeUnavailable, err, "remove %s", dir)
}

// runAll runs the tasks one after the other and returns what became of them. An error is of the machine,
// not of a task: nothing more is run.
func (e *evaluation) runAll(ctx context.Context, tasks []eval.Task) ([]eval.Outcome, error) {
	var all []eval.Outcome
	for i, t := range tasks {
		outcome, err := e.runOne(ctx, t)
		if ctx.Err() != nil {
			return all, choir.Refuse("", choir.ReasonEvalStopped, choir.CountOf("done", i), choir.CountOf("n", len(tasks)))
		}
		if err != nil {
			return all, choir.Wrap("", "", err, "task %s", t.Name)
		}
		all = append(all, outcome)
		if !e.app.json {
			a := e.app
			a.printf("%s  %-24s %s  %s\n", a.sentence("eval.place", "i", fmt.Sprintf("%2d", i+1), "all", len(tasks)), t.Name,
				a.label("verdict", outcome.Verdict), a.sentence("eval.figures", "calls", outcome.Calls, "seconds", a.decimal(outcome.Seconds, 1)))
		}
	}
	return all, nil
}

// runOne tries the hidden check on the base, runs the task and checks its result.
func (e *evaluation) runOne(ctx context.Context, t eval.Task) (eval.Outcome, error) {
	o := eval.Outcome{Task: t.Name, Verdict: eval.Invalid}
	base, why, err := e.baseOf(ctx, t)
	if err != nil || why != "" {
		o.Why = why
		return o, err
	}
	hidden, err := t.Hidden(base)
	if err != nil {
		o.Why = err.Error()
		return o, nil
	}
	before, err := e.check(ctx, t, base.Over(hidden))
	if err != nil {
		return o, err
	}
	if before.passed {
		o.Why = "the hidden check passes before anything was done"
		return o, nil
	}
	o.Verdict = eval.Failed
	result, err := e.work(ctx, t, base, &o)
	if err != nil {
		return o, err
	}
	after, err := e.check(ctx, t, result.Over(hidden))
	if err != nil {
		return o, err
	}
	if after.passed {
		o.Verdict = eval.Solved
		return o, nil
	}
	o.Why = strings.TrimSpace(o.Why + "\nhidden check: " + after.said)
	return o, nil
}

// work runs a task on a computer of its own, by choir's agents or the other program, puts the figures into o
// and returns the project as it is then.
func (e *evaluation) work(ctx context.Context, t eval.Task, base eval.Tree, o *eval.Outcome) (eval.Tree, error) {
	c, err := e.open(ctx, "task-"+t.Name, t.Name)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	result, err := e.workOn(ctx, c, t, base, o)
	o.Seconds = time.Since(began).Seconds()
	return result, errors.Join(err, c.close())
}

// report returns the report of outcomes.
func (e *evaluation) report(outcomes []eval.Outcome) eval.Report {
	agent := "choir"
	if e.options.program != "" {
		agent = e.options.program
	}
	return eval.Report{
		Set: e.options.set, Agent: agent, Models: e.models, Version: version, At: choir.TimeOf(now()),
		Tasks: outcomes, Sums: eval.Sum(outcomes),
	}
}
