package taskrunner

import (
	"context"
	"strings"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// verify runs the checks of the task's verification profile on the changed raw paths,
// and fills in the result's verification. ran reports whether a check was started. It
// returns a *failure if a check fails; afterwards no process of a check runs.
func (j *job) verify(ctx context.Context, changed []string) (ran bool, err error) {
	defer func() {
		used, cerr := j.scope.Clear()
		if j.used(used); err == nil {
			err = cerr
		}
	}()
	profile := choir.VerifyProfile{Mode: choir.VerifySmoke}
	if j.task.VerifyProfile != nil {
		profile = *j.task.VerifyProfile
	}
	j.result.Verify = choir.VerifyOutcome{Mode: profile.Mode, Status: choir.VerifyUnknown}
	v := &j.result.Verify
	switch {
	case profile.Mode == choir.VerifyNone:
		v.Log = "the task asked for no verification"
		return false, nil
	case len(profile.Commands) > 0:
		return true, j.verifyGiven(ctx, profile.Commands)
	case len(changed) == 0 && j.task.VerifyProfile == nil:
		v.Log = "nothing was changed"
		return false, nil
	}
	var below []string
	for _, p := range changed {
		if rel, ok := j.below(p); ok {
			below = append(below, rel)
		}
	}
	checks := verify.Discover(j.scope.Root, below, profile.Mode, machine{j, ctx})
	if len(checks) == 0 {
		v.Log = "no check was found in the project"
		return false, nil
	}
	return true, j.verifyFound(ctx, checks)
}

// verifyAsked runs verify without changed paths if the task has a verification profile
// other than none.
func (j *job) verifyAsked(ctx context.Context) error {
	if j.task.VerifyProfile == nil || j.task.VerifyProfile.Mode == choir.VerifyNone {
		return nil
	}
	_, err := j.verify(ctx, nil)
	return err
}

// verifyGiven runs the given check commands in order, until one fails, which it returns
// as a *failure.
func (j *job) verifyGiven(ctx context.Context, commands []choir.Command) error {
	v := &j.result.Verify
	for _, c := range commands {
		run, out, err := j.checkCommand(ctx, c)
		if run.Command != "" {
			v.Commands = append(v.Commands, run)
		}
		if err != nil {
			return err
		}
		if run.ExitCode != 0 {
			return j.verifyFailed(run, out)
		}
	}
	v.Status, v.Log = choir.VerifyPass, ""
	return nil
}

// verifyFailed fills in a failed verification and returns its *failure.
func (j *job) verifyFailed(run choir.CommandRun, out []byte) error {
	j.result.Verify.Status = choir.VerifyFail
	j.result.Verify.Log = lastLines(out, 4000)
	return fail(choir.ResultVerifyFailed, "verification failed: %s", describe(run))
}

// verifyFound runs discovered checks in order, until one fails, which it returns as a
// *failure. Otherwise it fills in the verification's joint status and the reasons for unknown.
func (j *job) verifyFound(ctx context.Context, checks []verify.Check) error {
	v := &j.result.Verify
	statuses := make([]choir.VerifyStatus, 0, len(checks))
	var reasons []string
	for _, c := range checks {
		status, reason := choir.VerifyUnknown, c.Missing
		if c.Missing == "" {
			run, out, err := j.checkCommand(ctx, c.Command)
			v.Commands = append(v.Commands, run)
			if err != nil {
				return err
			}
			if status, reason = verify.Judge(c, verify.Ran{ExitCode: run.ExitCode, Output: out}); status == choir.VerifyFail {
				return j.verifyFailed(run, out)
			}
		}
		statuses = append(statuses, status)
		if reason != "" {
			reasons = append(reasons, line(c.Command)+": "+reason)
		}
	}
	v.Status, v.Log = verify.Together(checks, statuses), strings.Join(reasons, "; ")
	return nil
}

// lastLines returns the last max bytes of an output as valid UTF-8.
func lastLines(out []byte, max int) string {
	if len(out) > max {
		out = out[len(out)-max:]
	}
	return toUTF8(out)
}

// machine implements verify.Machine with the environment of the task's commands.
type machine struct {
	j   *job
	ctx context.Context
}

// Has implements verify.Machine.
func (m machine) Has(program string) bool {
	_, err := proctree.LookPath(program, m.j.scope.Root, m.j.cfg.Env)
	return err == nil
}

// HasPython implements verify.Machine.
func (m machine) HasPython(module string) bool {
	quiet := &recorder{live: newLive(func(string) {})}
	exit, err := m.j.scope.Tree().Run(m.ctx, proctree.Spec{Argv: []string{"python3", "-c", "import " + module}, Dir: m.j.scope.Root, Env: m.j.env(0, nil), Stdout: quiet})
	return err == nil && exit.Code == 0
}
