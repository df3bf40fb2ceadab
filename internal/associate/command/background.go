package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// running is a command that the model started. Only the goroutine of the task uses it,
// beside the goroutine that waits for its end.
type running struct {
	handle   int // 0 until it was given back running
	run      choir.CommandRun
	rec      *recorder
	stdin    *os.File // write end of its standard input; nil when that has ended
	timeoutS int
	end      context.CancelCauseFunc
	done     chan struct{} // closed when it has ended; then exit and err are set
	exit     proctree.Exit
	err      error
	shown    chan struct{} // closed when its end is shown to people, or was too short to be
	unshow   func()        // gives up showing it
}

// errEnded is the cancellation cause of a command that the model or the task's end ended.
var errEnded = errors.New("the command was ended")

// errEndedByPerson is the cancellation cause of a command that a person ended.
var errEndedByPerson = errors.New("a person ended the command")

// maxRunning limits the commands that run at once in the background of a task.
const maxRunning = 8

// Shell starts a command line for the bash tool and waits for it, see tools.Kit.
func (c *Commands) Shell(ctx context.Context, command string, timeoutS, waitS int, stdin tools.Stdin) (tools.Output, error) {
	if len(c.running) >= maxRunning {
		return tools.Output{}, choir.Invalid("command", "cannot start: %d commands run already; end one of them", len(c.running))
	}
	r, err := c.startCommand(ctx, command, timeoutS, stdin)
	if err != nil {
		return tools.Output{}, err
	}
	stdin.Close = !stdin.Open
	if err := r.write(stdin); err != nil && stdin.Open {
		r.end(errEnded)
		<-r.done
		r.awaitShown()
		return tools.Output{}, err
	}
	return c.await(r, waitS)
}

// maxStdinWait limits how long a command's full standard input is waited for.
const maxStdinWait = 5 * time.Second

// write writes to the command's standard input, and ends that if stdin says so. Code invalid:
// it has none, or does not read.
func (r *running) write(stdin tools.Stdin) error {
	if stdin.Text == "" && !stdin.Close {
		return nil
	}
	if r.stdin == nil {
		if stdin.Text == "" {
			return nil
		}
		return choir.Invalid("stdin", "cannot be written: the command's standard input has ended; start it with stdin_open")
	}
	_ = r.stdin.SetWriteDeadline(time.Now().Add(maxStdinWait)) // a pipe has deadlines
	n, err := r.stdin.WriteString(stdin.Text)
	if stdin.Close || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		r.closeStdin()
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return choir.Invalid("stdin", "was written up to byte %d of %d: the command does not read on", n, len(stdin.Text))
	case err != nil:
		return choir.Invalid("stdin", "cannot be written: the command has closed its standard input")
	}
	return nil
}

// closeStdin ends the command's standard input.
func (r *running) closeStdin() {
	if r.stdin != nil {
		r.stdin.Close()
		r.stdin = nil
	}
}

// AwaitCommand waits for a running command, or ends it, see tools.Kit.
func (c *Commands) AwaitCommand(_ context.Context, handle, waitS int, end bool, stdin tools.Stdin) (tools.Output, error) {
	i := slices.IndexFunc(c.running, func(r *running) bool { return r.handle == handle })
	if i < 0 {
		return tools.Output{}, choir.Invalid("handle", "%d is of no command that runs", handle)
	}
	r := c.running[i]
	if end {
		r.end(errEnded)
		<-r.done
	} else if err := r.write(stdin); err != nil {
		return tools.Output{}, err
	}
	return c.await(r, waitS)
}

