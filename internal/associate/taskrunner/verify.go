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

// verify runs the checks of the task's verification profile on a change,
// and fills in the result's verification. ran reports whether a check was started. It
// returns a *failure if a check fails; afterwards no process of a check runs.
func (j *job) verify(ctx context.Context, c change) (ran bool, err error) {
	defer func() {
		if cerr := j.place.clear(); err == nil {
			err = cerr
		}
	}()
	profile := choir.VerifyProfile{Mode: choir.VerifySmoke}
	if j.task.VerifyProfile != nil {
		profile = *j.task.VerifyProfile
	}
	j.report.result.Verify = choir.VerifyOutcome{Mode: profile.Mode, Status: choir.VerifyUnknown}
	v := &j.report.result.Verify
	switch {
	case profile.Mode == choir.VerifyNone:
		v.Log = "the task asked for no verification"
		return false, nil
	case len(profile.Commands) == 0 && len(c.all) == 0 && j.task.VerifyProfile == nil:
		v.Log = "nothing was changed"
		return false, nil
	}
	changed, err := j.compared.changedFiles(c)
	if err != nil {
		return false, err
	}
	verdict, err := verify.Examine(ctx, checkHost{j, ctx}, verify.Case{
		Root: j.place.scope.Root, Whole: j.task.Repo == "", Scratch: j.place.scope.Temp, Changed: changed, Profile: profile, Base: j.compared.base, Memory: &j.checked,
	})
	*v, j.failedBefore = verdict.VerifyOutcome, verdict.FailedBefore
	if verdict.Output != nil {
		j.checkOutput = verdict.Output
	}
	if err != nil || verdict.Failed == nil {
		return len(v.Commands) > 0, err
	}
	v.Log = lastLines(verdict.Output, 4000)
	if verdict.Log != "" {
		v.Log = strings.TrimRight(v.Log, "\n") + "\n" + verdict.Log
	}
	return true, fail(choir.ResultVerifyFailed, "verification failed: %s", command.Describe(*verdict.Failed))
}

// verifyAsked runs verify without a change if the task has a verification profile
// other than none.
func (j *job) verifyAsked(ctx context.Context) error {
	if j.task.VerifyProfile == nil || j.task.VerifyProfile.Mode == choir.VerifyNone {
		return nil
	}
	_, err := j.verify(ctx, change{})
	return err
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
	j   *job
	ctx context.Context
}

// Has implements verify.Machine.
func (h checkHost) Has(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := h.j.place.FindProgram(program)
	return err == nil
}

// HasModule implements verify.Machine.
func (h checkHost) HasModule(python, module string) bool {
	return h.j.programs.HasModule(h.ctx, python, module)
}

// Run implements verify.Host.
func (h checkHost) Run(ctx context.Context, o verify.Order) (choir.CommandRun, []byte, error) {
	if o.Root != h.j.place.scope.Root { // a copy that verification made
		return h.j.commands.Run(ctx, order(filepath.Join(o.Root, o.Command.Cwd), o))
	}
	dir, err := h.j.place.folder(o.Command.Cwd)
	if err != nil {
		return choir.CommandRun{}, nil, fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	return h.j.recordCheck(ctx, o.Shown, func() (choir.CommandRun, []byte, error) { return h.j.commands.Run(ctx, order(dir, o)) })
}

// order returns an order of a verification to be run in a folder.
func order(dir string, o verify.Order) command.Order {
	return command.Order{Command: o.Command, Shown: o.Shown, Dir: dir, Text: o.Text}
}
