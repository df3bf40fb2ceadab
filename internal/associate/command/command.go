// Package command runs the commands of one task in the place where it works: shows them to
// people while they run, lets the model and people end them, and stores their outputs.
package command

import (
	"context"
	"errors"
	"strconv"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// Place is where the commands of a task run.
type Place interface {
	// Tree returns the process that starts commands.
	Tree() *proctree.Tree
	// Root returns the task's folder.
	Root() string
	// Confined reports that commands cannot write outside of the task's folder.
	Confined() bool
	// Temp returns the folder for temporary files.
	Temp() string
	// Environment returns the environment of the commands of a tool call, counted from 1, or
	// outside of calls (0), with the variables of more added.
	Environment(call int, more []choir.EnvVar) []string
	// FindProgram returns the path of a program as commands find it; an error if there is none.
	FindProgram(name string) (string, error)
}

// Screen shows people the commands that run.
type Screen interface {
	// ShowCommand shows a part of a command's output. The reply says which part is wanted next.
	ShowCommand(ctx context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error)
}

// Config configures Commands. All fields are required.
type Config struct {
	Life   context.Context // of the process; an output is shown and stored after the task's budget too
	Task   choir.ID
	Place  Place
	Screen Screen
	Ends   *Ends
	Now    func() choir.Time
	// Live shows text while it is written. It must not block.
	Live func(text string)
	// Wait waits while the task may begin nothing. Its error ends the task.
	Wait func(ctx context.Context) error
	// Call returns the number of the tool call that is made.
	Call func() int
	// Store stores an output and returns its digest, "" for an empty one.
	Store func(content []byte) (choir.Digest, error)
	// Ran records a command of the model that has ended.
	Ran func(run choir.CommandRun)
}

// Commands are the commands of one task. One goroutine uses them.
type Commands struct {
	cfg     Config
	running []*running // of the model, given back running
	handles int        // of such commands so far
	own     int        // commands of the task itself and checks so far
}

// New returns the Commands of a task.
func New(cfg Config) *Commands { return &Commands{cfg: cfg} }

// errCommandTimeout is the cancellation cause when a command exceeds its own time limit,
// as opposed to the task's time budget.
var errCommandTimeout = errors.New("the command's time limit")

// firstOwnCommand is the number below those of commands that are no tool calls: the task's own
// commands, and checks.
const firstOwnCommand = 900_000

// Order is a command that Run runs.
type Order struct {
	Command choir.Command
	Shown   choir.Command         // the command as people see it
	Dir     string                // its working folder, absolute
	Text    func(p []byte) []byte // changes what is recorded of its standard output; nil for nothing
}

// Run runs one command to its end. It returns its record and its whole output, stdout first.
// The error is nil if the command fails or cannot be started.
func (c *Commands) Run(ctx context.Context, o Order) (choir.CommandRun, []byte, error) {
	if err := c.cfg.Wait(ctx); err != nil {
		return choir.CommandRun{}, nil, err
	}
	argv, limit := o.Command.Argv, o.Command.TimeoutS
	if o.Command.Shell != "" {
		argv = []string{"/bin/sh", "-c", o.Command.Shell}
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(limit)*time.Second, errCommandTimeout)
		defer cancel()
	}
	l := NewLive(c.cfg.Live)
	run := choir.CommandRun{Command: excerpt.Text([]byte(Line(o.Shown))), Started: c.cfg.Now()}
	r := &running{run: run, rec: &recorder{live: l}, done: make(chan struct{})}
	ctx, r.end = context.WithCancelCause(ctx)
	out, errOut := &recorder{live: l, also: r.rec}, &recorder{live: l, also: r.rec}
	var stdout proctree.Sink = out
	if o.Text != nil {
		stdout = filtered{out, o.Text}
	}
	c.own++
	c.startShowing(r, firstOwnCommand+c.own)
	exit, err := c.cfg.Place.Tree().Run(ctx, proctree.Spec{Argv: argv, Dir: o.Dir, Env: c.cfg.Place.Environment(0, o.Command.Env), Stdout: stdout, Stderr: errOut})
	r.exit, r.err = exit, err
	close(r.done)
	r.awaitShown()
	r.end(nil)
	l.Flush()
	run.DurationMS = max(0, int64(c.cfg.Now()-run.Started))
	run.ExitCode, run.Signal = exit.Code, exit.Signal
	switch {
	case errors.Is(err, errCommandTimeout):
		run.StderrTail, err = "[ended after "+strconv.Itoa(limit)+" s, its time limit]", nil
		_, _ = errOut.Write([]byte("\n" + run.StderrTail + "\n")) // a recorder takes everything
	case errors.Is(err, errEndedByPerson):
		run.StderrTail, err = "[a person ended this command]", nil
		_, _ = errOut.Write([]byte("\n" + run.StderrTail + "\n"))
	case choir.CodeOf(err) == choir.CodeNotFound:
		run.ExitCode = 127 // as a shell says it
		_, _ = errOut.Write([]byte(err.Error() + "\n"))
		err = nil
	}
	return c.recordOutput(run, out.whole(), errOut.whole(), err)
}

// recordOutput stores the output of a command as blobs and returns run with their
// digests, the whole output, and runErr, which is the error of running the command.
func (c *Commands) recordOutput(run choir.CommandRun, out, errOut []byte, runErr error) (choir.CommandRun, []byte, error) {
	run.StdoutTail, run.StderrTail = Tail(out), Tail(errOut)
	var err error
	if run.Stdout, err = c.cfg.Store(out); err != nil {
		return run, nil, err
	}
	if run.Stderr, err = c.cfg.Store(errOut); err != nil {
		return run, nil, err
	}
	return run, append(out, errOut...), runErr
}

// ToolOutput returns the tool output for the model: the command's output, cut, and how it
// ended. whole is its complete output.
func ToolOutput(run choir.CommandRun, whole []byte, timedOut bool, limit int) tools.Output {
	text := excerpt.Text(whole)
	out := tools.Output{Text: tools.Cut(text, tools.MaxShown), OK: run.ExitCode == 0, ExitCode: &run.ExitCode}
	if out.Text != text {
		out.Full = whole
	}
	switch {
	case timedOut:
		out.Code = choir.CodeTimeout
		out.Text += "\n[stopped after " + strconv.Itoa(limit) + " s, the time limit of this call]"
	case run.Signal != "":
		out.Text += "\n[ended by " + run.Signal + "]"
	case run.ExitCode != 0:
		out.Text += "\n[exit code " + strconv.Itoa(run.ExitCode) + "]"
	case text == "":
		out.Text = "[no output, exit code 0]"
	}
	return out
}
