package rolehost

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
)

const (
	// maxCommands limits the running commands of agents that are shown at once, keptOutput the
	// output that is kept of each, in bytes, and waitingOutput what of it may wait to be kept.
	maxCommands   = 24
	keptOutput    = 256 << 10
	waitingOutput = 256 << 10
	// shownCommand limits the characters of a command line, and of a task, in descriptions.
	shownCommand = 200
)

// commands are the running commands of agents, as terminals that people look at and end. They
// are in no event: what they run is in tool.called, and what they printed in the result.
type commands struct {
	*terminals.Set

	mu  sync.Mutex // guards all
	all map[choir.ID]*command
}

// newCommands returns the commands of a host, at first none.
func newCommands() *commands {
	c := &commands{all: map[choir.ID]*command{}}
	c.Set = terminals.New(terminals.Config{
		Limit: maxCommands, Keep: keptOutput, Active: func() {},
		Opened: func(context.Context, terminals.Info, choir.Role) error { return nil },
		Ended:  func(t terminals.Info, _ terminals.End) { c.remove(t.ID) },
	})
	return c
}

// find returns the command of a tool call; nil if it is not shown.
func (c *commands) find(call choir.ID) *command {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[call]
}

// remove removes the command of a tool call.
func (c *commands) remove(call choir.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, call)
}

// lose ends all commands, because the process that ran them is gone.
func (c *commands) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		one.Close()
	}
}

// open starts to show a command.
func (c *commands) open(ctx context.Context, info terminals.Info) (*command, error) {
	one := newCommand()
	_, err := c.Set.Open(ctx, choir.RoleAssociate, info, func() (terminals.Process, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all[info.ID] = one
		return one, nil
	})
	if err != nil {
		return nil, err
	}
	return one, nil
}

// ShowCommand shows people a part of the output of a command that a task runs. Code conflict: the
// task is not at work in this computer; rate_limited: too many commands are shown already.
func (h *Host) ShowCommand(ctx context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error) {
	call := choir.ToolCallID(r.Task, r.Call)
	one := h.terminals.commands.find(call)
	if one == nil {
		t, err := h.log.Task(ctx, r.Task)
		switch {
		case err != nil:
			return choir.TaskOutputReply{}, err
		case t.State == eventstore.TaskReturned || t.Attempt == 0:
			return choir.TaskOutputReply{}, choir.E("computer.command", choir.CodeConflict, "task %s is not at work", r.Task)
		case r.Ended != nil:
			return choir.TaskOutputReply{Next: r.From + int64(len(r.Chunk))}, nil // what it printed is in the result
		case r.From > 0 && !r.Lost:
			return choir.TaskOutputReply{}, nil // from the beginning: this process has not heard of it
		}
		if one, err = h.terminals.commands.open(ctx, describeCommand(call, t, r)); err != nil {
			return choir.TaskOutputReply{}, err
		}
	}
	return choir.TaskOutputReply{Next: one.put(r)}, nil
}

// describeCommand returns the description of a command that the task runs.
func describeCommand(call choir.ID, t eventstore.Task, r choir.TaskOutputRequest) terminals.Info {
	return terminals.Info{
		ID: call, Title: tabTitle(r.Command), Opened: r.Started, Size: usualSize,
		Agent: &terminals.Agent{Run: t.Run, Task: t.ID, Title: beginning(t.Instruction), Command: beginning(r.Command)},
	}
}

// beginning returns a text on one line, cut after shownCommand characters.
func beginning(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > shownCommand {
		return string(line[:shownCommand-1]) + "…"
	}
	return string(line)
}

// command is a running command of an agent. It implements terminals.Process: its output comes by
// put, it takes no input, and the Associate ends it.
type command struct {
	mu     sync.Mutex // guards what follows
	filled *sync.Cond
	queue  []byte // output that Wait has not passed on
	end    int64  // offset of the next byte of output
	exit   *guest.Exit
	closed bool
}

func newCommand() *command {
	c := &command{}
	c.filled = sync.NewCond(&c.mu)
	return c
}

// put queues a part of the output, unless too much waits already, and returns the offset of the
// part that is wanted next.
func (c *command) put(r choir.TaskOutputRequest) (next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := r.From + int64(len(r.Chunk))
	fits := r.From == c.end || r.Lost && r.From > c.end
	if !fits || len(c.queue)+len(r.Chunk) > waitingOutput {
		return c.end
	}
	if left := r.From - c.end; left > 0 {
		c.queue = append(c.queue, fmt.Sprintf("\n[... %d bytes left out ...]\n", left)...)
	}
	c.queue = append(c.queue, r.Chunk...)
	c.end = end
	if r.Ended != nil {
		c.exit = &guest.Exit{Code: r.Ended.Code, Signal: r.Ended.Signal}
	}
	c.filled.Signal()
	return end
}

// Wait implements terminals.Process. It passes the output on with the line ends of a terminal.
func (c *command) Wait(stdout, _ io.Writer) (guest.Exit, error) {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && c.exit == nil && !c.closed {
			c.filled.Wait()
		}
		text, exit := c.queue, c.exit
		c.queue = nil
		c.mu.Unlock()
		if len(text) > 0 {
			// The lines of a command that writes to a pipe have no carriage return.
			if _, err := stdout.Write([]byte(strings.ReplaceAll(string(text), "\n", "\r\n"))); err != nil {
				return guest.Exit{Code: -1}, err
			}
			continue
		}
		if exit != nil {
			return *exit, nil
		}
		return guest.Exit{Code: -1}, choir.E("computer.command", choir.CodeUnavailable, "the process that ran the command is gone")
	}
}

// Close implements terminals.Process.
func (c *command) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.filled.Signal()
	return nil
}

// Write implements terminals.Process. It discards what is typed: the agent alone writes to its command.
func (c *command) Write(p []byte) (int, error) { return len(p), nil }

// Resize implements terminals.Process. A command without a terminal has no size.
func (c *command) Resize(guest.Size) error { return nil }

// Signal implements terminals.Process, and does nothing: the Associate ends the command.
func (c *command) Signal(string) error { return nil }

// Kill implements terminals.Process, and does nothing, as Signal.
func (c *command) Kill() error { return nil }
