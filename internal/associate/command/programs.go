package command

import (
	"context"

	"choiros/internal/associate/proctree"
)

// Programs runs programs of this machine for tool calls, as the task's commands run, but
// without showing or recording them.
type Programs struct {
	place Place
	call  func() int // the number of the tool call that is made
}

// NewPrograms returns the Programs of a task. call returns the number of the tool call that is
// made.
func NewPrograms(place Place, call func() int) *Programs { return &Programs{place, call} }

// HasModule reports whether a Python has a module.
func (p *Programs) HasModule(ctx context.Context, python, module string) bool {
	quiet := &recorder{live: NewLive(func(string) {})}
	exit, err := p.place.Tree().Run(ctx, proctree.Spec{Argv: []string{python, "-c", "import " + module}, Dir: p.place.Root(), Env: p.place.Environment(0, nil), Stdout: quiet})
	return err == nil && exit.Code == 0
}
