package taskrunner

import (
	"context"
	"errors"
	"strings"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// errCommandTimeout is the cancellation cause when a command exceeds its own time limit,
// as opposed to the task's time budget.
var errCommandTimeout = errors.New("the command's time limit")

// firstOwnCommand is the number below those of commands that are no tool calls: the task's own
// commands, and checks.
const firstOwnCommand = 900_000

// runCommands runs the task's commands in order, until one fails, and records a snapshot
// after each but the last. It returns a *failure if a command fails.
func (j *job) runCommands(ctx context.Context) error {
	for i, c := range j.task.Commands {
		run, _, err := j.command(ctx, c)
		if run.Command != "" {
			j.result.CommandsRun = append(j.result.CommandsRun, run)
		}
		if err != nil {
			return choir.Under("commands["+itoa(int64(i))+"]", err)
		}
		if run.ExitCode != 0 {
			return fail(choir.ResultCommandFailed, "command %d of %d failed: %s", i+1, len(j.task.Commands), describe(run))
		}
		// What one command did is a moment of its own; the last one's is the task's.
		if i+1 < len(j.task.Commands) {
			if _, err := j.cfg.Tree.Commit(j.life, j.event.Task, "tool_returned", nil); err != nil {
				return err
			}
		}
	}
	j.result.Summary = "ran " + count(len(j.task.Commands), "command") + ": " + firstLine(line(j.task.Commands[0]), 200)
	return nil
}

// describe returns a command, how it ended and the end of its output, for people.
func describe(run choir.CommandRun) string {
	how := "exit code " + itoa(int64(run.ExitCode))
	if run.Signal != "" {
		how = run.Signal
	}
	text := firstLine(run.Command, 200) + " (" + how + ")"
	if end := strings.TrimSpace(run.StderrTail); end != "" {
		return text + "\n" + end
	}
	if end := strings.TrimSpace(run.StdoutTail); end != "" {
		return text + "\n" + end
	}
	return text
}

// count returns n and the noun what, in the plural unless n is 1.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(int64(n)) + " " + what + "s"
}

// line returns the command as a shell command line.
func line(c choir.Command) string {
	if c.Shell != "" {
		return c.Shell
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`*?;&|<>()[]{}#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// command runs one command to its end. It returns its record and its whole output,
// stdout first. The error is nil if the command fails or cannot be started.
func (j *job) command(ctx context.Context, c choir.Command) (choir.CommandRun, []byte, error) {
	dir, err := j.place.folder(c.Cwd)
	if err != nil {
		return choir.CommandRun{}, nil, fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	return j.commandIn(ctx, dir, verify.Order{Command: c, Shown: c})
}

// commandIn is command in a given folder.
func (j *job) commandIn(ctx context.Context, dir string, o verify.Order) (choir.CommandRun, []byte, error) {
	if err := j.gate.wait(ctx); err != nil {
		return choir.CommandRun{}, nil, err
	}
	c, argv := o.Command, o.Command.Argv
	if c.Shell != "" {
		argv = []string{"/bin/sh", "-c", c.Shell}
	}
	if c.TimeoutS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(c.TimeoutS)*time.Second, errCommandTimeout)
		defer cancel()
	}
	l := j.newLive()
	run := choir.CommandRun{Command: toUTF8([]byte(line(o.Shown))), Started: j.cfg.Now()}
	r := &running{run: run, rec: &recorder{live: l}, done: make(chan struct{})}
	ctx, r.end = context.WithCancelCause(ctx)
	out, errOut := &recorder{live: l, also: r.rec}, &recorder{live: l, also: r.rec}
	var stdout proctree.Sink = out
	if o.Text != nil {
		stdout = filtered{out, o.Text}
	}
	j.ownCommands++
	j.startShowing(r, firstOwnCommand+j.ownCommands)
	exit, err := j.place.scope.Tree().Run(ctx, proctree.Spec{Argv: argv, Dir: dir, Env: j.place.environment(0, c.Env), Stdout: stdout, Stderr: errOut})
	r.exit, r.err = exit, err
	close(r.done)
	r.awaitShown()
	r.end(nil)
	l.flush()
	run.DurationMS = max(0, int64(j.cfg.Now()-run.Started))
	run.ExitCode, run.Signal = exit.Code, exit.Signal
	switch {
	case errors.Is(err, errCommandTimeout):
		run.StderrTail, err = "[ended after "+itoa(int64(c.TimeoutS))+" s, its time limit]", nil
		_, _ = errOut.Write([]byte("\n" + run.StderrTail + "\n")) // a recorder takes everything
	case errors.Is(err, errEndedByPerson):
		run.StderrTail, err = "[a person ended this command]", nil
		_, _ = errOut.Write([]byte("\n" + run.StderrTail + "\n"))
	case choir.CodeOf(err) == choir.CodeNotFound:
		run.ExitCode = 127 // as a shell says it
		_, _ = errOut.Write([]byte(err.Error() + "\n"))
		err = nil
	}
	return j.recordOutput(run, out.whole(), errOut.whole(), err)
}

// recordOutput stores the output of a command as blobs and returns run with their
// digests, the whole output, and runErr, which is the error of running the command.
func (j *job) recordOutput(run choir.CommandRun, out, errOut []byte, runErr error) (choir.CommandRun, []byte, error) {
	run.StdoutTail, run.StderrTail = lastChars(out), lastChars(errOut)
	var err error
	if run.Stdout, err = j.rec.storeBlob(out); err != nil {
		return run, nil, err
	}
	if run.Stderr, err = j.rec.storeBlob(errOut); err != nil {
		return run, nil, err
	}
	return run, append(out, errOut...), runErr
}
