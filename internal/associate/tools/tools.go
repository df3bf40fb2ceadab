// Package tools are the Associate's tools: files, search and the shell, inside
// the workspace and nowhere else. Inputs are decoded strictly; a refusal names
// the field, because a model reads it and tries again.
package tools

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Kit is what the tools of one task work on.
type Kit struct {
	Files *Workspace
	// Shell runs a command line with the time limit in seconds (0: what is left
	// of the task's). Its error ends the task; a command that fails is no error.
	Shell func(ctx context.Context, command string, timeoutS int) (Output, error)
}

// Output is what a call gave.
type Output struct {
	Text     string // for the model, bounded
	OK       bool
	Code     choir.Code // when not OK, if there is one
	ExitCode *int       // bash only
	Full     []byte     // the whole output when Text was cut
}

// Call is a decoded call.
type Call struct {
	Tool choir.Tool
	in   input
}

// input of one tool.
type input interface {
	record() choir.ToolInput
	run(ctx context.Context, k *Kit) (Output, error)
}

// tool declares one tool.
type tool struct {
	def    model.ToolDef
	writes bool
	fresh  func() input
}

// Decode reads a call as the model gave it. Code not_found for an unknown tool,
// invalid with the field's path for a wrong input.
func Decode(name string, raw []byte) (Call, error) {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == name })
	if i < 0 {
		return Call{}, choir.E("tools.decode", choir.CodeNotFound, "there is no tool %q", name)
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	in := all[i].fresh()
	if err := choir.DecodeStrict(raw, in); err != nil {
		return Call{}, err
	}
	return Call{Tool: choir.Tool(name), in: in}, nil
}

// Record is the input as the tool.called event carries it.
func (c Call) Record() choir.ToolInput { return c.in.record() }

// Run executes the call. Whatever the model can react to (no such file, a
// refused path, a failing command) is an Output that is not OK; an error ends
// the task.
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

// Writes reports whether a tool may have effects; an unknown one may.
func Writes(name string) bool {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == name })
	return i < 0 || all[i].writes
}

// Permitted lists what a task's kind and its allowed_tools leave, in a fixed
// order. Nothing allowed explicitly means everything the kind permits.
func Permitted(kind choir.TaskKind, allowed []choir.Tool) []choir.Tool {
	var out []choir.Tool
	for _, t := range all {
		name := choir.Tool(t.def.Name)
		if kind == choir.TaskInspect && t.writes {
			continue
		}
		if kind == choir.TaskRun && t.writes && name != choir.ToolBash {
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

// Def is the declaration of a tool.
func Def(name choir.Tool) model.ToolDef {
	i := slices.IndexFunc(all, func(t tool) bool { return t.def.Name == string(name) })
	if i < 0 {
		return model.ToolDef{Name: string(name)}
	}
	return all[i].def
}
