// Package tools has the tools that the Associate's model calls: files, search and the
// shell, in the workspace only. Inputs are decoded strictly; an error names the field, so
// that the model can correct the call.
package tools

import (
	"context"
	"os"
	"slices"

	"choiros/internal/associate/browser"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// Kit is the workspace and the shell that the tools of one task use.
type Kit struct {
	Files *Workspace
	// Shell runs a command line with a time limit in seconds (0: only the task's), and waits
	// for it for waitS seconds (0: ForegroundS): if it still runs then, the output has its
	// handle. Its error ends the task; a command that fails is no error.
	Shell func(ctx context.Context, command string, timeoutS, waitS int, stdin Stdin) (Output, error)
	// Running waits waitS seconds (0: ForegroundS) for the command with a handle, and returns
	// what it printed since the last time. With end it ends the command first, else it writes
	// to its standard input. Errors are as for Shell.
	Running func(ctx context.Context, handle, waitS int, end bool, stdin Stdin) (Output, error)
	// Convert runs a program with a file as its standard input and returns its output,
	// bounded; said is why it failed. ErrNoProgram: it is not installed.
	Convert func(ctx context.Context, stdin *os.File, argv []string) (out []byte, said string, err error)
	// Picture takes a picture of a page, by a browser that runs as the task's commands do.
	// ErrNoProgram: there is none. Code invalid: why there is no picture.
	Picture func(ctx context.Context, page browser.Page) (*browser.Picture, error)
}

// ForegroundS is how long bash waits for a command before it gives it back running, in
// seconds.
const ForegroundS = 120

// Output is the result of a tool call.
type Output struct {
	Text     string // for the model, bounded
	OK       bool
	Code     choir.Code // when not OK, if there is one
	ExitCode *int       // bash only
	Full     []byte     // the whole output when Text was cut
	Images   []model.Image
}

// Call is a decoded tool call.
type Call struct {
	Tool choir.Tool
	in   input
}

// input is the decoded input of one tool: record returns it for the event, run executes
// the call.
type input interface {
	record() choir.ToolInput
	run(ctx context.Context, k *Kit) (Output, error)
}

// tool is the declaration of one tool. fresh returns a new, empty input to decode into.
type tool struct {
	def    model.ToolDef
	writes bool
	fresh  func() input
}

// Decode decodes the model's call of the tool name with the JSON input raw. Code
// not_found: unknown tool; invalid, with the fields' paths in the message: wrong input.
func Decode(name string, raw []byte) (Call, error) {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == name })
	if i < 0 {
		return Call{}, choir.E("tools.decode", choir.CodeNotFound, "there is no tool %q", name)
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	in, err := decodeInput(raw, all[i].fresh)
	if err != nil {
		return Call{}, err
	}
	return Call{Tool: choir.Tool(name), in: in}, nil
}

// Record returns the input for the tool.called event.
func (c Call) Record() choir.ToolInput { return c.in.record() }

// Run executes the call. Errors that the model can react to, such as a missing file or a
// failing command, are returned as an Output that is not OK; an error ends the task.
func (c Call) Run(ctx context.Context, k *Kit) (Output, error) {
	out, err := c.in.run(ctx, k)
	if err == nil {
		return out, nil
	}
	if code := choir.CodeOf(err); ctx.Err() != nil || code == choir.CodeInternal || code == choir.CodeNoSpace || code == choir.CodeUnavailable {
		return out, err
	}
	return Output{Text: err.Error(), Code: choir.CodeOf(err)}, nil
}

// Writes reports whether a tool may have effects; true for unknown tools.
func Writes(name string) bool {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == name })
	return i < 0 || all[i].writes
}

// Permitted returns the tools that a task of a kind may call, in a fixed order: those in
// allowed that the kind permits, or all that it permits if allowed is empty.
func Permitted(kind choir.TaskKind, allowed []choir.Tool) []choir.Tool {
	var out []choir.Tool
	for _, t := range all {
		name := choir.Tool(t.def.Name)
		if kind == choir.TaskInspect && t.writes {
			continue
		}
		if kind == choir.TaskRun && t.writes && name != choir.ToolBash && name != choir.ToolScreenshot {
			continue
		}
		if len(allowed) == 0 && name == choir.ToolFetchURL {
			continue // offered only when asked for: no policy permits it yet
		}
		if len(allowed) == 0 || slices.Contains(allowed, name) {
			out = append(out, name)
		}
	}
	return out
}

// Def returns the declaration of a tool for the model.
func Def(name choir.Tool) model.ToolDef {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == string(name) })
	if i < 0 {
		return model.ToolDef{Name: string(name)}
	}
	return all[i].def
}