// startCommand starts a command line in a shell, with a pipe as its standard input if there
// is something to write to it.
func (c *Commands) startCommand(ctx context.Context, command string, timeoutS int, stdin tools.Stdin) (*running, error) {
	program := "/bin/sh"
	if path, err := c.cfg.Place.FindProgram("bash"); err == nil {
		program = path
	}
	r := &running{run: choir.CommandRun{Command: command, Started: c.cfg.Now()}, rec: &recorder{live: NewLive(c.cfg.Live)}, timeoutS: timeoutS, done: make(chan struct{})}
	var input *os.File
	if stdin.Text != "" || stdin.Open {
		var err error
		if input, r.stdin, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	ctx, r.end = context.WithCancelCause(ctx)
	stop := func() {}
	if timeoutS > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, time.Duration(timeoutS)*time.Second, errCommandTimeout)
	}
	spec := proctree.Spec{Argv: []string{program, "-c", command}, Dir: c.cfg.Place.Root(), Env: c.cfg.Place.Environment(c.cfg.Call(), nil), Stdin: input, Stdout: r.rec}
	tree := c.cfg.Place.Tree()
	go func() {
		defer close(r.done)
		defer stop()
		if input != nil {
			defer input.Close()
		}
		r.exit, r.err = tree.Run(ctx, spec)
	}()
	c.startShowing(r, c.cfg.Call())
	return r, nil
}

// await waits for a command and returns its output for the model. A command that still
// runs then is kept under a handle.
func (c *Commands) await(r *running, waitS int) (tools.Output, error) {
	if waitS == 0 {
		waitS = tools.ForegroundS
	}
	timer := time.NewTimer(time.Duration(waitS) * time.Second)
	defer timer.Stop()
	select {
	case <-r.done:
		out, err := c.recordEnd(r)
		out.Text += c.listRunning()
		return out, err
	case <-timer.C:
	}
	if r.handle == 0 {
		c.handles++
		r.handle = c.handles
		c.running = append(c.running, r)
	}
	text := strings.TrimRight(tools.Cut(excerpt.Text(r.rec.sinceLast()), tools.MaxShown), "\n")
	return tools.Output{OK: true, Text: strings.TrimLeft(fmt.Sprintf("%s\n[still running after %d s]", text, waitS)+c.listRunning(), "\n")}, nil
}

// recordEnd records a command that has ended and returns the output that the model has not
// seen. The error ends the task.
func (c *Commands) recordEnd(r *running) (tools.Output, error) {
	r.rec.live.Flush()
	r.closeStdin()
	r.awaitShown()
	c.running = slices.DeleteFunc(c.running, func(other *running) bool { return other == r })
	r.end(nil)
	run := r.run
	run.DurationMS = max(0, int64(c.cfg.Now()-run.Started))
	run.ExitCode, run.Signal = r.exit.Code, r.exit.Signal
	err, timedOut, byPerson := r.err, errors.Is(r.err, errCommandTimeout), errors.Is(r.err, errEndedByPerson)
	if timedOut || byPerson || errors.Is(err, errEnded) {
		err = nil
	}
	run, whole, err := c.recordOutput(run, r.rec.whole(), nil, err)
	c.cfg.Ran(run)
	unseen := whole
	if r.handle != 0 {
		unseen = r.rec.sinceLast()
	}
	out := ToolOutput(run, unseen, timedOut, r.timeoutS)
	if errors.Is(r.err, errEnded) {
		out.OK = true // as it was asked to
	}
	if byPerson {
		out.Text += "\n[a person ended this command: do not start it again without a reason]"
	}
	if c.cfg.Place.Confined() && strings.Contains(out.Text, "Permission denied") {
		out.Text += "\n[a task can write in its folder and in $TMPDIR, and nowhere else]"
	}
	return out, err
}

// listRunning returns the commands that run, for the model; "" if none does.
func (c *Commands) listRunning() string {
	var b strings.Builder
	for _, r := range c.running {
		select {
		case <-r.done:
			fmt.Fprintf(&b, "\n[ended, handle %d: %s]", r.handle, excerpt.FirstLine(r.run.Command, 100))
		default:
			fmt.Fprintf(&b, "\n[running, handle %d: %s]", r.handle, excerpt.FirstLine(r.run.Command, 100))
		}
	}
	return b.String()
}

// EndAll ends the commands that still run and records them, when the model is done.
func (c *Commands) EndAll() {
	for _, r := range c.running {
		r.end(errEnded)
	}
	for _, r := range slices.Clone(c.running) {
		<-r.done
		_, _ = c.recordEnd(r) // what cannot be stored has ended all the same
	}
}
