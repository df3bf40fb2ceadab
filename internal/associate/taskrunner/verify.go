package taskrunner

import (
	"context"
	"strings"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// verify checks the change as the task's profile says; ran reports whether a
// check was started. A change that does not hold is a failure. When it returns,
// no process of a check is left.
func (j *job) verify(ctx context.Context, changed []string) (ran bool, err error) {
	defer func() {
		used, cerr := j.procs.Clear()
		if j.used(used); err == nil {
			err = cerr
		}
	}()
	profile := choir.VerifyProfile{Mode: choir.VerifySmoke}
	if j.task.VerifyProfile != nil {
		profile = *j.task.VerifyProfile
	}
	v := &j.result.Verify
	v.Mode = profile.Mode
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
	checks := verify.Discover(j.root, below, profile.Mode, machine{j, ctx})
	if len(checks) == 0 {
		v.Log = "no check was found in the project"
		return false, nil
	}
	return true, j.verifyFound(ctx, checks)
}

// verifyAsked verifies a task that changes nothing only when it asks for it.
func (j *job) verifyAsked(ctx context.Context) error {
	if j.task.VerifyProfile == nil || j.task.VerifyProfile.Mode == choir.VerifyNone {
		return nil
	}
	_, err := j.verify(ctx, nil)
	return err
}

// verifyGiven runs exactly the given checks, to the first failure.
func (j *job) verifyGiven(ctx context.Context, commands []choir.Command) error {
	v := &j.result.Verify
	for _, c := range commands {
		run, out, err := j.command(ctx, c)
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

func (j *job) verifyFailed(run choir.CommandRun, out []byte) error {
	j.result.Verify.Status = choir.VerifyFail
	j.result.Verify.Log = lastLines(out, 4000)
	return fail(choir.ResultVerifyFailed, "verification failed: %s", describe(run))
}

// verifyFound runs discovered checks, to the first failure.
func (j *job) verifyFound(ctx context.Context, checks []verify.Check) error {
	v := &j.result.Verify
	statuses := make([]choir.VerifyStatus, 0, len(checks))
	var reasons []string
	for _, c := range checks {
		status, reason := choir.VerifyUnknown, c.Missing
		if c.Missing == "" {
			run, out, err := j.command(ctx, c.Command)
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

// lastLines is the end of an output, of at most max bytes.
func lastLines(out []byte, max int) string {
	if len(out) > max {
		out = out[len(out)-max:]
	}
	return toUTF8(out)
}

// machine answers discovery's questions in the environment of the commands.
type machine struct {
	j   *job
	ctx context.Context
}

// Has implements verify.Machine.
func (m machine) Has(program string) bool {
	_, err := proctree.LookPath(program, m.j.root, m.j.cfg.Env)
	return err == nil
}

// HasPython implements verify.Machine.
func (m machine) HasPython(module string) bool {
	quiet := &recorder{live: newLive(func(string) {})}
	exit, err := m.j.procs.Run(m.ctx, proctree.Spec{Argv: []string{"python3", "-c", "import " + module}, Dir: m.j.root, Env: m.j.env(nil), Stdout: quiet})
	return err == nil && exit.Code == 0
}
