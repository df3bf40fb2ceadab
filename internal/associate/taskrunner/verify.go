package taskrunner

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/associate/command"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// verification verifies the change of one task, and tells its model what failed.
type verification struct {
	rec      *record
	place    *place
	calls    *toolCalls
	commands *command.Commands
	programs *command.Programs
	compared *comparison
	memory   *verify.Memory // of the workspace's tasks
	task     *choir.DirectorTask
	byModel  func() bool // whether a model has worked on the task

	outcome      choir.VerifyOutcome
	output       []byte  // of the last check's command
	failedBefore bool    // tests of the last check failed as before the change
	last         *review // nil before the first
}

// check runs the checks of the task's verification profile on a change,
// and fills in the outcome. ran reports whether a check was started. It
// returns a *failure if a check fails; afterwards no process of a check runs.
func (v *verification) check(ctx context.Context, c change) (ran bool, err error) {
	defer func() {
		if cerr := v.place.clear(); err == nil {
			err = cerr
		}
	}()
	profile := choir.VerifyProfile{Mode: choir.VerifySmoke}
	if v.task.VerifyProfile != nil {
		profile = *v.task.VerifyProfile
	}
	v.outcome = choir.VerifyOutcome{Mode: profile.Mode, Status: choir.VerifyUnknown}
	switch {
	case profile.Mode == choir.VerifyNone:
		v.outcome.Log = "the task asked for no verification"
		return false, nil
	case len(profile.Commands) == 0 && len(c.all) == 0 && v.task.VerifyProfile == nil:
		v.outcome.Log = "nothing was changed"
		return false, nil
	}
	changed, err := v.compared.changedFiles(c)
	if err != nil {
		return false, err
	}
	verdict, err := verify.Examine(ctx, checkHost{v, ctx}, verify.Case{
		Root: v.place.scope.Root, Whole: v.task.Repo == "", Scratch: v.place.scope.Temp, Changed: changed, Profile: profile, Base: v.compared.base, Memory: v.memory,
	})
	v.outcome, v.failedBefore = verdict.VerifyOutcome, verdict.FailedBefore
	if verdict.Output != nil {
		v.output = verdict.Output
	}
	if err != nil || verdict.Failed == nil {
		return len(v.outcome.Commands) > 0, err
	}
	v.outcome.Log = lastLines(verdict.Output, 4000)
	if verdict.Log != "" {
		v.outcome.Log = strings.TrimRight(v.outcome.Log, "\n") + "\n" + verdict.Log
	}
	return true, fail(choir.ResultVerifyFailed, "verification failed: %s", command.Describe(*verdict.Failed))
}

// checkAsked runs check without a change if the task has a verification profile
// other than none.
func (v *verification) checkAsked(ctx context.Context) error {
	if v.task.VerifyProfile == nil || v.task.VerifyProfile.Mode == choir.VerifyNone {
		return nil
	}
	_, err := v.check(ctx, change{})
	return err
}

// announced returns the checks that are going to verify the task, as far as that is known
// before anything was changed; "" if none will.
func (v *verification) announced(ctx context.Context) string {
	profile := choir.VerifyProfile{Mode: choir.VerifySmoke}
	if v.task.VerifyProfile != nil {
		profile = *v.task.VerifyProfile
	} else if v.task.Kind != choir.TaskEditRepo {
		return ""
	}
	if profile.Mode == choir.VerifyNone {
		return ""
	}
	var lines []string
	for _, c := range profile.Commands {
		lines = append(lines, command.Line(c))
	}
	if len(lines) > 0 {
		return list(lines)
	}
	for _, c := range verify.Discover(v.place.scope.Root, nil, profile.Mode, checkHost{v, ctx}) {
		text := command.Line(c.Command)
		if c.Missing != "" {
			text += " (cannot run: " + c.Missing + ")"
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return " by the check that is found where you change something, such as a project's tests; without one the change is kept as not verified."
	}
	return list(lines) + "\nWhere you change a project in a folder below, that project's check runs."
}

// lastLines returns the last max bytes of an output as valid UTF-8.
func lastLines(out []byte, max int) string {
	if len(out) > max {
		out = out[len(out)-max:]
	}
	return excerpt.Text(out)
}

// checkHost implements verify.Host with the environment of the task's commands.
type checkHost struct {
	v   *verification
	ctx context.Context
}

// Has implements verify.Machine.
func (h checkHost) Has(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := h.v.place.FindProgram(program)
	return err == nil
}

// HasModule implements verify.Machine.
func (h checkHost) HasModule(python, module string) bool {
	return h.v.programs.HasModule(h.ctx, python, module)
}

// Run implements verify.Host.
func (h checkHost) Run(ctx context.Context, o verify.Order) (choir.CommandRun, []byte, error) {
	if o.Root != h.v.place.scope.Root { // a copy that verification made
		return h.v.commands.Run(ctx, order(filepath.Join(o.Root, o.Command.Cwd), o))
	}
	dir, err := h.v.place.folder(o.Command.Cwd)
	if err != nil {
		return choir.CommandRun{}, nil, fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	return h.v.recordCheck(ctx, o.Shown, func() (choir.CommandRun, []byte, error) { return h.v.commands.Run(ctx, order(dir, o)) })
}

// order returns an order of a verification to be run in a folder.
func order(dir string, o verify.Order) command.Order {
	return command.Order{Command: o.Command, Shown: o.Shown, Dir: dir, Text: o.Text}
}
