package taskrunner

import (
	"context"

	"choiros/internal/associate/command"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// runCommands runs the task's commands in order, until one fails, and records a snapshot
// after each but the last. It returns a *failure if a command fails.
func (j *job) runCommands(ctx context.Context) error {
	for i, c := range j.task.Commands {
		run, _, err := j.runCommand(ctx, c)
		if run.Command != "" {
			j.report.result.CommandsRun = append(j.report.result.CommandsRun, run)
		}
		if err != nil {
			return choir.Under("commands["+itoa(int64(i))+"]", err)
		}
		if run.ExitCode != 0 {
			return fail(choir.ResultCommandFailed, "command %d of %d failed: %s", i+1, len(j.task.Commands), command.Describe(run))
		}
		// What one command did is a moment of its own; the last one's is the task's.
		if i+1 < len(j.task.Commands) {
			if _, err := j.cfg.Tree.Commit(j.life, j.event.Task, "tool_returned", nil); err != nil {
				return err
			}
		}
	}
	j.report.result.Summary = "ran " + count(len(j.task.Commands), "command") + ": " + excerpt.FirstLine(command.Line(j.task.Commands[0]), 200)
	return nil
}

// count returns n and the noun what, in the plural unless n is 1.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(int64(n)) + " " + what + "s"
}

// runCommand runs one command to its end. It returns its record and its whole output,
// stdout first. The error is nil if the command fails or cannot be started.
func (j *job) runCommand(ctx context.Context, c choir.Command) (choir.CommandRun, []byte, error) {
	dir, err := j.place.folder(c.Cwd)
	if err != nil {
		return choir.CommandRun{}, nil, fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	return j.commands.Run(ctx, command.Order{Command: c, Shown: c, Dir: dir})
}
